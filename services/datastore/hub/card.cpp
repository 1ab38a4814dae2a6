#include "services/datastore/hub/card.hpp"

#include <algorithm>
#include <span>

#include "services/datastore/repositories/front_matter.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/yaml/parse.hpp"

namespace stackgate::datastore::hub {

std::optional<std::string_view> front_matter(std::string_view readme) { return take_front_matter(readme); }

namespace card_detail {

constexpr std::size_t most_tags = 500, longest_tag = 200;

struct Facet {
  std::string_view key, prefix;  // prefix of the tag
};
constexpr Facet of_models[] = {{"tags", ""},
                               {"pipeline_tag", ""},
                               {"library_name", ""},
                               {"language", ""},
                               {"license", "license:"},
                               {"datasets", "dataset:"},
                               {"base_model", "base_model:"}};
constexpr Facet of_others[] = {{"tags", ""},
                               {"task_categories", "task_categories:"},
                               {"task_ids", "task_ids:"},
                               {"language", "language:"},
                               {"license", "license:"},
                               {"size_categories", "size_categories:"},
                               {"source_datasets", "source_datasets:"},
                               {"multilinguality", "multilinguality:"},
                               {"annotations_creators", "annotations_creators:"},
                               {"language_creators", "language_creators:"}};

void add_tag(std::vector<std::string>& out, std::string_view prefix, const json::Value& value) {
  if (!value.is_string() || value.string().empty()) return;
  std::string tag = std::string(prefix).append(value.string());
  if (tag.size() <= longest_tag && out.size() < most_tags && std::ranges::find(out, tag) == out.end())
    out.push_back(std::move(tag));
}

}  // namespace card_detail

std::vector<std::string> tags_of(std::string_view readme, RepositoryType type) {
  using namespace card_detail;
  std::vector<std::string> out;
  const auto matter = front_matter(readme);
  if (!matter) return out;
  const yaml::Stream stream = yaml::parse(*matter, {.max_depth = 64, .max_bytes = 1U << 20U});
  if (stream.failed || stream.documents.empty() || !stream.documents.front().root.is_object()) return out;
  const json::Value& root = stream.documents.front().root;
  const auto facets =
      type == RepositoryType::model ? std::span<const Facet>(of_models) : std::span<const Facet>(of_others);
  for (const Facet& facet : facets) {
    const json::Value* value = root.find(facet.key);
    if (value == nullptr) continue;
    if (value->is_array()) {
      for (const json::Value& each : value->items()) add_tag(out, facet.prefix, each);
    } else {
      add_tag(out, facet.prefix, *value);
    }
  }
  return out;
}

std::string validation(std::string_view readme) {
  std::string error, warning;
  const auto matter = front_matter(readme);
  if (!matter) {
    warning = "no metadata: begin README.md with a block of YAML between two lines of \"---\"";
  } else {
    const yaml::Stream stream = yaml::parse(*matter, {.max_depth = 64, .max_bytes = 1U << 20U});
    if (stream.failed) {
      const auto line =
          std::ranges::count(matter->substr(0, std::min<std::size_t>(stream.error.offset, matter->size())), '\n');
      error = "line " + std::to_string(line + 2) + ": " + stream.error.message;
    } else if (stream.documents.empty()) {
      warning = "the metadata is empty";
    } else if (!stream.documents.front().root.is_object()) {
      error = "the metadata must be a mapping (\"license: apache-2.0\")";
    }
  }
  std::string out;
  json::Writer w(out);
  const auto list = [&](std::string_view name, const std::string& message) {
    w.array(name, [&] {
      if (!message.empty()) w.object([&] { w.member("message", message); });
    });
  };
  w.object([&] {
    list("errors", error);
    list("warnings", warning);
  });
  return out;
}

}  // namespace stackgate::datastore::hub
