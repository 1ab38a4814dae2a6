// The one file here that sees nlohmann's JSON: it has RFC 7396's merge.
#include "services/guardrail/api/managed_config.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "services/guardrail/api/inline_config.hpp"
#include "services/guardrail/api/limits.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::guardrail {
namespace {

constexpr std::size_t longest_name = 63, longest_text = 4'096, largest_fields = 64U << 10U;

bool is_name(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); };
  const auto fits = [&](char c) { return letter(c) || c == '-' || c == '_' || c == '.'; };
  return !name.empty() && name.size() <= longest_name && letter(name.front()) && letter(name.back()) &&
         std::ranges::all_of(name, fits) && !name.contains("..");
}

void check_name(Fields& body, std::string_view key, std::string_view name) {
  if (const json::Value* found = body.find(key); found != nullptr && found->is_string() && !is_name(name))
    body.wrong(key, "is no name",
               "use at most 63 letters, digits, \"-\", \"_\" and \".\", beginning and ending with a letter or digit");
}

std::string limited_text(Fields& body, std::string_view key, std::size_t most) {
  std::string out = body.text(key);
  if (out.size() > most)
    body.wrong(key, fmt::format("has {} bytes", out.size()), fmt::format("write at most {}", most));
  return out;
}

std::string limited_tree(Fields& body, std::string_view key, std::size_t most) {
  std::string out = body.tree(key, json::Type::object);
  if (out.size() > most)
    body.wrong(key, fmt::format("has {} bytes", out.size()), fmt::format("write at most {}", most));
  return out;
}

/// All but the names.
void read_rest(Fields& body, ManagedConfig& out) {
  out.description = limited_text(body, "description", longest_text);
  out.project = limited_text(body, "project", longest_text);
  out.files_url = limited_text(body, "files_url", longest_text);
  out.data = limited_tree(body, "data", largest_configuration);
  out.custom_fields = limited_tree(body, "custom_fields", largest_fields);
  if (out.custom_fields.empty()) out.custom_fields = "{}";
  if (!body.has("data") && !body.has("files_url")) body.missing("data", "write the configuration, or \"files_url\"");
  if (body.has("data") && body.has("files_url"))
    body.wrong("files_url", "is given beside \"data\"", "leave out one of them");
}

/// The names of a patch or a replacement are those that it has.
void check_kept_names(Fields& body, const json::Value& root, const ManagedConfig& old) {
  for (const auto& [key, is] : {std::pair<std::string_view, std::string_view>{"name", old.name},
                                std::pair<std::string_view, std::string_view>{"namespace", old.name_space}})
    if (body.has(key) && json::text_at(root, key) != is) body.wrong(key, "cannot change", "create another one");
}

/// What a patch is laid over.
std::string patchable(const ManagedConfig& config) {
  return json::object_text([&](json::Writer& w) {
    const auto text = [&w](std::string_view name, const std::string& value) {
      if (!value.empty()) w.member(name, value);
    };
    text("description", config.description);
    text("project", config.project);
    text("files_url", config.files_url);
    w.key("custom_fields");
    w.raw(config.custom_fields);
    if (config.data.empty()) return;
    w.key("data");
    w.raw(config.data);
  });
}

void write_config(json::Writer& w, const ManagedConfig& config) {
  const auto text_or_null = [&w](std::string_view name, const std::string& value) {
    if (value.empty())
      w.member(name, nullptr);
    else
      w.member(name, value);
  };
  w.member("name", config.name);
  w.member("namespace", config.name_space);
  w.member("id", configuration_id(config));
  text_or_null("description", config.description);
  text_or_null("project", config.project);
  w.key("data");
  w.raw(config.data.empty() ? "null" : config.data);
  text_or_null("files_url", config.files_url);
  w.member("schema_version", "1.0");
  w.key("custom_fields");
  w.raw(config.custom_fields);
  w.member("created_at", config.created_at);
  w.member("updated_at", config.updated_at);
}

}  // namespace

std::expected<ManagedConfig, validate::Findings> read_managed_config(const json::Value& root) {
  validate::Findings findings;
  Fields body({{}, root}, findings, Whose::guardrails);
  if (!findings.empty()) return std::unexpected(std::move(findings));
  ManagedConfig out;
  if (!body.has("name")) body.missing("name", "write a name");
  out.name = body.text("name");
  check_name(body, "name", out.name);
  if (body.has("namespace")) out.name_space = body.text("namespace");
  check_name(body, "namespace", out.name_space);
  read_rest(body, out);
  if (!findings.empty()) return std::unexpected(std::move(findings));
  return out;
}

std::expected<ManagedConfig, validate::Findings> patch_managed_config(const ManagedConfig& old,
                                                                      const json::Value& root) {
  validate::Findings findings;
  Fields body({{}, root}, findings, Whose::guardrails);
  if (!findings.empty()) return std::unexpected(std::move(findings));
  check_kept_names(body, root, old);
  if (!findings.empty()) return std::unexpected(std::move(findings));
  // Sorted keys: an ordered object costs the square of its members.
  nlohmann::json merged = nlohmann::json::parse(patchable(old));
  merged.merge_patch(nlohmann::json::parse(json::to_json(root)));
  const std::string text = merged.dump();
  json::Document document;
  const auto whole = json::parse(text, document);
  if (!whole)
    return std::unexpected(validate::Findings{{.rule = "guardrails-value",
                                               .path = {},
                                               .value = {},
                                               .problem = whole.error().message,
                                               .fix = "send a smaller patch"}});
  ManagedConfig out{.name_space = old.name_space, .name = old.name, .created_at = old.created_at};
  Fields patched({{}, *whole}, findings, Whose::guardrails);
  read_rest(patched, out);
  if (!findings.empty()) return std::unexpected(std::move(findings));
  return out;
}

std::expected<ManagedConfig, validate::Findings> replace_managed_config(const ManagedConfig& old,
                                                                        const json::Value& root) {
  validate::Findings findings;
  Fields body({{}, root}, findings, Whose::guardrails);
  if (!findings.empty()) return std::unexpected(std::move(findings));
  check_kept_names(body, root, old);
  ManagedConfig out{.name_space = old.name_space, .name = old.name, .created_at = old.created_at};
  read_rest(body, out);
  if (!findings.empty()) return std::unexpected(std::move(findings));
  return out;
}

std::expected<ManagedConfig, validate::Findings> stored_managed_config(const json::Value& text) {
  auto out = read_managed_config(text);
  if (!out) return out;
  out->created_at = json::text_at(text, "created_at");
  out->updated_at = json::text_at(text, "updated_at");
  return out;
}

std::string configuration_id(const ManagedConfig& config) {
  return config.name_space == "default" ? config.name : fmt::format("{}.{}", config.name_space, config.name);
}

std::vector<File> files_of(const ManagedConfig& config) {
  json::Document document;
  const auto root = json::parse(config.data, document);
  return root ? inline_files(*root, "data") : std::vector<File>();
}

std::string managed_config_json(const ManagedConfig& config) {
  return json::object_text([&](json::Writer& w) { write_config(w, config); });
}

std::string managed_config_list(std::span<const ManagedConfig> page, const web::Page& at, std::uint64_t total,
                                std::string_view sort) {
  return json::object_text([&](json::Writer& w) {
    w.member("object", "list");
    w.array("data", [&] {
      for (const ManagedConfig& each : page) w.object([&] { write_config(w, each); });
    });
    web::write_pagination(w, at, page.size(), total);
    w.member("sort", sort);
    w.member("filter", nullptr);
  });
}

std::string deleted_config_json(const ManagedConfig& config) {
  return json::object_text([&](json::Writer& w) {
    w.member("message", "Resource deleted successfully.");
    w.member("id", configuration_id(config));
  });
}

}  // namespace stackgate::guardrail
