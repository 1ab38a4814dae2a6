// Names of accounts and repositories: one grammar, and the words that the URL map needs for itself. Pure.
#pragma once
#include <string>
#include <string_view>

namespace stackgate::datastore {

/// For "LIKE … ESCAPE '!'": texts that hold `text` somewhere.
std::string containing(std::string_view text);

/// First segments of paths that are no account: /v1, /api, /datasets below /v1/hf …
bool is_reserved_account_name(std::string_view lower);

}  // namespace stackgate::datastore
