#include "services/guardrail/colang/report.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "services/kit/base/concat.hpp"
#include "services/kit/base/utf8.hpp"
#include "services/kit/findings/nearest.hpp"

namespace stackgate::guardrail::colang {
namespace {

constexpr std::size_t most_findings = 200;
constexpr std::size_t most_hints = 100;
constexpr std::size_t most_compared = 1000;
constexpr std::size_t longest_shown = 60;

std::vector<std::uint32_t> beginnings_of_lines(std::string_view text) {
  std::vector<std::uint32_t> out{0};
  for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1))
    out.push_back(static_cast<std::uint32_t>(at + 1));
  return out;
}

std::size_t step(std::string_view text, std::size_t at) {
  return std::max<std::size_t>(1, utf8::sequence_length(text.substr(at)));
}

}  // namespace

Report::Report(std::span<const Source> sources) : sources_(sources) {
  lines_.reserve(sources.size());
  for (const Source& source : sources) lines_.push_back(beginnings_of_lines(source.text));
}

Place Report::place(std::uint32_t file, std::size_t offset) const {
  const std::string_view text = sources_[file].text;
  offset = std::min(offset, text.size());
  const auto& lines = lines_[file];
  const auto next = std::ranges::upper_bound(lines, static_cast<std::uint32_t>(offset));
  const auto line = static_cast<std::uint32_t>(next - lines.begin());
  const auto before = text.substr(lines[line - 1], offset - lines[line - 1]);
  const auto column =
      1 + static_cast<std::uint32_t>(std::ranges::count_if(before, [](char c) { return (c & 0xC0) != 0x80; }));
  return {.file = file, .line = line, .column = column};
}

std::size_t Report::offset(const Place& place) const {
  const std::string_view text = sources_[place.file].text;
  std::size_t at = lines_[place.file][place.line - 1];
  for (std::uint32_t column = 1; column < place.column && at < text.size(); ++column) at += step(text, at);
  return at;
}

std::string Report::where(const Place& place) const {
  return fmt::format("{}:{}:{}", sources_[place.file].name, place.line, place.column);
}

void Report::error(std::string_view rule, const Place& at, std::string problem, std::string fix) {
  add(validate::Severity::error, rule, at, std::move(problem), std::move(fix));
}

void Report::warning(std::string_view rule, const Place& at, std::string problem, std::string fix) {
  if (!sources_[at.file].built_in) add(validate::Severity::warning, rule, at, std::move(problem), std::move(fix));
}

void Report::add(validate::Severity severity, std::string_view rule, const Place& at, std::string problem,
                 std::string fix) {
  const bool is_error = severity == validate::Severity::error;
  // Warnings never keep an error from being told.
  if ((is_error ? errors_ : entries_.size() - errors_) >= most_findings) {
    full_ = true;
    return;
  }
  if (is_error) ++errors_;
  entries_.push_back({at,
                      {.rule = rule,
                       .severity = severity,
                       .path = where(at),
                       .value = {},
                       .problem = std::move(problem),
                       .fix = std::move(fix),
                       .offset = static_cast<std::uint32_t>(offset(at))}});
}

validate::Findings Report::take() {
  std::ranges::stable_sort(
      entries_,
      [](const Place& a, const Place& b) {
        return std::tie(a.file, a.line, a.column) < std::tie(b.file, b.line, b.column);
      },
      &Entry::place);
  validate::Findings out;
  for (Entry& entry : entries_) {
    const bool again = !out.empty() && out.back().path == entry.finding.path &&
                       out.back().problem == entry.finding.problem && out.back().offset == entry.finding.offset;
    if (!again) out.push_back(std::move(entry.finding));
  }
  if (full_ && !out.empty()) {
    const bool is_error = errors_ >= most_findings;
    out.push_back({.rule = rule::limit,
                   .severity = is_error ? validate::Severity::error : validate::Severity::warning,
                   .path = out.back().path,
                   .value = {},
                   .problem = fmt::format("there are more than {} findings; the others are not listed", most_findings),
                   .fix = "correct those above first",
                   .offset = out.back().offset});
  }
  entries_.clear();
  return out;
}

std::string Report::did_you_mean(std::string_view name, std::span<const std::string_view> known) {
  if (const auto found = hints_.find(name); found != hints_.end()) return found->second;
  if (hints_.size() >= most_hints) return {};
  const std::string_view like = validate::nearest(name, known.first(std::min(known.size(), most_compared)));
  return hints_.emplace(name, like.empty() ? std::string() : concat({"; did you mean \"", like, "\"?"})).first->second;
}

std::string shown(std::string_view text) {
  std::string out = "\"";
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); at += step(text, at)) {
    if (++count > longest_shown) {
      out += "…";
      break;
    }
    const std::size_t length = utf8::sequence_length(text.substr(at));
    const bool plain = length > 1 || (length == 1 && static_cast<unsigned char>(text[at]) >= ' ' && text[at] != '\x7f');
    if (plain)
      out += text.substr(at, length);
    else
      out += length == 1 ? " " : "?";
  }
  return out + "\"";
}

}  // namespace stackgate::guardrail::colang
