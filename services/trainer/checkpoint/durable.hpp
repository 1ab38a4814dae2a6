// Files that survive a crash whole. Errors are sentences that name the file.
#pragma once
#include <expected>
#include <span>
#include <string>
#include <string_view>

namespace stackgate::trainer {

using Done = std::expected<void, std::string>;

/// The pieces one after the other, on the disk when it returns. Its name survives once its directory was synced.
Done write_file(const std::string& path, std::span<const std::string_view> pieces);
Done write_file(const std::string& path, std::string_view text);

/// Syncs `from`, a directory, gives it the name `to`, and syncs the directory that holds both.
Done move_directory(const std::string& from, const std::string& to);
/// The same of a file that write_file() wrote.
Done move_file(const std::string& from, const std::string& to);

/// With all that is in it; nothing there is no error.
Done remove_all(const std::string& path);
Done make_directory(const std::string& path);  // and those above it

}  // namespace stackgate::trainer
