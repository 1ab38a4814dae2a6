// Names of accounts and repositories: one grammar, and the words that the URL map needs for itself. Pure.
#pragma once
#include <string>
#include <string_view>

namespace stackgate::datastore {

/// For "LIKE … ESCAPE '!'": texts that hold `text` somewhere.
std::string containing(std::string_view text);

}  // namespace stackgate::datastore
