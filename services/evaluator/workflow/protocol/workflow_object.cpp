#include "services/evaluator/workflow/protocol/workflow_object.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "services/evaluator/workflow/protocol/workflow_json.hpp"
#include "services/kit/base/number.hpp"
#include "services/kit/base/utf8.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"

namespace stackgate::evaluator {
namespace workflow_object_detail {

constexpr std::array<std::string_view, 6> phase_names = {"", "Pending", "Running", "Succeeded", "Failed", "Error"};
constexpr std::size_t most_nodes = 20;
constexpr std::size_t longest_message = 2'000, longest_name = 253, longest_words = 300;

/// Without cutting a character in two.
std::string shortened(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) --end;
  return std::string(text.substr(0, end));
}

std::optional<double> percent_of(std::string_view progress) {
  const std::size_t slash = progress.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto done = to_number<std::int64_t>(progress.substr(0, slash)),
             all = to_number<std::int64_t>(progress.substr(slash + 1));
  if (!done || !all || *all <= 0 || *done < 0 || *done > *all) return std::nullopt;
  return 100.0 * static_cast<double>(*done) / static_cast<double>(*all);
}

}  // namespace workflow_object_detail

WorkflowPhase phase_named(std::string_view name) {
  using workflow_object_detail::phase_names;
  for (std::size_t i = 1; i < phase_names.size(); ++i)
    if (phase_names.at(i) == name) return static_cast<WorkflowPhase>(i);
  return WorkflowPhase::unknown;
}

std::string_view to_string(WorkflowPhase phase) {
  return workflow_object_detail::phase_names.at(static_cast<std::size_t>(phase));
}

WorkflowFacts read_workflow(const json::Value& workflow) {
  using namespace workflow_object_detail;
  WorkflowFacts out{
      .name = shortened(json::text(&workflow, {"metadata", "name"}), longest_name),
      .uid = shortened(json::text(&workflow, {"metadata", "uid"}), longest_name),
      .evaluation = shortened(json::text(&workflow, {"metadata", "labels", evaluation_label}), longest_name),
      .phase = phase_named(json::text(&workflow, {"status", "phase"})),
      .message = shortened(json::text(&workflow, {"status", "message"}), longest_message),
      .progress = percent_of(json::text(&workflow, {"status", "progress"}))};
  for (const json::Value& each : json::items(&workflow, {"status", "outputs", "parameters"}))
    if (json::text(&each, {"name"}) == "results") out.results = json::text(&each, {"value"});
  for (const json::Member& each : json::members(&workflow, {"status", "nodes"})) {
    if (out.archived.size() >= most_nodes || each.key.size() > longest_name) continue;
    const auto artifacts = json::items(&each.value, {"outputs", "artifacts"});
    if (std::ranges::any_of(artifacts, [](const auto& one) { return json::text(&one, {"name"}) == log_artifact; }))
      out.archived.emplace_back(each.key);
  }
  return out;
}

WorkflowEvent read_event(const json::Value& result) {
  const json::Value* object = result.find("object");
  return {.deleted = json::text(&result, {"type"}) == "DELETED",
          .workflow = object == nullptr ? WorkflowFacts{} : read_workflow(*object)};
}

LogEntry read_log_entry(const json::Value& result) {
  return {.content = json::text(&result, {"content"}), .pod = json::text(&result, {"podName"})};
}

std::string gateway_message(std::string_view body) {
  using namespace workflow_object_detail;
  json::Document document;
  const auto root = json::parse(body, document, {.max_depth = 32, .max_bytes = 1U << 20U});
  if (root) {
    for (const std::string_view text :
         {json::text(&*root, {"message"}), json::text(&*root, {"error", "message"}), json::text(&*root, {"error"})})
      if (!text.empty()) return shortened(text, longest_words);
    return "";
  }
  // What stands in front of the server answers pages; a line of it says enough.
  const std::string_view line = body.substr(0, body.find_first_of("\r\n"));
  return utf8::is_valid(line) ? shortened(line, longest_words) : "";
}

std::string status_words(int status, std::string_view action, std::string_view body) {
  const std::string message = gateway_message(body);
  const std::string reason = message.empty() ? std::string() : fmt::format(": {}", message);
  switch (status) {
    case 401:
      return fmt::format(
          "the workflow server does not know the token (401){}; check the token file and the server's "
          "--auth-mode",
          reason);
    case 403:
      return fmt::format(
          "the workflow server does not let us {} (403){}; give the ServiceAccount the verbs create, get, "
          "list, watch, patch and delete on workflows.argoproj.io",
          action, reason);
    case 404:
      return fmt::format(
          "the workflow server has no such thing (404) when asked to {}{}; check the server's address and "
          "the namespace",
          action, reason);
    default:
      return fmt::format("the workflow server answered {} when asked to {}{}", status, action, reason);
  }
}

}  // namespace stackgate::evaluator
