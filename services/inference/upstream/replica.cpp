#include "services/inference/upstream/replica.hpp"

#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "services/kit/base/try.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::inference::upstream {
namespace {

constexpr std::chrono::seconds asking{5};
constexpr std::chrono::seconds loading{60};
constexpr std::uint64_t largest_answer = 64U << 20U;
constexpr std::size_t most_shown = 500;  // of an engine's words

http_client::Request request(std::string method, std::string url, const std::string& authorization) {
  http_client::Request out{.method = std::move(method), .url = std::move(url)};
  if (!authorization.empty()) out.headers.emplace_back("Authorization", authorization);
  out.largest_reply = largest_answer;
  out.whole = asking;
  return out;
}

}  // namespace

std::expected<http_client::Response, std::string> Replica::ask(const std::string& path,
                                                               const std::string& authorization) const {
  auto answer = client_.call(request("GET", origin_ + path, authorization));
  if (!answer) return std::unexpected(std::move(answer.error().message));
  if (answer->status != 200) return std::unexpected(fmt::format("GET {} answered {}", path, answer->status));
  return std::move(*answer);
}

std::expected<std::vector<ListedModel>, std::string> Replica::models(const std::string& authorization) const {
  const auto answer = TRY(ask("/v1/models", authorization));
  return read_models(answer.body);
}

Kind Replica::find_kind(const std::vector<ListedModel>& models, const std::string& authorization) const {
  const auto version = ask("/version", authorization), adapters = ask("/lora-adapters", authorization);
  return kind_of(models, version ? version->body : std::string(), adapters ? adapters->body : std::string());
}

std::expected<std::vector<NumberedAdapter>, std::string> Replica::numbered(const std::string& authorization) const {
  const auto answer = TRY(ask("/lora-adapters", authorization));
  return read_numbered_adapters(answer.body);
}

std::expected<http_client::Response, std::string> Replica::tell(Step::Action action, const Step& step,
                                                                const std::string& authorization) const {
  const bool unloads = action == Step::Action::unload;
  auto call = request("POST", origin_ + (unloads ? "/v1/unload_lora_adapter" : "/v1/load_lora_adapter"), authorization);
  call.headers.emplace_back("Content-Type", "application/json");
  call.whole = loading;
  call.body = json::object_text([&](json::Writer& w) {
    w.member("lora_name", step.name);
    if (!unloads) w.member("lora_path", step.path);
    if (action == Step::Action::replace) w.member("load_inplace", true);
  });
  auto answer = client_.call(call);
  if (!answer) return std::unexpected(std::move(answer.error().message));
  return std::move(*answer);
}

std::optional<std::string> Replica::carry_out(const Step& step, const std::string& authorization) {
  auto answer = tell(step.action, step, authorization);
  if (!answer) return std::move(answer.error());
  Next next = after(step.action, answer->status, answer->body);
  if (next == Next::unload_and_load) {
    answer = tell(Step::Action::unload, step, authorization);
    if (answer && after(Step::Action::unload, answer->status, answer->body) == Next::done) {
      handed_.erase(step.name);
      answer = tell(Step::Action::load, step, authorization);
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
