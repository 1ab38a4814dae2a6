// Settings of task files as values of a type, with a finding for what has another one. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/evaluator/suite/harness/task_files.hpp"

namespace stackgate::evaluator::harness {

/// Absent and null read as nothing, and so does what is wrong.
class SettingReader {
 public:
  explicit SettingReader(validate::Findings& findings) : findings_(findings) {}

  static const Node* find(const Settings& settings, std::string_view key);
  static std::optional<Node> find(const Node& mapping, std::string_view key);

  std::string text(const std::optional<Node>& at, std::string_view fallback = {});
  bool flag(const std::optional<Node>& at, bool fallback);
  std::optional<std::uint32_t> number(const std::optional<Node>& at, std::uint32_t least, std::uint32_t most);
  std::optional<std::int64_t> integer(const std::optional<Node>& at);
  std::optional<double> real(const std::optional<Node>& at, double least, double most);
  /// One text, or a list of them; numbers are their digits.
  std::vector<std::string> texts(const Node& at);
  /// Each of a list, or nothing and a finding for what is none.
  std::vector<Node> items(const std::optional<Node>& at, std::string_view example);

  /// Members of a mapping must be among those that are known.
  void known_keys(const Node& mapping, std::span<const std::string_view> known, std::string_view what);
  /// Which of the names a text is; nothing, and a finding, for another one. `what`: "aggregation".
  std::optional<std::size_t> one_of(const Node& at, std::span<const std::string_view> names, std::string_view what);

  void wrong(const Node& at, std::string problem, std::string fix) {
    harness::wrong(findings_, at, std::move(problem), std::move(fix));
  }
  void warn(const Node& at, std::string problem, std::string fix) {
    harness::wrong(findings_, at, std::move(problem), std::move(fix), validate::Severity::warning);
  }
  /// Whether it is Python, which is refused.
  bool refuse_python(const Node& at);

 private:
  validate::Findings& findings_;
};

}  // namespace stackgate::evaluator::harness
