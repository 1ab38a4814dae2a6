// Which files of an upload go to LFS. Pure.
#pragma once
#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/datastore/git/objects.hpp"
#include "services/datastore/lfs/attributes.hpp"
#include "services/kit/json/value.hpp"
#include "services/kit/web/answer.hpp"

namespace stackgate::datastore::hub {

using lfs::Attributes;
using lfs::IgnoreList;

struct Candidate {
  std::string path;
  std::uint64_t size = 0;
};

struct PreuploadRequest {
  std::vector<Candidate> files;
  std::optional<std::string> attributes{}, ignore{};  // as they will be after this commit
};

inline constexpr std::size_t preupload_files = 1000;
/// A file that is committed as it is must fit; larger ones go to LFS whatever the attributes say.
inline constexpr std::uint64_t largest_regular = 16ULL << 20U;

std::expected<PreuploadRequest, web::Failure> parse_preupload(const json::Value& body);

/// Empty files never do; then what the attributes say; then the size.
bool goes_to_lfs(const Attributes& attributes, std::string_view path, std::uint64_t size, std::uint64_t threshold);

/// What stands at a path now.
using Current = std::function<std::optional<git::Entry>(const std::string& path)>;
std::string answer_preupload(const PreuploadRequest& request, const Attributes& attributes, std::uint64_t threshold,
                             const Current& current);

}  // namespace stackgate::datastore::hub
