// The system calls below the directory store: keys to descriptors without following a link, and errno to StoreError.
#pragma once
#include <string>
#include <string_view>

#include "services/kit/files/file.hpp"
#include "services/kit/objects/store.hpp"

namespace stackgate::objects {

/// What errno says, as an error about `what`; ENOENT is missing, ENOSPC and EDQUOT are full, EACCES … refused.
StoreError errno_error(int number, std::string_view what);

/// "key" in words for one that valid_key() refuses.
StoreError key_error(std::string_view key);

/// The folder that holds the key's last segment, opened below `root`. With `make`, missing folders are made, each on
/// disk before the next. errno tells a failure.
files::File open_folder_of(int root, std::string_view key, bool make);

/// Behind the last slash.
std::string leaf_of(std::string_view key);

}  // namespace stackgate::objects
