#include "services/puller/plan/progress.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "services/kit/json/write.hpp"

namespace stackgate::puller {
namespace progress_detail {

constexpr std::size_t bar_width = 24;

std::string size_text(double bytes) {
  constexpr const char* units[] = {"B", "kB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  for (; bytes >= 1000 && unit + 1 < std::size(units); ++unit) bytes /= 1000;
  return fmt::format("{:.{}f} {}", bytes, unit == 0 ? 0 : 1, units[unit]);
}

/// The reconciler reads signed numbers.
std::uint64_t bounded(std::uint64_t bytes) { return std::min<std::uint64_t>(bytes, INT64_MAX); }

}  // namespace progress_detail

int percent(const Progress& progress) {
  if (progress.total == 0) return 0;
  return static_cast<int>(std::min(
      100.0L, 100.0L * static_cast<long double>(progress.downloaded) / static_cast<long double>(progress.total)));
}

std::string progress_line(const Progress& progress) {
  return json::object_text([&](json::Writer& out) {
    out.member("downloadedBytes", progress_detail::bounded(progress.downloaded));
    out.member("totalBytes", progress_detail::bounded(progress.total));
    out.member("percent", percent(progress));
    out.member("file", std::string_view(progress.file));
  });
}

std::string progress_bar(const Progress& progress, double rate, std::size_t columns) {
  using namespace progress_detail;
  const int share = percent(progress);
  const auto full = bar_width * static_cast<std::size_t>(share) / 100;
  std::string out =
      fmt::format("[{}{}] {:3} % {} of {}  {}/s  {}", std::string(full, '#'), std::string(bar_width - full, '.'), share,
                  size_text(static_cast<double>(progress.downloaded)), size_text(static_cast<double>(progress.total)),
                  size_text(rate), progress.file);
  if (out.size() > columns) out.resize(columns);
  while (!out.empty() && static_cast<signed char>(out.back()) < 0) out.pop_back();  // no half character
  return out;
}

std::string report_patch(const Progress& progress, const std::optional<Failure>& failure,
                         const std::optional<Pulled>& pulled) {
  using progress_detail::bounded;
  return json::object_text([&](json::Writer& out) {
    out.object("data", [&] {
      out.member("downloadedBytes", std::to_string(bounded(progress.downloaded)));
      if (progress.total > 0) out.member("totalBytes", std::to_string(bounded(progress.total)));
      if (pulled) {
        std::string profiles;
        json::Writer list(profiles);
        list.array([&] {
          list.object([&] {
            list.member("name", std::string_view(pulled->model));
            list.member("release", std::string_view(pulled->revision));
            list.member("model", std::string_view(pulled->model));
          });
        });
        out.member("profiles", profiles);
      }
      out.key("reason");
      failure ? out.value(reason(failure->cause)) : out.value(nullptr);
      out.key("message");
      failure ? out.value(sentence(*failure)) : out.value(nullptr);
    });
  });
}

std::optional<Failure> fault_of_space(std::uint64_t missing, std::uint64_t free, std::string_view where) {
  const std::uint64_t needed = missing + missing / 100;
  if (needed <= free) return std::nullopt;
  return Failure{Cause::no_space,
                 fmt::format("no space left on device for the model: {} bytes are still to come, and {} has {} free",
                             missing, where, free),
                 "make the volume larger (storage.pvc.size); what was downloaded is kept"};
}

}  // namespace stackgate::puller
