// Which of a source's files are wanted. Pure and thread-safe.
#pragma once
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "services/puller/plan/files.hpp"

namespace stackgate::puller {

inline constexpr std::string_view index_name = "model.safetensors.index.json";

struct Patterns {
  std::vector<std::string> include{};  // empty: the usual files of a model
  std::vector<std::string> exclude{};
  bool everything = false;  // without `include`: all that is offered
  bool operator==(const Patterns&) const = default;
};

/// As fnmatch(3) without flags, but for brackets: '*' is any text, with slashes too, '?' one byte. "folder/" means all
/// below it.
bool matches(std::string_view pattern, std::string_view path);

/// What `patterns` take, in the order of the listing: without `include` configurations, tokenizers and safetensors.
std::vector<RemoteFile> select(const std::vector<RemoteFile>& files, const Patterns& patterns);

/// The files that an index of shards names (weight_map). Source: transformers' save_pretrained().
Result<std::set<std::string>> read_shard_index(std::string_view body);

/// `wanted` with exactly the shards of the index for weights: other safetensors at the top are left out unless
/// `patterns` name files; shards that the patterns leave out stay out. The failure names a shard that is not offered.
Result<std::vector<RemoteFile>> with_shards(const std::vector<RemoteFile>& offered, std::vector<RemoteFile> wanted,
                                            const std::set<std::string>& shards, const Patterns& patterns);

}  // namespace stackgate::puller
