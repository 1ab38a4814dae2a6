#include "services/evaluator/pages/views/samples.hpp"

#include <algorithm>

#include "services/evaluator/pages/views/diff.hpp"
#include "services/kit/base/utf8.hpp"
#include "services/kit/charts/charts.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::evaluator::pages {
namespace samples_detail {

constexpr std::size_t longest_text = 16'384, most_scores = 50;

std::string shortened(std::string_view text) {
  if (text.size() <= longest_text) return std::string(text);
  std::size_t end = longest_text;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) --end;
  return std::string(text.substr(0, end)) + " …";
}

/// A text; of a list with one member that one; of anything else its JSON.
std::string text_of(const json::Value& value) {
  if (value.is_string()) return shortened(value.string());
  if (value.is_array() && value.items().size() == 1) return text_of(value.items()[0]);
  return shortened(json::to_json(value));
}

std::string first_of(const json::Value& record, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names)
    if (const json::Value* found = record.find(name); found != nullptr && !found->is_null()) return text_of(*found);
  return {};
}

html::Html side(const std::vector<DiffPart>& parts, bool is_left) {
  html::Html out;
  for (const DiffPart& each : parts) {
    if (!each.differs)
      out.put("{}", each.text);
    else
      is_left ? out.put("<del>{}</del>", each.text) : out.put("<ins>{}</ins>", each.text);
  }
  return out;
}

html::Html texts(const ShownSample& shown) {
  html::Html out;
  if (shown.expected.empty()) return out.put(R"(<div class="side"><h3>Answer</h3><pre>{}</pre></div>)", shown.answer);
  const Diff diff = diff_of(shown.expected, shown.answer);
  return out.put(
      R"(<div class="sides"><div class="side"><h3>Expected</h3><pre>{}</pre></div><div class="side"><h3>Answer</h3><pre>{}</pre></div></div>)",
      side(diff.left, true), side(diff.right, false));
}

html::Html sample(const Sample& row) {
  const ShownSample shown = read_shown_sample(row.record);
  html::Html scores, notes, question;
  for (const auto& [name, value] : shown.scores) scores.put(R"(<li>{} <b>{}</b></li>)", name, value);
  if (!shown.fault.empty()) notes.put(R"(<p class="notice bad">{}</p>)", shown.fault);
  if (!shown.reason.empty()) notes.put(R"(<p class="quiet reason">{}</p>)", shown.reason);
  if (!shown.question.empty()) question.put(R"(<h3>Question</h3><pre>{}</pre>)", shown.question);
  return html::piece(
      R"(<article class="sample" id="sample-{}"><h2><a href="#sample-{}">Sample {}</a></h2><ul class="sample-scores">{}</ul>{}{}{}<details><summary>Record</summary><pre>{}</pre></details></article>)",
      row.number, row.number, row.number, scores, notes, question, texts(shown), shortened(row.record));
}

}  // namespace samples_detail

ShownSample read_shown_sample(std::string_view record) {
  using namespace samples_detail;
  ShownSample out;
  json::Document document;
  const auto root = json::parse(record, document, {.max_depth = 64, .max_bytes = 16U << 20U});
  if (!root) return out;
  out.question = first_of(*root, {"prompt", "question", "messages", "arguments", "goal"});
  out.expected = first_of(*root, {"reference", "references", "target", "expected"});
  out.answer = first_of(*root, {"output_text", "response", "answer", "filtered_resps", "resps", "answers", "programs"});
  out.fault = first_of(*root, {"fault", "skipped"});
  out.reason = first_of(*root, {"reason", "judge"});
  for (const json::Member& each : json::members(&*root, {"scores"})) {
    if (out.scores.size() >= most_scores) break;
    out.scores.emplace_back(each.key,
                            each.value.is_number() ? charts::number_words(each.value.number()) : text_of(each.value));
  }
  return out;
}

html::Html samples_page(const SamplesView& view) {
  using namespace samples_detail;
  html::Html tabs, list, pages;
  for (const std::string& each : view.tasks) {
    const html::Link link = at_samples.to(path_of_samples(view.evaluation.name, each));
    each == view.task ? tabs.put(R"(<a href="{}" aria-current="page">{}</a>)", link, each)
                      : tabs.put(R"(<a href="{}">{}</a>)", link, each);
  }
  for (const Sample& each : view.rows) list.put("{}", sample(each));
  if (view.rows.empty()) list.put("{}", html::empty_words("There are no samples here."));
  if (view.after >= 0)
    pages.put(R"(<a href="{}">First page</a> )", at_samples.to(path_of_samples(view.evaluation.name, view.task)));
  if (view.more && !view.rows.empty())
    pages.put(R"(<a rel="next" href="{}">Next page</a>)",
              at_samples.to(path_of_samples(view.evaluation.name, view.task, view.rows.back().number)));
  return html::piece(
      R"(<p class="crumbs"><a href="{}">Evaluations</a> / <a href="{}">{}</a></p><h1>Samples of {}</h1><nav class="tabs" aria-label="Tasks">{}</nav>{}<nav class="pages" aria-label="Pages">{}</nav>)",
      at_samples.to("/"), at_samples.to(path_of(view.evaluation.name)), view.evaluation.name, view.task, tabs, list,
      pages);
}

}  // namespace stackgate::evaluator::pages
