#include "services/customizer/runs/stage_log.hpp"

#include <fmt/format.h>

#include "services/customizer/objects/names.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::customizer {
namespace stage_log_detail {

constexpr std::int64_t most_lines = 5'000;  // of an attempt
constexpr std::size_t longest_line = 4'000;
constexpr std::string_view cut_mark = " … (cut)";

/// What databases take as text: no NUL, and UTF-8.
std::string storable(std::string_view line) {
  std::string out;
  json::append_quoted(out, line.substr(0, longest_line));
  json::Document document;
  const auto root = json::parse(out, document);
  std::string text(root ? root->string() : std::string_view());
  std::erase(text, '\0');
  if (line.size() > longest_line) text += cut_mark;
  return text;
}

/// Whether reports that events say were made have not arrived.
bool is_behind(const Progress& known, const Progress& written) {
  return known.step < written.step || known.validated_step < written.validated_step ||
         (known.sha256.empty() && !written.sha256.empty()) || (known.error.empty() && !written.error.empty());
}

}  // namespace stage_log_detail

using namespace stage_log_detail;

bool is_event(std::string_view line) { return line.starts_with("{\"event\":"); }

bool StageLog::take(Records& records, Executor& executor, const Work& work, Stage stage, bool ended) {
  const std::string attempt = fmt::format("{}-{}", short_name(stage), work.stored.job.stage(stage).attempts);
  // A trainer that ends while nobody takes its reports leaves them in its log alone: all of it is read again, in order.
  if (ended && is_behind(read_progress(work.stored.job.progress), passed_over_)) attempt_.clear();
  if (attempt != attempt_) {
    const auto stored = records.log_lines(work.job.id, attempt);
    if (!stored) return false;
    attempt_ = attempt;
    offset_ = 0;
    lines_ = 0;
    skip_ = *stored;
    passed_over_ = {};
  }
  bool counted = false;
  for (;;) {
    std::uint64_t offset = offset_;
    const auto text = executor.log(work, stage, offset);
    if (!text) {
      log::warning("a stage's log could not be read",
                   {{"customization", work.stored.job.name}, {"reason", text.error().message}});
      return counted;
    }
    if (text->empty()) return counted;
    std::vector<std::string> lines, events;
    std::int64_t seen = lines_;
    for (std::string_view rest = *text; !rest.empty();) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(rest.size(), line.size() + 1));
      if (is_event(line)) {
        if (ended)
          events.emplace_back(line);
        else
          (void)apply_report(passed_over_, line, work.job.id);
        continue;
      }
      ++seen;
      if (seen > skip_ && seen <= most_lines) lines.push_back(storable(line));
    }
    if ((!events.empty() && !records.report_logged(work.job.id, events)) ||
        (!lines.empty() && !records.add_log(work.job.id, attempt, lines))) {
      attempt_.clear();  // read again, from the beginning
      return counted;
    }
    counted = counted || !events.empty();
    lines_ = seen;
    offset_ = offset;
  }
}

}  // namespace stackgate::customizer
