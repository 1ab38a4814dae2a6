#include "services/puller/plan/manifest.hpp"

#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::puller {
namespace manifest_detail {

constexpr int version = 1;

void put_patterns(json::Writer& out, std::string_view name, const std::vector<std::string>& patterns) {
  out.array(name, [&] {
    for (const std::string& each : patterns) out.value(std::string_view(each));
  });
}

std::vector<std::string> texts(const json::Value& root, std::string_view name) {
  std::vector<std::string> out;
  for (const json::Value& each : json::items(&root, {name})) out.emplace_back(each.string());
  return out;
}

}  // namespace manifest_detail

std::string write_manifest(const Manifest& manifest) {
  using namespace manifest_detail;
  return json::object_text([&](json::Writer& out) {
           out.member("version", version);
           out.member("source", std::string_view(manifest.source));
           out.member("revision", std::string_view(manifest.revision));
           put_patterns(out, "include", manifest.patterns.include);
           put_patterns(out, "exclude", manifest.patterns.exclude);
           out.array("files", [&] {
             for (const ManifestFile& file : manifest.files)
               out.object([&] {
                 out.member("path", std::string_view(file.path));
                 out.member("size", file.size);
                 out.member("sha256", std::string_view(file.sha256));
               });
           });
         }) +
         "\n";
}

std::optional<Manifest> read_manifest(std::string_view text) {
  using namespace manifest_detail;
  json::Document document;
  const auto root = json::parse(text, document, {.max_depth = 8, .max_bytes = 64U << 20U});
  if (!root || json::integer(&*root, {"version"}) != version) return std::nullopt;
  Manifest out{.source = std::string(json::text(&*root, {"source"})),
               .revision = std::string(json::text(&*root, {"revision"}))};
  out.patterns.include = texts(*root, "include");
  out.patterns.exclude = texts(*root, "exclude");
  for (const json::Value& each : json::items(&*root, {"files"})) {
    const std::int64_t size = json::integer(&each, {"size"}, -1);
    ManifestFile file{.path = std::string(json::text(&each, {"path"})),
                      .size = static_cast<std::uint64_t>(size),
                      .sha256 = std::string(json::text(&each, {"sha256"}))};
    if (size < 0 || fault_of_path(file.path) || !is_hex_of(file.sha256, 64)) return std::nullopt;
    out.files.push_back(std::move(file));
  }
  if (out.revision.empty() || out.files.empty() || out.files.size() > most_files) return std::nullopt;
  return out;
}

bool is_of(const Manifest& have, std::string_view source, std::string_view revision, const Patterns& patterns) {
  return have.source == source && have.revision == revision && have.patterns.include == patterns.include &&
         have.patterns.exclude == patterns.exclude;
}

}  // namespace stackgate::puller
