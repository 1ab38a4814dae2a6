// Records of samples as lm-evaluation-harness logs them (--log_samples). Pure.
// Source: its evaluation_tracker's samples_<task>_<time>.jsonl.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace stackgate::evaluator {

/// One sample of a framework as this service stores its own: {"item", "prompt", "output_text", "reference", "scores"}.
struct FrameworkSample {
  std::string task{};
  std::int64_t number = 0;
  std::string record{};  // JSON object
};

/// "samples_gsm8k_2026-01-01T00-00-00.123.jsonl" is of the task "gsm8k".
std::string_view task_of_samples(std::string_view file);

/// By the name of their file. Lines of one document, which differ by filter, are one sample with the scores of all;
/// lines that are no records are passed over. At most 10,000 of a file.
std::vector<FrameworkSample> read_framework_samples(const std::map<std::string, std::string, std::less<>>& files);

}  // namespace stackgate::evaluator
