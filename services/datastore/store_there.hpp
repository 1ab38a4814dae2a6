// Is there a store where the settings point? Asked before the commands that look after one, so that a misspelt
// directory is not made into an empty store that looks healthy.
#pragma once
#include <expected>

#include "services/kit/base/error.hpp"
#include "services/kit/settings/settings.hpp"

namespace stackgate::datastore {

/// Makes and opens nothing. With SQLite its file decides, with PostgreSQL the folder of repositories; what the tables
/// hold is asked afterwards. The error says what is missing and what to do.
std::expected<void, Error> require_store(const settings::Values& values);

}  // namespace stackgate::datastore
