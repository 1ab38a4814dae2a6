#include "services/guardrail/configuration/report.hpp"

#include <optional>

#include <fmt/format.h>

#include "services/kit/base/concat.hpp"
#include "services/kit/base/utf8.hpp"
#include "services/kit/findings/nearest.hpp"
#include "services/kit/yaml/lines.hpp"

namespace stackgate::guardrail {
namespace {

constexpr std::size_t most_findings = 200;

}  // namespace

struct Report::State {
  validate::Findings findings;
  std::size_t more = 0;
  std::vector<std::optional<yaml::Lines>> lines;  // of each file, when it was first asked for
};

Report::Report(const std::vector<File>& files) : files_(files), state_(std::make_unique<State>()) {
  state_->lines.resize(files.size());
}
Report::~Report() = default;

colang::Place Report::place(Origin at) const {
  if (at.file >= files_.size()) return {};
  auto& lines = state_->lines[at.file];
  if (!lines) lines.emplace(files_[at.file].text);
  const yaml::Place place = lines->locate(at.offset);
  return {at.file, place.line, place.column};
}

std::string Report::where(Origin at) const {
  if (at.file >= files_.size()) return {};
  const colang::Place found = place(at);
  return fmt::format("{}:{}:{}", files_[at.file].shown, found.line, found.column);
}

void Report::found(validate::Severity severity, std::string_view rule, std::string path, std::string problem,
                   std::string fix, std::uint32_t offset) {
  add({.rule = rule,
       .severity = severity,
       .path = std::move(path),
       .problem = std::move(problem),
       .fix = std::move(fix),
       .offset = offset});
}

void Report::add(validate::Finding finding) {
  if (finding.severity == validate::Severity::error) failed_ = true;
  if (state_->findings.size() >= most_findings) {
    ++state_->more;
    return;
  }
  state_->findings.push_back(std::move(finding));
}

void Report::error(std::string_view rule, Origin at, std::string_view key, std::string problem, std::string fix) {
  found(validate::Severity::error, rule, key.empty() ? where(at) : concat({where(at), " ", key}), std::move(problem),
        std::move(fix), at.offset);
}
void Report::warning(std::string_view rule, Origin at, std::string_view key, std::string problem, std::string fix) {
  found(validate::Severity::warning, rule, key.empty() ? where(at) : concat({where(at), " ", key}), std::move(problem),
        std::move(fix), at.offset);
}
void Report::file_error(std::string_view rule, std::string_view shown, std::string problem, std::string fix) {
  found(validate::Severity::error, rule, std::string(shown), std::move(problem), std::move(fix), 0);
}
void Report::file_warning(std::string_view rule, std::string_view shown, std::string problem, std::string fix) {
  found(validate::Severity::warning, rule, std::string(shown), std::move(problem), std::move(fix), 0);
}

validate::Findings Report::take() {
  if (state_->more > 0)
    state_->findings.push_back({.rule = rule::files,
                                .severity = failed_ ? validate::Severity::error : validate::Severity::warning,
                                .problem = fmt::format("there are {} more findings", state_->more),
                                .fix = "correct these first"});
  return std::move(state_->findings);
}

std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& known) {
  const std::string_view near = validate::nearest(word, known);
  return near.empty() ? std::string() : concat({"; did you mean \"", near, "\"?"});
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t longest = 80;
  std::string out = "\"";
  std::size_t at = 0;
  while (at < text.size() && at < longest) {
    const std::size_t length = utf8::sequence_length(text.substr(at));
    const char c = text[at];
    if (length == 0 || static_cast<unsigned char>(c) < 0x20 || c == 0x7F)
      out += ' ';
    else
      out += text.substr(at, length);
    at += length == 0 ? 1 : length;
  }
  return out += at < text.size() ? "…\"" : "\"";
}

}  // namespace stackgate::guardrail
