#include "services/guardrail/memory/upkeep.hpp"

#include <algorithm>

#include "services/kit/log/log.hpp"

namespace stackgate::guardrail {
namespace {

using std::chrono::milliseconds;

milliseconds renewal_pause(const Conversations& conversations) {
  return std::max(milliseconds(100), milliseconds(conversations.options().lease) / 3);
}

milliseconds sweep_pause(const Conversations& conversations) {
  constexpr milliseconds longest{60'000};
  return std::clamp(milliseconds(conversations.options().expiry) / 4, milliseconds(250), longest);
}

}  // namespace

Upkeep::Upkeep(Conversations& conversations)
    : renewal_(renewal_pause(conversations),
               [&conversations](const std::stop_token&) {
                 if (const auto done = conversations.renew(); !done)
                   log::warning("locks of conversations were not renewed", {{"error", done.error().message}});
                 return renewal_pause(conversations);
               }),
      sweep_(sweep_pause(conversations), [&conversations](const std::stop_token& stop) {
        std::int64_t removed = 0;
        while (!stop.stop_requested()) {
          const auto done = conversations.remove_expired();
          if (!done) log::warning("expired conversations were not removed", {{"error", done.error().message}});
          if (!done || *done == 0) break;
          removed += *done;
        }
        if (removed > 0) log::info("expired conversations removed", {{"count", removed}});
        return sweep_pause(conversations);
      }) {}

}  // namespace stackgate::guardrail
