#include "reconcile/status/cache_report.hpp"

#include <charconv>
#include <span>
#include <string_view>

#include "reconcile/status/read.hpp"
#include "services/kit/json/document.hpp"
#include "services/kit/json/parse.hpp"

namespace stackgate::reconcile {
namespace {

/// Digits only, and few enough to fit.
std::optional<std::int64_t> bytes_of(std::string_view text) {
  std::int64_t out = 0;
  if (text.empty() || text.front() == '-') return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(out) : std::nullopt;
}

std::vector<Profile> profiles_in(std::span<const json::Value> list) {
  std::vector<Profile> out;
  for (const json::Value& each : list) {
    Profile profile{.name = std::string(read::text(&each, {"name"})),
                    .release = std::string(read::text(&each, {"release"})),
                    .model = std::string(read::text(&each, {"model"})),
                    .config = {}};
    for (const json::Member& member : read::members(&each, {"config"}))
      if (member.value.is_string()) profile.config.emplace(member.key, member.value.string());
    if (!profile.name.empty()) out.push_back(std::move(profile));
  }
  return out;
}

}  // namespace

std::optional<Progress> reported_progress(const json::Value* config_map) {
  const auto downloaded = bytes_of(read::text(config_map, {"data", "downloadedBytes"}));
  if (!downloaded) return std::nullopt;
  return Progress{*downloaded, bytes_of(read::text(config_map, {"data", "totalBytes"})).value_or(0)};
}

std::vector<Profile> reported_profiles(const json::Value* config_map) {
  json::Document document;
  const auto list = json::parse(read::text(config_map, {"data", "profiles"}), document);
  return list ? profiles_in(list->items()) : std::vector<Profile>{};
}

std::optional<Progress> stored_progress(const json::Value* status) {
  const json::Value* progress = read::at(status, {"progress"});
  if (progress == nullptr) return std::nullopt;
  return Progress{read::integer(progress, {"downloadedBytes"}), read::integer(progress, {"totalBytes"})};
}

std::vector<Profile> stored_profiles(const json::Value* status) {
  return profiles_in(read::items(status, {"profiles"}));
}

}  // namespace stackgate::reconcile
