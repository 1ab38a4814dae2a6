// Loss curves. Pure.
#pragma once
#include <span>

#include "services/customizer/job/progress.hpp"
#include "services/kit/html/html.hpp"

namespace stackgate::customizer::pages {

/// Training and validation over steps; words where there is no loss yet.
html::Html curves(std::span<const MetricPoint> points);

}  // namespace stackgate::customizer::pages
