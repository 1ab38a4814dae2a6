// Secrets that nobody configured: made once, kept in <data>/secrets, readable by this user only.
#pragma once
#include <expected>

#include "services/datastore/options.hpp"
#include "services/kit/base/error.hpp"

namespace stackgate::datastore {

/// Fills what is missing from files, making them where they are not there. Processes that start at the same time get
/// the same. The path of a password that was made now goes to stderr, once; the password never.
std::expected<void, Error> complete_secrets(Options& options);

}  // namespace stackgate::datastore
