#include "services/evaluator/runs/adapter.hpp"

#include <fmt/format.h>

#include "services/kit/base/percent.hpp"
#include "services/kit/http_client/client.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::evaluator {
namespace adapter_detail {

constexpr std::uint64_t largest_list = 16U << 20U;

std::string shown(const json::Value& adapter) {
  return json::object_text([&](json::Writer& w) {
    for (const std::string_view name : {"id", "name", "version", "base_model", "status"})
      if (const json::Value* found = adapter.find(name); found != nullptr && !found->is_null()) w.member(name, *found);
  });
}

}  // namespace adapter_detail

std::expected<TargetAdapter, std::string> read_adapters(std::string_view body, std::string_view model) {
  json::Document document;
  const auto root = json::parse(body, document, {.max_depth = 32, .max_bytes = adapter_detail::largest_list});
  if (!root || json::at(&*root, {"adapters"}) == nullptr)
    return std::unexpected("the entitystore's answer is no list of adapters");
  const json::Value *ready = nullptr, *newest = nullptr;
  const auto is_newer = [](const json::Value& a, const json::Value* b) {
    return b == nullptr || json::text(&a, {"created_at"}) >= json::text(b, {"created_at"});
  };
  for (const json::Value& each : json::items(&*root, {"adapters"})) {
    if (json::text(&each, {"name"}) != model) continue;
    if (is_newer(each, newest)) newest = &each;
    if (json::text(&each, {"status"}) == "ready" && is_newer(each, ready)) ready = &each;
  }
  if (newest == nullptr) return TargetAdapter{};
  TargetAdapter out{.json = adapter_detail::shown(ready != nullptr ? *ready : *newest)};
  if (ready == nullptr)
    out.problem = fmt::format("is an adapter that is {} in the entitystore", json::text(newest, {"status"}));
  return out;
}

std::expected<TargetAdapter, std::string> look_up_adapter(const std::string& url, std::string_view model,
                                                          std::chrono::milliseconds limit) {
  std::string base = url;
  while (base.ends_with('/')) base.pop_back();
  http_client::Request request{.url = fmt::format("{}/v1/adapters?name={}", base, percent_encode(model)),
                               .headers = {{"Accept", "application/json"}}};
  request.whole = limit;
  request.largest_reply = adapter_detail::largest_list;
  const auto reply = http_client::Client({.retries = 0, .user_agent = "stackgate-evaluator"}).call(request);
  if (!reply) return std::unexpected(fmt::format("the entitystore cannot be reached: {}", reply.error().message));
  if (reply->status != 200) return std::unexpected(fmt::format("the entitystore answered {}", reply->status));
  return read_adapters(reply->body, model);
}

}  // namespace stackgate::evaluator
