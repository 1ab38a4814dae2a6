// The log of a workflow's pods, put together from streams that were cut and begun again, with results and samples in
// it. Pure; not thread-safe.
//
//   stackgate-samples-begin: samples_gsm8k_2026-01-01T00-00-00.jsonl
//   stackgate-samples: <base64, in parts>
//   stackgate-samples-end: <bytes>
//   stackgate-results-begin
//   stackgate-results: <base64, in parts>
//   stackgate-results-end: <bytes>
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stackgate::evaluator {

inline constexpr std::size_t largest_results = 32U << 20U;  // bytes
inline constexpr std::size_t largest_samples = 8U << 20U;   // bytes, of all files
inline constexpr std::size_t longest_log_line = 8'192;      // bytes; the rest is left out

class LogCapture {
 public:
  using Line = std::function<void(std::string_view line)>;

  /// A stream begins: it has the pods' logs from their beginning.
  void begin();
  /// Lines that were there in an earlier stream are passed over; marked ones are kept and not handed on.
  void add(std::string_view pod, std::string_view line, const Line& take);

  /// Whole: as many bytes as were announced.
  const std::optional<std::string>& results() const { return results_; }
  /// By the name of their file; those that are whole.
  const std::map<std::string, std::string, std::less<>>& samples() const { return samples_; }
  std::vector<std::string> tail() const { return {tail_.begin(), tail_.end()}; }
  const std::string& last_line() const { return last_; }

 private:
  struct Pod {
    std::uint64_t seen = 0, at = 0;  // lines; `at` in this stream
    enum class Open : std::uint8_t { nothing, results, samples };
    Open open = Open::nothing;
    std::string file{};  // of the samples
    std::string base64{};
  };
  void marked(Pod& pod, Pod::Open kind, std::string_view rest);
  void keep(Pod& pod, std::string_view bytes);

  std::map<std::string, Pod, std::less<>> pods_{};
  std::optional<std::string> results_{};
  std::map<std::string, std::string, std::less<>> samples_{};
  std::size_t sample_bytes_ = 0;
  std::deque<std::string> tail_{};
  std::string last_{};
};

/// How far it is, of "Requesting API:  45%|███ …"; nothing: the line does not say.
std::optional<double> percent_in(std::string_view line);

}  // namespace stackgate::evaluator
