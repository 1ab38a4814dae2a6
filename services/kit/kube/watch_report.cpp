#include "services/kit/kube/watch_report.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include <fmt/format.h>

namespace stackgate::kube {
namespace {

std::string in_words(const WatchReport& report) {
  return report.ns.empty() ? report.type : fmt::format("{} in namespace {}", report.type, report.ns);
}

bool is_unlisted(const WatchReport& report) { return report.coverage == Coverage::unlisted; }

}  // namespace

std::string_view to_string(Coverage coverage) {
  static constexpr std::array<std::string_view, 5> names{"unlisted", "listed", "absent", "refused", "outside"};
  return names[static_cast<std::size_t>(coverage)];
}

std::string first_lists_problem(std::span<const WatchReport> reports) {
  const auto unlisted = std::ranges::count_if(reports, is_unlisted);
  if (unlisted == 0) return "the first lists are not complete yet";  // they are being handed out
  std::string out = fmt::format("{} of {} first lists are not complete yet", unlisted, reports.size());
  const auto failed = std::ranges::find_if(
      reports, [](const WatchReport& each) { return is_unlisted(each) && !each.health.last_error.empty(); });
  if (failed != reports.end())
    fmt::format_to(std::back_inserter(out), ", {}: {}", in_words(*failed), failed->health.last_error);
  return out;
}

std::string unseen_types(std::span<const WatchReport> reports) {
  std::string out;
  for (const WatchReport& each : reports)
    if (each.coverage == Coverage::refused)
      fmt::format_to(std::back_inserter(out), "{}{}", out.empty() ? "" : ", ", in_words(each));
  return out;
}

}  // namespace stackgate::kube
