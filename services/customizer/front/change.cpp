// What people do to a customization that is there: cancel, retry, delete.
#include <fmt/format.h>

#include "services/customizer/front/front.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/web/errors.hpp"
#include "services/kit/web/json.hpp"

namespace stackgate::customizer {
namespace change_detail {

constexpr int most_tries = 8, retry_seconds = 2;

/// `change` of what is stored now, however often others change it meanwhile. Its failure ends that.
template <class Change>
web::Answer changed(const Front& front, web::Call& call, const Change& change) {
  for (int i = 0; i < most_tries; ++i) {
    const Stored from = TRY(find_customization(front, call));
    const Customization to = TRY(change(from, TRY(front.records().now())));
    if (to == from.job) return web::json_answer(TRY(record_of(front, to)));
    if (!TRY(front.records().store(from, to, true))) continue;
    front.runner.wake();
    return web::json_answer(TRY(record_of(front, to)));
  }
  return web::busy("it changes too often", retry_seconds);
}

std::unexpected<web::Failure> conflict(std::string message) {
  return std::unexpected(web::Failure{.status = 409, .message = std::move(message)});
}

}  // namespace change_detail

using namespace change_detail;

web::Answer cancel_customization(const Front& front, web::Call& call) {
  return changed(front, call, [](const Stored& from, Seconds now) -> std::expected<Customization, web::Failure> {
    if (is_final(from.job.state))
      return conflict(fmt::format("the customization is {} already", to_string(from.job.state)));
    return cancelled(from.job, now);
  });
}

web::Answer retry_customization(const Front& front, web::Call& call) {
  return changed(front, call, [&](const Stored& from, Seconds now) -> std::expected<Customization, web::Failure> {
    auto to = retried(from.job, front.runner.has_workspace(from), now);
    if (!to) return conflict(std::move(to.error()));
    if (const auto resumed = front.records().resume_trackings(from.job.id); !resumed)
      return std::unexpected(web::to_failure(resumed.error()));
    return std::move(*to);
  });
}

web::Answer delete_customization(const Front& front, web::Call& call) {
  for (int i = 0; i < most_tries; ++i) {
    Stored stored = TRY(find_customization(front, call));
    if (!is_final(stored.job.state))
      return web::Failure{.status = 409,
                          .message = fmt::format("the customization is {}; POST /v1/customizations/{}/cancel first",
                                                 to_string(stored.job.state), stored.job.name)};
    // From now on a retry finds nothing to go on with.
    if (!stored.job.cleared) {
      Customization cleared = stored.job;
      cleared.cleared = true;
      if (!TRY(front.records().store(stored, cleared))) continue;
      stored.job = std::move(cleared);
      ++stored.revision;
    }
    // First what it is made of: a row that is left can be deleted again, and objects without a row are nobody's.
    if (const auto cleaned = front.runner.clean_up(stored); !cleaned)
      return web::busy(fmt::format("it cannot be deleted yet: {}", cleaned.error().message), retry_seconds);
    if (!TRY(front.records().remove(stored))) continue;
    front.runner.wake();
    return http::Response{.status = 204};
  }
  return web::busy("it changes too often", retry_seconds);
}

}  // namespace stackgate::customizer
