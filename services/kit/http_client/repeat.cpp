#include "services/kit/http_client/repeat.hpp"

#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "services/kit/base/backoff.hpp"
#include "services/kit/http_client/retry.hpp"
#include "services/kit/http_client/url.hpp"

namespace stackgate::http_client {

std::optional<std::chrono::milliseconds> Persistence::left() const {
  if (!until) return std::nullopt;
  return std::chrono::duration_cast<std::chrono::milliseconds>(*until - std::chrono::steady_clock::now());
}

std::optional<std::chrono::milliseconds> Persistence::wait_after(unsigned made, const Outcome& outcome) const {
  const bool repeatable = call.repeatable.value_or(is_idempotent(call.method));
  if (made > retries || !may_retry({repeatable, outcome.reached, outcome.status})) return std::nullopt;
  std::optional<std::chrono::seconds> asked;
  if (outcome.retry_after) asked = parse_retry_after(*outcome.retry_after, std::chrono::system_clock::now());
  const auto wait = wait_before(made, asked, Jitter::draw());
  if (!wait || (until && *wait >= *left())) return std::nullopt;
  return wait;
}

Error Persistence::failure(unsigned made, const std::string& why) const {
  return {fmt::format("{} {}: {}{}", call.method, without_secrets(url), scrub(why, url),
                      made > 1 ? fmt::format(" (tried {} times)", made) : "")};
}

namespace {

/// False: the caller gave up meanwhile.
bool waited(const Request& call, std::chrono::milliseconds wait) {
  const auto until = std::chrono::steady_clock::now() + wait;
  for (auto left = wait; left.count() > 0;
       left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now())) {
    if (call.give_up && call.give_up()) return false;
    std::this_thread::sleep_for(call.give_up ? std::min(left, ask_each) : left);
  }
  return true;
}

}  // namespace

std::expected<Response, Error> with_retries(const Persistence& persistence,
                                            const std::function<AttemptResult()>& attempt) {
  const Request& call = persistence.call;
  for (unsigned made = 1;; ++made) {
    AttemptResult ended = attempt();
    std::optional<std::chrono::milliseconds> wait;
    if (!ended.final) {
      Outcome outcome{.reached = ended.reached};
      if (ended.result) outcome = {.status = ended.result->status, .retry_after = ended.result->header("retry-after")};
      wait = persistence.wait_after(made, outcome);
    }
    if (wait && call.read_body && !(call.rewind && call.rewind())) wait.reset();
    if (wait) {
      if (waited(call, *wait)) continue;
      return std::unexpected(persistence.failure(made, std::string(given_up)));
    }
    if (ended.result) return std::move(*ended.result);
    return std::unexpected(persistence.failure(made, ended.result.error()));
  }
}

}  // namespace stackgate::http_client
