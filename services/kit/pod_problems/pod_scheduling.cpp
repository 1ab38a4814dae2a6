// Scheduler's words: "0/4 nodes are available: 1 node(s) had untolerated taint {a: b}, 3 Insufficient cpu. preemption:
// …"
#include <algorithm>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "services/kit/json/read.hpp"
#include "services/kit/pod_problems/pod_causes.hpp"
#include "services/kit/pod_problems/text.hpp"

namespace stackgate::pods::causes {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// "3 Insufficient cpu" → "Insufficient cpu": the counts change with every node that comes and goes.
std::string_view without_count(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  return digits != 0 && text.substr(digits).starts_with(' ') ? text.substr(digits + 1) : text;
}

/// The parts of "1 this, 2 that, with a comma, 3 other": a part begins with a number.
std::vector<std::string_view> parts_of(std::string_view list) {
  std::vector<std::string_view> out;
  std::size_t begin = 0;
  for (std::size_t at = list.find(", "); at != std::string_view::npos; at = list.find(", ", at + 2)) {
    const std::string_view rest = list.substr(at + 2);
    if (rest.empty() || !is_digit(rest.front()) || without_count(rest).size() == rest.size()) continue;
    out.push_back(without_count(list.substr(begin, at - begin)));
    begin = at + 2;
  }
  out.push_back(without_count(list.substr(begin)));
  return out;
}

/// How much of a resource the pod asks for, when one container alone asks for it; otherwise empty.
std::string amount_of(const json::Value& pod, std::string_view resource) {
  std::string found;
  for (const json::Value& container : json::items(&pod, {"spec", "containers"})) {
    const json::Value* amount = json::at(&container, {"resources", "requests", resource});
    if (amount == nullptr) amount = json::at(&container, {"resources", "limits", resource});
    if (amount == nullptr) continue;
    if (!found.empty()) return {};
    found = json::scalar_text(*amount);
  }
  return found;
}

std::string claims_of(const json::Value& pod) {
  std::set<std::string_view> names;
  for (const json::Value& volume : json::items(&pod, {"spec", "volumes"}))
    if (const std::string_view name = json::text(&volume, {"persistentVolumeClaim", "claimName"}); !name.empty())
      names.insert(name);
  return fmt::format("{}", fmt::join(names, ", "));
}

/// "node(s) had taint {a: b}, that the pod didn't tolerate" (to 1.24) and "node(s) had untolerated taint {a: b}"
/// (later).
std::string cause_in_words(std::string_view part) {
  if (part.starts_with("node(s) ")) part.remove_prefix(8);
  const std::size_t open = part.find('{');
  const std::size_t close = open == std::string_view::npos ? open : part.find('}', open);
  if (part.contains("taint") && close != std::string_view::npos)
    return fmt::format("taint {} is not tolerated", part.substr(open, close + 1 - open));
  return std::string(part);
}

std::string quoted_name(std::string_view message) {
  const std::size_t open = message.find('"');
  const std::size_t close = open == std::string_view::npos ? open : message.find('"', open + 1);
  return close == std::string_view::npos ? std::string() : std::string(message.substr(open + 1, close - open - 1));
}

/// What stands between "nodes are available: " and the remarks on preemption; all of it where that form is not met.
std::string_view causes_in(std::string_view message) {
  constexpr std::string_view head = "nodes are available: ";
  const std::size_t begin = message.find(head);
  if (begin != std::string_view::npos) message.remove_prefix(begin + head.size());
  message = message.substr(0, message.find(". "));
  while (message.ends_with('.')) message.remove_suffix(1);
  return message;
}

}  // namespace

Problem of_scheduling(const json::Value& pod, std::string_view message) {
  if (message.contains("persistentvolumeclaim \"") && message.contains("not found"))
    return {.reason = "ClaimNotFound", .message = fmt::format("there is no claim {}; create it", quoted_name(message))};
  if (message.contains("unbound immediate PersistentVolumeClaims"))
    return {.reason = "ClaimPending",
            .message = fmt::format("a claim of the pod ({}) waits for a volume", claims_of(pod))};

  constexpr std::string_view insufficient = "Insufficient ";
  std::set<std::string> missing, others;
  for (const std::string_view part : parts_of(causes_in(message))) {
    if (part.starts_with(insufficient)) {
      const std::string_view resource = part.substr(insufficient.size());
      const std::string amount = amount_of(pod, resource);
      missing.insert(amount.empty() ? fmt::format("enough {}", resource) : fmt::format("{} {}", amount, resource));
    } else if (!part.empty()) {
      others.insert(cause_in_words(part));
    }
  }
  std::string text;
  if (!missing.empty()) text = fmt::format("no node has {} free", fmt::join(missing, " and "));
  if (!others.empty())
    text += fmt::format("{}: {}", missing.empty() ? "no node takes the pod" : "; nodes that are ruled out",
                        fmt::join(others, "; "));
  if (text.empty()) text = "no node takes the pod";
  return {.reason = "Unschedulable", .message = shortened(text, longest_text)};
}

}  // namespace stackgate::pods::causes
