#include "services/kit/charts/charts.hpp"

namespace stackgate::charts {

// Six colours that are told apart by who sees no red or no green, too (Okabe and Ito, 2008), without their yellow.
const std::string_view style = R"(.chart { margin: 0 0 20px; }
.chart svg { width: 100%; height: auto; max-width: 900px; display: block; }
.chart text { font-size: 12px; fill: var(--ink, currentColor); }
.chart .chart-tick { fill: var(--soft, currentColor); font-size: 11px; }
.chart-grid { stroke: var(--line, #ccc); stroke-width: 1; }
.chart-error { stroke: var(--ink, currentColor); stroke-width: 1.5; fill: none; }
.chart-line { fill: none; stroke-width: 2; }
.chart-legend { list-style: none; display: flex; flex-wrap: wrap; gap: 4px 18px; margin: 8px 0 0; padding: 0; font-size: 13px; }
.chart-key { display: inline-block; width: 12px; height: 12px; border-radius: 3px; margin-right: 6px; }
.chart-bar.series-0 { fill: #0072b2; } .chart-line.series-0 { stroke: #0072b2; } .chart-key.series-0 { background: #0072b2; }
.chart-bar.series-1 { fill: #d55e00; } .chart-line.series-1 { stroke: #d55e00; } .chart-key.series-1 { background: #d55e00; }
.chart-bar.series-2 { fill: #009e73; } .chart-line.series-2 { stroke: #009e73; } .chart-key.series-2 { background: #009e73; }
.chart-bar.series-3 { fill: #cc79a7; } .chart-line.series-3 { stroke: #cc79a7; } .chart-key.series-3 { background: #cc79a7; }
.chart-bar.series-4 { fill: #56b4e9; } .chart-line.series-4 { stroke: #56b4e9; } .chart-key.series-4 { background: #56b4e9; }
.chart-bar.series-5 { fill: #e69f00; } .chart-line.series-5 { stroke: #e69f00; } .chart-key.series-5 { background: #e69f00; }
)";

}  // namespace stackgate::charts
