#include "services/inference/upstream/replica.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "services/kit/base/try.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::inference::upstream {
namespace {

constexpr std::chrono::seconds for_asking{5};
constexpr std::chrono::seconds for_loading{60};
constexpr std::uint64_t largest_answer = 64U << 20U;
constexpr std::size_t most_shown = 500;  // of an engine's words

http_client::Request request(std::string method, std::string url, const Asking& asking) {
  http_client::Request out{.method = std::move(method), .url = std::move(url)};
  if (!asking.authorization.empty()) out.headers.emplace_back("Authorization", asking.authorization);
  out.give_up = asking.give_up;
  out.largest_reply = largest_answer;
  out.whole = for_asking;
  return out;
}

}  // namespace

std::expected<http_client::Response, std::string> Replica::ask(const std::string& path, const Asking& asking) const {
  auto answer = client_.call(request("GET", origin_ + path, asking));
  if (!answer) return std::unexpected(std::move(answer.error().message));
  if (answer->status != 200) return std::unexpected(fmt::format("GET {} answered {}", path, answer->status));
  return std::move(*answer);
}

std::expected<std::vector<ListedModel>, std::string> Replica::models(const Asking& asking) const {
  const auto answer = TRY(ask("/v1/models", asking));
  return read_models(answer.body);
}

Kind Replica::find_kind(const std::vector<ListedModel>& models, const Asking& asking) const {
  const auto version = ask("/version", asking), adapters = ask("/lora-adapters", asking);
  return kind_of(models, version ? version->body : std::string(), adapters ? adapters->body : std::string());
}

std::expected<std::vector<NumberedAdapter>, std::string> Replica::numbered(const Asking& asking) const {
  const auto answer = TRY(ask("/lora-adapters", asking));
  return read_numbered_adapters(answer.body);
}

std::expected<http_client::Response, std::string> Replica::request_step(Kind kind, Step::Action action,
                                                                        const Step& step, const Asking& asking) const {
  const bool unloads = action == Step::Action::unload;
  auto call = request(
      "POST", fmt::format("{}{}/{}load_lora_adapter", origin_, kind == Kind::sglang ? "" : "/v1", unloads ? "un" : ""),
      asking);
  call.headers.emplace_back("Content-Type", "application/json");
  call.whole = for_loading;
  call.body = json::object_text([&](json::Writer& w) {
    w.member("lora_name", step.name);
    if (!unloads) w.member("lora_path", step.path);
    if (action == Step::Action::replace && kind == Kind::vllm) w.member("load_inplace", true);
  });
  auto answer = client_.call(call);
  if (!answer) return std::unexpected(std::move(answer.error().message));
  return std::move(*answer);
}

void Replica::has_listed(const std::vector<ListedModel>& models) {
  std::erase_if(handed_, [&](const auto& each) {
    return std::ranges::find(models, each.first, &ListedModel::id) == models.end();
  });
}

std::optional<std::string> Replica::carry_out(Kind kind, const Step& step, const Asking& asking) {
  auto answer = request_step(kind, step.action, step, asking);
  if (!answer) return std::move(answer.error());
  Next next = after(step.action, answer->status, answer->body);
  if (next == Next::unload_and_load) {
    answer = request_step(kind, Step::Action::unload, step, asking);
    if (answer && after(Step::Action::unload, answer->status, answer->body) == Next::done) {
      handed_.erase(step.name);
      answer = request_step(kind, Step::Action::load, step, asking);
    }
    if (!answer) return std::move(answer.error());
    next = after(Step::Action::load, answer->status, answer->body);
  }
  if (next != Next::done) return fmt::format("it answered {}: {}", answer->status, answer->body.substr(0, most_shown));
  if (step.action == Step::Action::unload)
    handed_.erase(step.name);
  else
    handed_[step.name] = step.path;
  return std::nullopt;
}

}  // namespace stackgate::inference::upstream
