#include <array>

#include <fmt/format.h>

#include "services/kit/base/time.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/pod_problems/pod_causes.hpp"
#include "services/kit/pod_problems/text.hpp"

namespace stackgate::pods::causes {
namespace {

/// couldn't find key KEY in Secret ns/name
Problem missing_key(std::string_view message) {
  constexpr std::string_view head = "couldn't find key ", middle = " in ";
  const std::string_view rest = message.substr(message.find(head) + head.size());
  const std::size_t split = rest.find(middle);
  const std::string_view key = rest.substr(0, split);
  std::string_view holder = split == std::string_view::npos ? std::string_view{} : rest.substr(split + middle.size());
  const bool secret = holder.starts_with("Secret ");
  holder.remove_prefix(holder.find('/') == std::string_view::npos ? 0 : holder.find('/') + 1);
  return {.reason = secret ? "SecretKeyNotFound" : "ConfigMapKeyNotFound",
          .message = fmt::format("the {} {} has no key {}; add it", secret ? "Secret" : "ConfigMap", holder, key)};
}

/// secret "name" not found
std::optional<Problem> missing_object(std::string_view message) {
  struct Form {
    std::string_view head, kind, reason;
  };
  constexpr std::array<Form, 2> forms{
      {{"secret \"", "Secret", "SecretNotFound"}, {"configmap \"", "ConfigMap", "ConfigMapNotFound"}}};
  if (!message.contains("\" not found")) return std::nullopt;
  for (const Form& form : forms) {
    const std::size_t at = message.find(form.head);
    if (at == std::string_view::npos) continue;
    const std::string_view name = message.substr(at + form.head.size());
    return Problem{.reason = std::string(form.reason),
                   .message = fmt::format("there is no {} {}; create it in the same namespace", form.kind,
                                          name.substr(0, name.find('"')))};
  }
  return std::nullopt;
}

/// Kubelet puts the pod's name and uid in brackets: each pod would read differently.
std::string_view without_pod(std::string_view message) { return message.substr(0, message.find(" (pod: ")); }

std::optional<Problem> of_waiting(const Container& container, const json::Value& waiting) {
  const std::string_view reason = json::text(&waiting, {"reason"}), message = json::text(&waiting, {"message"});
  if (reason.empty() || reason == "ContainerCreating" || reason == "PodInitializing") return std::nullopt;
  if (auto problem = of_image(container, reason, message)) return problem;
  if (reason == "CreateContainerConfigError") return of_configuration(container, message);
  if (reason == "CrashLoopBackOff")
    return Problem{.reason = "CrashLoopBackOff",
                   .message = fmt::format("the container {} ends again and again", container.name())};
  return Problem{.reason = "RunContainerError",
                 .message = fmt::format("the container {} cannot be started ({}): {}", container.name(), reason,
                                        shortened(without_pod(message), longest_text))};
}

/// How its last run ended, or nullptr: an end stays reported until the container is ready again.
const json::Value* last_end(const json::Value& status) {
  if (const json::Value* now = json::at(&status, {"state", "terminated"})) return now;
  return json::at(&status, {"lastState", "terminated"});
}

/// Ready has turned since this run began, so the run has been ready, and how the last one ended matters no more.
bool has_been_ready(const Container& container, const json::Value& running) {
  const auto began = from_rfc3339(json::text(&running, {"startedAt"}));
  const auto turned = from_rfc3339(json::text(condition_of(&container.pod, "Ready"), {"lastTransitionTime"}));
  return began && turned && *turned > *began;
}

}  // namespace

std::string_view Container::name() const { return json::text(&status, {"name"}); }

Problem of_configuration(const Container& container, std::string_view message) {
  if (message.contains("couldn't find key ")) return missing_key(message);
  if (auto missing = missing_object(message)) return *std::move(missing);
  // Only another image or another podSecurityContext cures this one.
  const bool user = message.contains("runAsNonRoot");
  const std::string_view text = without_pod(message);
  return {.reason = "ContainerConfigError",
          .message = fmt::format("the container {} cannot be made: {}{}", container.name(),
                                 shortened(text, longest_text), user ? "; set podSecurityContext.runAsUser" : ""),
          .lasting = user};
}

std::optional<Problem> of_container(const Container& container) {
  const json::Value& status = container.status;
  const json::Value* waiting = json::at(&status, {"state", "waiting"});
  const json::Value* ended = json::at(&status, {"state", "terminated"});
  const json::Value* running = json::at(&status, {"state", "running"});
  if (running != nullptr && (json::flag(&status, {"ready"}) || has_been_ready(container, *running)))
    return std::nullopt;
  if (ended != nullptr && json::integer(ended, {"exitCode"}) == 0 &&
      (container.init || json::text(&container.pod, {"spec", "restartPolicy"}) != "Always"))
    return std::nullopt;  // done, as it should be
  const bool crashed = waiting == nullptr || json::text(waiting, {"reason"}) == "CrashLoopBackOff";
  const json::Value* end = last_end(status);
  if (crashed && end != nullptr) return of_end(container, *end, json::integer(&status, {"restartCount"}));
  return waiting == nullptr ? std::nullopt : of_waiting(container, *waiting);
}

}  // namespace stackgate::pods::causes
