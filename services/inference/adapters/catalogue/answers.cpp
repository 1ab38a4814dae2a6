#include "services/inference/adapters/catalogue/answers.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "services/kit/base/ascii.hpp"
#include "services/kit/base/semantic_version.hpp"
#include "services/kit/base/time.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"

namespace stackgate::inference {
namespace {

constexpr json::ParseLimits limits{.max_depth = 64};
constexpr std::size_t longest_text = 1'000;  // of members that are only shown or compared
constexpr std::size_t longest_url = 8'192;

/// What is wrong with a record that was read, or nothing.
std::string fault_of(const AdapterRecord& record) {
  if (!is_adapter_id(record.id)) return "id is none";
  if (!is_adapter_name(record.name)) return "name is none";
  if (!record.version.empty() && !parse_semantic_version(record.version)) return "version is no semantic version";
  if (record.base_model.size() > longest_text) return "base_model is too long";
  if (!record.created_at.empty() && !from_rfc3339(record.created_at)) return "created_at is no time";
  return {};
}

bool is_sha256(std::string_view text) {
  return text.size() == 64 &&
         std::ranges::all_of(text, [](char c) { return ascii::is_digit(c) || (c >= 'a' && c <= 'f'); });
}

std::expected<json::Value, std::string> object_of(std::string_view body, json::Document& document) {
  const auto root = json::parse(body, document, limits);
  if (!root) return std::unexpected(fmt::format("its answer is no JSON: {}", root.error().message));
  if (!root->is_object()) return std::unexpected("its answer is no JSON object");
  return *root;
}

}  // namespace

std::expected<AdapterList, std::string> read_adapter_list(std::string_view body, std::string_view source) {
  json::Document document;
  const auto root = object_of(body, document);
  if (!root) return std::unexpected(root.error());
  const json::Value* const adapters = root->find("adapters");
  if (adapters == nullptr || !adapters->is_array()) return std::unexpected("its answer has no list \"adapters\"");
  if (adapters->items().size() > most_adapters)
    return std::unexpected(fmt::format("it lists more than {} adapters", most_adapters));
  AdapterList out;
  std::set<std::string_view> ids;
  std::size_t index = 0;
  for (const json::Value& each : adapters->items()) {
    const std::string_view status = json::text(&each, {"status"});
    AdapterRecord record{.id = std::string(json::text(&each, {"id"})),
                         .name = std::string(json::text(&each, {"name"})),
                         .version = std::string(json::text(&each, {"version"})),
                         .base_model = std::string(json::text(&each, {"base_model"})),
                         .created_at = std::string(json::text(&each, {"created_at"})),
                         .source = std::string(source)};
    std::string fault = fault_of(record);
    if (fault.empty() && !ids.insert(json::text(&each, {"id"})).second) fault = "id stands twice";
    if (!fault.empty() && out.fault.empty()) out.fault = fmt::format("adapters[{}]: {}", index, fault);
    if (fault.empty() && (status.empty() || status == "ready")) out.records.push_back(std::move(record));
    ++index;
  }
  return out;
}

std::expected<AdapterDownload, std::string> read_adapter_detail(std::string_view body, std::string_view id) {
  json::Document document;
  const auto root = object_of(body, document);
  if (!root) return std::unexpected(root.error());
  if (json::text(&*root, {"id"}) != id) return std::unexpected("its answer is about another adapter");
  AdapterDownload out{.url = std::string(json::text(&*root, {"download_url"}))};
  if (out.url.empty()) return std::unexpected("it gives no download_url");
  if (out.url.size() > longest_url ||
      std::ranges::any_of(out.url, [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == '\x7f'; }))
    return std::unexpected("its download_url is none");
  const json::Value sha256 = json::value_at(&*root, {"storage", "archive_sha256"});
  if (!sha256.is_null() && !is_sha256(sha256.string())) return std::unexpected("its archive_sha256 is none");
  out.sha256 = sha256.string();
  const json::Value bytes = json::value_at(&*root, {"storage", "archive_bytes"});
  if (!bytes.is_null()) {
    if (!bytes.is_integer() || bytes.integer() < 0) return std::unexpected("its archive_bytes is none");
    out.bytes = static_cast<std::uint64_t>(bytes.integer());
  }
  return out;
}

}  // namespace stackgate::inference
