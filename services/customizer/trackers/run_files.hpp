// Small files that describe a customization which has ended, for trackers that keep files.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "services/customizer/records/records.hpp"

namespace stackgate::customizer {

struct RunFile {
  std::string name{}, content{};
};

/// config.json (as the trainer got it), customization.json (the record, as GET shows it), metrics.csv, and
/// customization.log: the end of its events and of what its stages wrote, as GET …/logs shows it.
sql::Expected<std::vector<RunFile>> files_of(const Customization& job, const Records& records);

// Pure.

/// A line for each point, behind one that names the columns; what a point has not is empty.
std::string metrics_csv(std::span<const MetricPoint> points);
/// A line for each, in the order of their numbers; of the end at most `most` bytes, in whole lines.
std::string log_text(std::vector<Event> events, std::size_t most);

}  // namespace stackgate::customizer
