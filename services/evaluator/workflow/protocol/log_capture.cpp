#include "services/evaluator/workflow/protocol/log_capture.hpp"

#include "services/kit/base/ascii.hpp"
#include "services/kit/base/base64.hpp"
#include "services/kit/base/number.hpp"

namespace stackgate::evaluator {
namespace log_capture_detail {

constexpr std::string_view results_mark = "stackgate-results", samples_mark = "stackgate-samples";
constexpr std::size_t most_pods = 100, most_files = 1'000, tail_lines = 50;

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
  if (line.starts_with(results_mark)) return marked(pod, Pod::Open::results, line.substr(results_mark.size()));
  if (line.starts_with(samples_mark)) return marked(pod, Pod::Open::samples, line.substr(samples_mark.size()));
  line = line.substr(0, longest_log_line);
  if (line.find_first_not_of(" \t\r") == std::string_view::npos) return;
  last_ = line;
  tail_.emplace_back(line);
  if (tail_.size() > tail_lines) tail_.pop_front();
  if (take) take(line);
}

void LogCapture::marked(Pod& pod, Pod::Open kind, std::string_view rest) {
  if (rest.ends_with('\r')) rest.remove_suffix(1);
  const auto close = [&pod] { pod = {.seen = pod.seen, .at = pod.at}; };
  if (rest.starts_with("-begin")) {
    close();
    pod.open = kind;
    rest.remove_prefix(std::string_view("-begin").size());
    if (rest.starts_with(": ")) pod.file = rest.substr(2);
  } else if (rest.starts_with(": ") && pod.open == kind) {
    pod.base64.append(rest.substr(2));
    const std::size_t most = kind == Pod::Open::results ? largest_results : largest_samples;
    if (pod.base64.size() > most / 3 * 4 + 4) close();
  } else if (rest.starts_with("-end: ") && pod.open == kind) {
    keep(pod, rest.substr(6));
    close();
  }
}

/// As many bytes as were announced, or nothing.
void LogCapture::keep(Pod& pod, std::string_view bytes) {
  auto text = base64::decode(pod.base64);
  if (!text || to_number<std::uint64_t>(bytes) != text->size()) return;
  if (pod.open == Pod::Open::results) {
    results_ = std::move(text);
    return;
  }
  // A pod that took another's place prints them again.
  if (const auto before = samples_.find(pod.file); before != samples_.end()) {
    sample_bytes_ -= before->second.size();
    samples_.erase(before);
  }
  if (samples_.size() >= log_capture_detail::most_files || sample_bytes_ + text->size() > largest_samples) return;
  sample_bytes_ += text->size();
  samples_.emplace(std::move(pod.file), *std::move(text));
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
