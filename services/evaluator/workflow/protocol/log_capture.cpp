#include "services/evaluator/workflow/protocol/log_capture.hpp"

#include "services/kit/base/ascii.hpp"
#include "services/kit/base/base64.hpp"
#include "services/kit/base/number.hpp"

namespace stackgate::evaluator {
namespace log_capture_detail {

constexpr std::string_view mark = "stackgate-results";
constexpr std::size_t most_pods = 100, tail_lines = 50;

}  // namespace log_capture_detail

void LogCapture::begin() {
  for (auto& [name, pod] : pods_) pod.at = 0;
}

void LogCapture::add(std::string_view name, std::string_view line, const Line& take) {
  using namespace log_capture_detail;
  auto found = pods_.find(name);
  if (found == pods_.end()) {
    if (pods_.size() >= most_pods) return;
    found = pods_.emplace(name, Pod()).first;
  }
  Pod& pod = found->second;
  if (++pod.at <= pod.seen) return;
  pod.seen = pod.at;
  if (line.starts_with(mark)) return marked(pod, line.substr(mark.size()));
  line = line.substr(0, longest_log_line);
  if (line.find_first_not_of(" \t\r") == std::string_view::npos) return;
  last_ = line;
  tail_.emplace_back(line);
  if (tail_.size() > tail_lines) tail_.pop_front();
  if (take) take(line);
}

void LogCapture::marked(Pod& pod, std::string_view rest) {
  if (rest.ends_with('\r')) rest.remove_suffix(1);
  if (rest == "-begin") {
    pod.is_open = true;
    pod.base64.clear();
  } else if (rest.starts_with(": ") && pod.is_open) {
    pod.base64.append(rest.substr(2));
    if (pod.base64.size() > largest_results / 3 * 4 + 4) pod = {.seen = pod.seen, .at = pod.at};
  } else if (rest.starts_with("-end: ") && pod.is_open) {
    auto text = base64::decode(pod.base64);
    if (text && to_number<std::uint64_t>(rest.substr(6)) == text->size()) results_ = std::move(text);
    pod = {.seen = pod.seen, .at = pod.at};
  }
}

std::optional<double> percent_in(std::string_view line) {
  const std::size_t bar = line.rfind("%|");
  if (bar == std::string_view::npos) return std::nullopt;
  std::size_t begin = bar;
  while (begin > 0 && ascii::is_digit(line[begin - 1])) --begin;
  const auto number = to_number<std::uint32_t>(line.substr(begin, bar - begin));
  if (!number || *number > 100) return std::nullopt;
  return *number;
}

}  // namespace stackgate::evaluator
