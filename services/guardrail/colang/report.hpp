// Where faults are collected while sources are read: places of files, and findings in their order.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/guardrail/colang/compile.hpp"

namespace stackgate::guardrail::colang {

/// Stable ids of the compiler's findings.
namespace rule {
inline constexpr std::string_view syntax = "colang-syntax";
inline constexpr std::string_view indentation = "colang-indentation";
inline constexpr std::string_view version = "colang-version";
inline constexpr std::string_view expression = "colang-expression";
inline constexpr std::string_view text = "colang-text";
inline constexpr std::string_view flow = "colang-flow";
inline constexpr std::string_view action = "colang-action";
inline constexpr std::string_view intent = "colang-intent";
inline constexpr std::string_view message = "colang-message";
inline constexpr std::string_view variable = "colang-variable";
inline constexpr std::string_view unreachable = "colang-unreachable";
inline constexpr std::string_view loop = "colang-loop";
inline constexpr std::string_view label = "colang-label";
inline constexpr std::string_view duplicate = "colang-duplicate";
inline constexpr std::string_view limit = "colang-limit";
}  // namespace rule

/// Findings with their places. The sources must outlive it.
class Report {
 public:
  explicit Report(std::span<const Source> sources);

  /// The place of the byte at `offset` of a file.
  Place place(std::uint32_t file, std::size_t offset) const;
  std::size_t offset(const Place& place) const;
  std::string where(const Place& place) const;

  void error(std::string_view rule, const Place& at, std::string problem, std::string fix);
  /// Not of built-in files: their users cannot change them.
  void warning(std::string_view rule, const Place& at, std::string problem, std::string fix);

  /// "; did you mean \"NAME\"?" or nothing. Only for the first names that are asked for: it costs time.
  std::string did_you_mean(std::string_view name, std::span<const std::string_view> known);

  bool empty() const { return entries_.empty(); }
  /// In the order of files and places; each once. At most 200, then one that says so.
  validate::Findings take();

 private:
  struct Entry {
    Place place;
    validate::Finding finding;
  };
  void add(validate::Severity severity, std::string_view rule, const Place& at, std::string problem, std::string fix);

  std::span<const Source> sources_;
  std::vector<std::vector<std::uint32_t>> lines_;  // offsets of the beginnings of lines, by file
  std::vector<Entry> entries_;
  std::map<std::string, std::string, std::less<>> hints_;
  std::size_t errors_ = 0;
  bool full_ = false;
};

/// In quotes for a sentence, shortened, without bytes that are no text.
std::string shown(std::string_view text);

}  // namespace stackgate::guardrail::colang
