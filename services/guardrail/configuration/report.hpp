// Findings of a configuration while it is read: places become "default/config.yml:12:3". Belongs to one thread.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "services/guardrail/configuration/configuration.hpp"
#include "services/guardrail/configuration/tree.hpp"
#include "services/kit/findings/finding.hpp"

namespace stackgate::guardrail {

/// Stable ids.
namespace rule {
inline constexpr std::string_view yaml = "guardrail-yaml";
inline constexpr std::string_view type = "guardrail-type";
inline constexpr std::string_view value = "guardrail-value";
inline constexpr std::string_view missing = "guardrail-missing";
inline constexpr std::string_view unknown_key = "guardrail-unknown-key";
inline constexpr std::string_view unsupported = "guardrail-unsupported";
inline constexpr std::string_view secret = "guardrail-secret";
inline constexpr std::string_view model = "guardrail-model";
inline constexpr std::string_view rail = "guardrail-rail";
inline constexpr std::string_view prompt = "guardrail-prompt";
inline constexpr std::string_view pattern = "guardrail-pattern";
inline constexpr std::string_view streaming = "guardrail-streaming";
inline constexpr std::string_view files = "guardrail-files";
inline constexpr std::string_view conflict = "guardrail-conflict";
}  // namespace rule

class Report {
 public:
  /// `files` must outlive it.
  explicit Report(const std::vector<File>& files);
  ~Report();
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;

  /// `key`: "rails.input.flows[1]".
  void error(std::string_view rule, Origin at, std::string_view key, std::string problem, std::string fix);
  void warning(std::string_view rule, Origin at, std::string_view key, std::string problem, std::string fix);
  /// Of a whole file, or of none.
  void file_error(std::string_view rule, std::string_view shown, std::string problem, std::string fix);
  void file_warning(std::string_view rule, std::string_view shown, std::string problem, std::string fix);
  /// As others found it.
  void add(validate::Finding finding);

  /// "default/config.yml:12:3".
  std::string where(Origin at) const;
  /// 1-based line and column.
  colang::Place place(Origin at) const;
  bool failed() const { return failed_; }
  /// In the order in which they were found: at most 200, then one that says how many more there are.
  validate::Findings take();

 private:
  void found(validate::Severity severity, std::string_view rule, std::string path, std::string problem, std::string fix,
             std::uint32_t offset);

  const std::vector<File>& files_;
  struct State;
  std::unique_ptr<State> state_;
  bool failed_ = false;
};

/// "; did you mean \"NAME\"?" or nothing.
std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& known);
/// In quotes, of at most 80 bytes and without line ends.
std::string in_quotes(std::string_view text);

}  // namespace stackgate::guardrail
