#include "services/model/loading/load.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "services/kit/safetensors/header.hpp"
#include "services/model/loading/inside.hpp"
#include "services/model/tokenizer/read.hpp"

namespace stackgate::model {
namespace {

constexpr std::size_t most_names = 10'000, most_shards = 1000;

class Loader {
 public:
  explicit Loader(const std::string& directory) : directory_(directory) {}

  DirectoryRead load() {
    if (!list()) return {.model = {}, .findings = std::move(findings_)};
    DirectoryFiles files{.config = text("config.json", largest_config),
                         .generation = text("generation_config.json", largest_generation_config),
                         .tokenizer = text("tokenizer.json", tokenizer::largest_file),
                         .tokenizer_config = text("tokenizer_config.json", largest_tokenizer_config),
                         .chat_template = text("chat_template.jinja", largest_chat_template),
                         .index = {},
                         .shards = {}};
    weights(files);
    DirectoryRead read = read_directory(files);
    read.findings.insert(read.findings.begin(), std::make_move_iterator(findings_.begin()),
                         std::make_move_iterator(findings_.end()));
    // What is there and cannot be read is told once, by its reason.
    std::erase_if(read.findings, [&](const validate::Finding& each) {
      return each.problem == "is missing" && std::ranges::find(unread_, each.path) != unread_.end();
    });
    return read;
  }

 private:
  void wrong(std::string_view rule, std::string_view path, std::string problem, std::string fix) {
    findings_.push_back(
        {.rule = rule, .path = std::string(path), .value = {}, .problem = std::move(problem), .fix = std::move(fix)});
  }

  bool list() {
    std::error_code error;
    std::filesystem::directory_iterator at(directory_, error);
    for (const std::filesystem::directory_iterator end; !error && at != end && names_.size() <= most_names;
         at.increment(error))
      names_.push_back(at->path().filename().string());
    if (error)
      wrong("model-missing", directory_, fmt::format("cannot be read: {}", error.message()),
            "name the directory of a model");
    else if (names_.size() > most_names)
      wrong("model-limit", directory_, fmt::format("has more than {} files", most_names),
            "name the directory of one model");
    return findings_.empty();
  }

  /// The value; nothing, and the finding, otherwise.
  template <class T>
  std::optional<T> taken(std::expected<T, validate::Finding> found) {
    if (found) return std::move(*found);
    unread_.push_back(found.error().path);
    findings_.push_back(std::move(found).error());
    return std::nullopt;
  }

  std::optional<std::string> text(std::string_view name, std::uint64_t most) {
    if (std::ranges::find(names_, name) == names_.end()) return std::nullopt;
    return taken(read_inside(directory_, name, most));
  }

  void weights(DirectoryFiles& files) {
    WeightFiles found = find_weights(names_);
    std::ranges::move(found.findings, std::back_inserter(findings_));
    std::set<std::string> shards;
    if (!found.single.empty()) shards.insert(found.single);
    if (found.has_index) {
      if (const auto json = text(index_name, largest_index)) {
        files.index = read_weight_index(*json);
        for (const auto& [tensor, file] : files.index->files) shards.insert(file);
      }
    }
    if (shards.size() > most_shards)
      return wrong("model-limit", index_name, fmt::format("names more than {} files", most_shards),
                   "save the model in larger files");
    for (const std::string& name : shards) shard(name, files);
  }

  /// Mapped for its header: no other page is looked at.
  void shard(const std::string& name, DirectoryFiles& files) {
    const auto file = taken(map_inside(directory_, name));
    if (!file) return;
    const auto bytes = file->bytes();
    auto [header, data_at] = safetensors::read_file({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    files.shards.push_back({.file = name, .header = std::move(header), .data_at = data_at});
  }

  const std::string& directory_;
  std::vector<std::string> names_;
  std::vector<std::string> unread_;
  validate::Findings findings_;
};

}  // namespace

DirectoryRead load_directory(const std::string& directory) { return Loader(directory).load(); }

}  // namespace stackgate::model
