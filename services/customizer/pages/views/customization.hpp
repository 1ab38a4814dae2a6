// One customization: its stages, why it waits, loss curves, events, log. Pure.
#pragma once
#include <span>
#include <string_view>

#include "services/customizer/job/progress.hpp"
#include "services/customizer/pages/views/list.hpp"
#include "services/customizer/records/records.hpp"

namespace stackgate::customizer::pages {

struct CustomizationView {
  const Customization& job;
  std::span<const MetricPoint> points{};
  std::span<const Event> events{}, lines{};  // the last ones: what happened, and what stages wrote
  std::string_view entitystore_url{};        // "": its adapter has no link
  Seconds now = 0;
};
html::Html customization_page(const CustomizationView& view);
/// The part of it that changes until its end: what the script asks for.
html::Html live_part(const CustomizationView& view);

}  // namespace stackgate::customizer::pages
