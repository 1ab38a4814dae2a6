#include "services/evaluator/workflow/argo_server.hpp"

#include <fmt/format.h>

#include "services/evaluator/workflow/protocol/result_stream.hpp"
#include "services/kit/base/percent.hpp"
#include "services/kit/files/file.hpp"
#include "services/kit/json/parse.hpp"

namespace stackgate::evaluator {
namespace argo_server_detail {

constexpr std::uint64_t largest_token = 64U << 10U, largest_answer = 32U << 20U, largest_artifact = 64U << 20U;
constexpr std::chrono::seconds whole_call{30}, silence{60};
constexpr int not_found = 404, conflict = 409;

std::string base_of(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  return url;
}

/// A token is one line; anything else would be another header.
std::string token_in(const std::string& file) {
  if (file.empty()) return {};
  auto text = files::read_file(file, largest_token);
  if (!text) return {};
  const std::size_t begin = text->find_first_not_of(" \t\r\n"), end = text->find_last_not_of(" \t\r\n");
  if (begin == std::string::npos) return {};
  std::string token = text->substr(begin, end - begin + 1);
  return token.find_first_of(" \t\r\n") == std::string::npos ? token : std::string();
}

ServerFault fault_of(int status, std::string_view action, std::string_view body) {
  return {.status = status, .message = status_words(status, action, body)};
}

ServerFault unreachable(const Error& error) {
  return {.message = fmt::format("the workflow server cannot be reached: {}", error.message)};
}

std::expected<WorkflowFacts, ServerFault> facts_in(std::string_view body) {
  json::Document document;
  const auto root = json::parse(body, document, {.max_depth = 256, .max_bytes = largest_answer});
  if (root && root->is_object()) return read_workflow(*root);
  return std::unexpected(ServerFault{.message = "the workflow server answered with something that is no workflow"});
}

}  // namespace argo_server_detail

ArgoServer::ArgoServer(const WorkflowOptions& options)
    : options_(options),
      client_({.pause = argo_server_detail::silence,
               .retries = 0,
               .ca_file = options.ca_text.empty() ? options.ca_file : std::string(),
               .ca_text = options.ca_text,
               .skip_verification = options.insecure,
               .user_agent = "stackgate-evaluator"}) {}

std::string ArgoServer::path(std::string_view area, std::string_view rest) const {
  return fmt::format("{}/api/v1/{}/{}{}", argo_server_detail::base_of(options_.server_url), area,
                     percent_encode(options_.kubernetes_namespace), rest);
}

http_client::Headers ArgoServer::headers() const {
  http_client::Headers out{{"Accept", "application/json"}};
  const std::string token = options_.token.empty() ? argo_server_detail::token_in(options_.token_file) : options_.token;
  if (!token.empty()) out.emplace_back("Authorization", fmt::format("Bearer {}", token));
  return out;
}

std::expected<http_client::Response, ServerFault> ArgoServer::call(http_client::Request request,
                                                                   std::string_view action, const Stop& stop,
                                                                   std::uint64_t largest) const {
  using namespace argo_server_detail;
  request.headers = headers();
  if (!request.body.empty()) request.headers.emplace_back("Content-Type", "application/json");
  request.whole = whole_call;
  request.largest_reply = largest > 0 ? largest : largest_answer;
  request.give_up = stop;
  auto reply = client_.call(request);
  if (!reply) return std::unexpected(unreachable(reply.error()));
  if (reply->status < 200 || reply->status > 299) return std::unexpected(fault_of(reply->status, action, reply->body));
  return *std::move(reply);
}

std::expected<std::optional<WorkflowFacts>, ServerFault> ArgoServer::get(std::string_view name, std::string_view fields,
                                                                         const Stop& stop) const {
  using namespace argo_server_detail;
  const auto reply = call({.url = path("workflows", fmt::format("/{}?fields={}", percent_encode(name), fields))},
                          "read a workflow", stop);
  if (!reply && reply.error().status == not_found) return std::nullopt;
  if (!reply) return std::unexpected(reply.error());
  auto facts = facts_in(reply->body);
  if (!facts) return std::unexpected(facts.error());
  return *std::move(facts);
}

std::expected<bool, ServerFault> ArgoServer::submit(std::string_view body, bool from_template, const Stop& stop) const {
  const auto reply =
      call({.method = "POST", .url = path("workflows", from_template ? "/submit" : ""), .body = std::string(body)},
           "create workflows", stop);
  if (!reply && reply.error().status == argo_server_detail::conflict) return false;
  if (!reply) return std::unexpected(reply.error());
  return true;
}

std::expected<void, ServerFault> ArgoServer::change(std::string_view name, std::string_view verb,
                                                    const Stop& stop) const {
  const auto reply = call({.method = "PUT",
                           .url = path("workflows", fmt::format("/{}/{}", percent_encode(name), verb)),
                           .body = "{}",
                           .repeatable = false},
                          fmt::format("{} workflows", verb), stop);
  if (!reply && reply.error().status != argo_server_detail::not_found) return std::unexpected(reply.error());
  return {};
}

std::expected<void, ServerFault> ArgoServer::remove(std::string_view name, const Stop& stop) const {
  const auto reply = call({.method = "DELETE", .url = path("workflows", fmt::format("/{}", percent_encode(name)))},
                          "delete workflows", stop);
  if (!reply && reply.error().status != argo_server_detail::not_found) return std::unexpected(reply.error());
  return {};
}

std::expected<std::string, ServerFault> ArgoServer::artifact(std::string_view name, std::string_view node,
                                                             std::string_view artifact, const Stop& stop) const {
  using namespace argo_server_detail;
  auto reply = call({.url = fmt::format("{}/artifacts/{}/{}/{}/{}", base_of(options_.server_url),
                                        percent_encode(options_.kubernetes_namespace), percent_encode(name),
                                        percent_encode(node), percent_encode(artifact))},
                    "read artifacts", stop, largest_artifact);
  if (!reply) return std::unexpected(reply.error());
  return std::move(reply->body);
}

std::expected<void, ServerFault> ArgoServer::try_list() const {
  const auto reply =
      call({.url = path("workflows", "?listOptions.limit=1&fields=items.metadata.name")}, "list workflows", {});
  if (!reply) return std::unexpected(reply.error());
  return {};
}

std::expected<void, ServerFault> ArgoServer::stream(std::string url, std::string_view action, const TakeResult& take,
                                                    const Stop& stop) const {
  using namespace argo_server_detail;
  ResultStream results;
  bool wanted = true;
  const ResultStream::Take take_one = [&](const json::Value& result) { return wanted = take(result); };
  http_client::Request request{.url = std::move(url), .headers = headers(), .repeatable = false, .give_up = stop};
  request.headers.front().second = "text/event-stream";
  request.take_body = [&](std::string_view bytes) { return results.feed(bytes, take_one); };
  const auto reply = client_.call(request);
  if (!wanted) return {};
  if (!results.fault().empty()) return std::unexpected(ServerFault{.message = results.fault()});
  if (!reply) return std::unexpected(unreachable(reply.error()));
  if (reply->status < 200 || reply->status > 299) return std::unexpected(fault_of(reply->status, action, reply->body));
  (void)results.finish(take_one);
  if (!results.fault().empty()) return std::unexpected(ServerFault{.message = results.fault()});
  return {};
}

std::expected<void, ServerFault> ArgoServer::events(std::string_view name, const TakeResult& take,
                                                    const Stop& stop) const {
  return stream(
      path("workflow-events", fmt::format("?listOptions.fieldSelector=metadata.name%3D{}", percent_encode(name))),
      "watch workflows", take, stop);
}

std::expected<void, ServerFault> ArgoServer::log(std::string_view name, bool follow, const TakeResult& take,
                                                 const Stop& stop) const {
  return stream(path("workflows", fmt::format("/{}/log?logOptions.container=main&logOptions.follow={}",
                                              percent_encode(name), follow)),
                "read logs of workflows", take, stop);
}

}  // namespace stackgate::evaluator
