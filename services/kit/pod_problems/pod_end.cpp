#include <fmt/format.h>

#include "services/kit/base/time.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/pod_problems/pod_causes.hpp"
#include "services/kit/pod_problems/text.hpp"

namespace stackgate::pods::causes {
namespace {

/// Kubelet waits 10, 20, 40, 80 and 160 s between the first ends: after so many it has failed for five minutes and
/// more.
constexpr std::int64_t lasting_restarts = 5;
/// A container that has run this long starts anew for kubelet too: it has not been crashing in a row.
constexpr std::chrono::seconds steady{600};
constexpr std::size_t longest_words = 512;

constexpr std::int64_t killed = 137, stopped = 143;  // 128 + SIGKILL, 128 + SIGTERM

bool ran_long(const json::Value& terminated) {
  const auto began = from_rfc3339(json::text(&terminated, {"startedAt"}));
  const auto ended = from_rfc3339(json::text(&terminated, {"finishedAt"}));
  return began && ended && *ended - *began >= steady;
}

std::string memory_limit(const Container& container) {
  const json::Value* limit = json::at(container.spec, {"resources", "limits", "memory"});
  if (limit == nullptr) return "it has no limit, so the node itself ran out";
  return fmt::format("its limit is {}; raise resources.limits.memory", json::scalar_text(*limit));
}

/// "database migration failed" says more than the name of the container that does it.
std::string who_failed(const Container& container) {
  if (!container.init) return fmt::format("the container {}", container.name());
  if (container.name() == "migrate") return "database migration failed: the init container migrate";
  return fmt::format("the init container {}", container.name());
}

/// " with exit code 1: ModuleNotFoundError: …"
std::string how_it_ended(std::int64_t code, std::string_view words) {
  std::string out = fmt::format("with exit code {}", code);
  if (code == stopped) out += " (stopped from outside, as a rule by its startup or liveness probe)";
  if (!words.empty()) out += fmt::format(": {}", words);
  return out;
}

}  // namespace

std::string last_words(std::string_view text) {
  constexpr std::string_view blank = " \t\r\n";
  while (!text.empty() && blank.contains(text.back())) text.remove_suffix(1);
  text.remove_prefix(text.find_last_of('\n') == std::string_view::npos ? 0 : text.find_last_of('\n') + 1);
  // A log's time stamp would make each restart read differently.
  const std::size_t stamp = text.find_first_not_of("0123456789-:/.,TZ+[] ");
  if (stamp != std::string_view::npos && stamp >= 8) text.remove_prefix(stamp);
  while (!text.empty() && blank.contains(text.front())) text.remove_prefix(1);
  return shortened(text, longest_words);
}

Problem of_end(const Container& container, const json::Value& terminated, std::int64_t restarts) {
  const std::int64_t code = json::integer(&terminated, {"exitCode"});
  const std::string_view reason = json::text(&terminated, {"reason"}), message = json::text(&terminated, {"message"});
  const bool once = json::text(&container.pod, {"spec", "restartPolicy"}) == "Never";  // a Job counts its pods itself
  Problem out{.reason = {}, .message = {}, .lasting = !once && restarts >= lasting_restarts && !ran_long(terminated)};

  if (reason == "StartError" || reason == "ContainerCannotRun") {
    out.reason = "RunContainerError";
    out.message =
        fmt::format("the container {} cannot be started: {}", container.name(), shortened(message, longest_text));
  } else if (reason == "OOMKilled") {
    out.reason = "OutOfMemory";
    out.message =
        fmt::format("{} ran out of memory (exit code {}); {}", who_failed(container), code, memory_limit(container));
  } else if (code == killed) {
    out.reason = "OutOfMemory";
    out.message = fmt::format("{} was killed (exit code 137), most likely for its memory; {}", who_failed(container),
                              memory_limit(container));
  } else if (container.init || once) {
    out.reason = container.init ? "InitContainerFailed" : "ContainerFailed";
    out.message = fmt::format("{} ended {}", who_failed(container), how_it_ended(code, last_words(message)));
  } else {
    out.reason = "CrashLoopBackOff";
    out.message = code == 0 ? fmt::format("{} ends by itself (exit code 0) instead of serving", who_failed(container))
                            : fmt::format("{} ends {}", who_failed(container), how_it_ended(code, last_words(message)));
  }
  return out;
}

Problem of_departure(std::string_view reason, std::string_view message) {
  if (reason == "Evicted") {
    constexpr std::string_view low = "The node was low on resource: ";
    if (message.starts_with(low)) {
      const std::string_view rest = message.substr(low.size());
      return {.reason = "Evicted",
              .message = fmt::format("the pod was evicted: its node ran out of {}", rest.substr(0, rest.find('.')))};
    }
    return {.reason = "Evicted", .message = fmt::format("the pod was evicted: {}", last_words(message))};
  }
  const std::string words = last_words(message);
  return {.reason = "PodFailed",
          .message = fmt::format("the pod has failed{}{}{}{}", reason.empty() ? "" : " (", reason,
                                 reason.empty() ? "" : ")", words.empty() ? "" : ": " + words)};
}

}  // namespace stackgate::pods::causes
