// Secrets that nobody configured: made once, kept in <data>/secrets, readable by this user only.
#pragma once
#include <cstdint>
#include <expected>

#include "services/datastore/options.hpp"
#include "services/kit/base/error.hpp"

namespace stackgate::datastore {

/// Secrets that nobody configured: made where the store has none, or only read, by commands on a store that is there.
enum class Secrets : std::uint8_t { made, kept };

/// Fills what is missing from the store's files. Processes that make them at the same time get the same. The path of a
/// password that was made now goes to stderr, once; the password never.
std::expected<void, Error> complete_secrets(Options& options, Secrets secrets);

}  // namespace stackgate::datastore
