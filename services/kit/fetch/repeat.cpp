#include "services/kit/fetch/repeat.hpp"

#include <random>
#include <thread>

#include <fmt/format.h>

#include "services/kit/fetch/retry.hpp"
#include "services/kit/fetch/words.hpp"

namespace stackgate::fetch {
namespace repeat_detail {

double roll() {
  thread_local std::minstd_rand dice{std::random_device{}()};
  return std::uniform_real_distribution<double>(0, 1)(dice);
}

}  // namespace repeat_detail

std::expected<Reply, Error> persist(
    const Call& call, const std::string& url, unsigned retries,
    std::optional<std::chrono::steady_clock::time_point> until,
    const std::function<Ended(std::optional<std::chrono::milliseconds> left)>& attempt) {
  const auto left = [&]() -> std::optional<std::chrono::milliseconds> {
    if (!until) return std::nullopt;
    return std::chrono::duration_cast<std::chrono::milliseconds>(*until - std::chrono::steady_clock::now());
  };
  const bool repeatable = call.repeatable.value_or(is_idempotent(call.method));
  for (unsigned next = 1;; ++next) {
    Ended ended = attempt(left());
    const int status = ended.result ? ended.result->status : 0;
    std::optional<std::chrono::milliseconds> wait;
    if (!ended.final && next <= retries && may_retry({repeatable, ended.reached, status})) {
      std::optional<std::chrono::seconds> asked;
      if (ended.result) {
        if (const auto value = ended.result->header("retry-after"))
          asked = parse_retry_after(*value, std::chrono::system_clock::now());
      }
      wait = wait_before(next, asked, repeat_detail::roll());
      if (wait && until && *wait >= *left()) wait.reset();
      if (wait && call.read_body && !(call.rewind && call.rewind())) wait.reset();
    }
    if (wait) {
      std::this_thread::sleep_for(*wait);
      continue;
    }
    if (ended.result) return std::move(*ended.result);
    return std::unexpected(
        Error{fmt::format("{} {}: {}{}", call.method, without_secrets(url), scrub(ended.result.error(), url),
                          next > 1 ? fmt::format(" (tried {} times)", next) : "")});
  }
}

}  // namespace stackgate::fetch
