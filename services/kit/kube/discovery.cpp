#include "services/kit/kube/discovery.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "services/kit/base/try.hpp"
#include "services/kit/json/parse.hpp"

namespace stackgate::kube {
namespace {

ApiError malformed_discovery(std::string_view path, std::string_view what) {
  return {Failure::malformed, 0, "", fmt::format("GET {}: {}", path, what), {}};
}

/// The answer, or a null Object for "not found".
Result<Object> discover(Client& client, const std::string& path, const CallOptions& options) {
  auto answer = client.request("GET", path, {}, {}, true, options);
  if (!answer) {
    if (answer.error().not_found()) return Object{};
    return std::unexpected(std::move(answer.error()));
  }
  bool valid = false;
  Object object = Object::parse(std::move(answer->body), valid);
  if (!valid) return std::unexpected(malformed_discovery(path, "the answer is not JSON"));
  return object;
}

}  // namespace

Result<std::vector<std::string>> served_versions(Client& client, std::string_view group, const CallOptions& options) {
  const std::string path = group.empty() ? "/api" : "/apis/" + escape(group);
  const auto answer = TRY(discover(client, path, options));
  std::vector<std::string> out;
  if (answer.root().is_null()) return out;
  const json::Value* versions = answer.root().find("versions");
  if (versions == nullptr) return std::unexpected(malformed_discovery(path, "the answer names no versions"));
  // The core group lists plain words, all others {groupVersion, version}.
  for (const json::Value& each : versions->items())
    out.emplace_back(each.is_string() ? each.string() : json::text_at(each, "version"));
  if (const json::Value* preferred = answer.root().find("preferredVersion"); preferred != nullptr) {
    const auto found = std::ranges::find(out, json::text_at(*preferred, "version"));
    if (found != out.end()) std::rotate(out.begin(), found, found + 1);
  }
  return out;
}

Result<std::optional<std::string>> newest_served(Client& client, std::string_view group,
                                                 std::initializer_list<std::string_view> wanted,
                                                 const CallOptions& options) {
  const auto served = TRY(served_versions(client, group, options));
  for (const std::string_view each : wanted)
    if (std::ranges::find(served, each) != served.end()) return std::optional<std::string>(each);
  return std::optional<std::string>{};
}

Result<bool> serves(Client& client, const ResourceType& type, const CallOptions& options) {
  const std::string path = version_path(type);
  const auto answer = TRY(discover(client, path, options));
  if (answer.root().is_null()) return false;
  const json::Value* resources = answer.root().find("resources");
  if (resources == nullptr) return std::unexpected(malformed_discovery(path, "the answer names no resources"));
  return std::ranges::any_of(resources->items(),
                             [&type](const json::Value& each) { return json::text_at(each, "name") == type.plural; });
}

}  // namespace stackgate::kube
