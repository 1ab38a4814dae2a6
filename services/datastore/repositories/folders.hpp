// Where repositories lie on the volume, and where they go when they are deleted:
//   <data>/repositories/<id / 1000>/<id>.git
//   <data>/trash/deleted-<seconds since 1970>-<id>.git, …/orphan-<seconds>-<name>
// Renames within one volume are atomic; nothing is ever deleted in its place.
#pragma once
#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "services/datastore/repositories/repositories.hpp"

namespace stackgate::datastore::folders {

std::string path_of(std::string_view data, std::int64_t id);
std::expected<void, ServiceError> make_parent(std::string_view data, std::int64_t id);
/// What cannot be moved stays and is found by the sweep; logged.
void to_trash(std::string_view data, std::int64_t id);

struct Found {
  std::string path;
  std::optional<std::int64_t> id;  // nothing: a name that is no repository's
  std::chrono::seconds age{0};     // since it last changed
};
/// Everything two levels below <data>/repositories; `visit` returns false to stop.
void each(std::string_view data, const std::function<bool(const Found&)>& visit);
bool orphan_to_trash(std::string_view data, const Found& found);
/// Deletes what has lain long enough; how many.
std::size_t empty_trash(std::string_view data, std::chrono::seconds deleted, std::chrono::seconds orphans);

}  // namespace stackgate::datastore::folders
