// What a process of ours does at its start, before its first thread.
#pragma once
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace stackgate::run {

/// Raises the soft limit of open files to the hard one; each connection is one.
void raise_file_limit();

/// glibc gives each thread an arena of its own and keeps in it what was freed; and its threshold for mapping a block by
/// itself rises to the largest block freed so far. A hundred threads that each held some megabytes once (a part of an
/// upload, scrypt's 16 MiB) then keep them for good. This makes it two arenas, and maps blocks from 256 KiB on: for a
/// process with many threads that mostly wait; one whose threads compute and allocate would queue for the arenas.
void give_memory_back();
/// What was freed goes back to the system now: after work that held much.
void trim_memory();

/// The machine's or the pod's; "unknown" where it has none.
std::string host_name();

/// For settings::read(). Files are secrets, which are short: what is longer than 64 KiB is another file.
std::optional<std::string> variable(const std::string& name);
std::optional<std::string> small_file(const std::string& path);
/// "NAME=VALUE" each.
std::vector<std::string_view> environment();

/// What an option that counts event loops means: 0 is one for each core, at most four.
inline unsigned event_loops(unsigned asked) {
  return asked != 0 ? asked : std::clamp(std::thread::hardware_concurrency(), 1U, 4U);
}

/// The log by its two options; words that it does not know mean info, and text on a terminal or else JSON.
void configure_log(std::string_view level, std::string_view format);

/// A variable that is nearly a setting is read by nobody, and the setting keeps its default: silently, without this.
void warn_of_misspelt_variable(std::string_view name, std::string_view meant);

}  // namespace stackgate::run
