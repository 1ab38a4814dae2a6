#include "services/evaluator/pages/views/runs.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "services/evaluator/api/framework.hpp"
#include "services/kit/html/words.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"

namespace stackgate::evaluator::pages {
namespace runs_detail {

constexpr std::size_t most_tasks = 200;

html::Html filter(const RunsView& view) {
  return html::piece(
      R"(<form class="filter" method="get" action="{}"><label>State <select name="state">{}</select></label>
<label>Framework <select name="framework">{}</select></label><button>Show</button></form>)",
      at_root.to("/"), html::options(state_names, view.state, "all"),
      html::options(framework_names, view.framework, "all"));
}

html::Html row(const Evaluation& each, std::int64_t now) {
  json::Document document;
  const json::Value request = json::parse(each.request, document).value_or(json::Value());
  html::Html pick;
  if (each.state == State::completed)
    pick.put(R"(<input type="checkbox" name="evaluations" value="{}" aria-label="Compare {}">)", each.name, each.name);
  html::Html state = state_badge(each.state);
  if (!is_final(each.state)) state.put(" {}", html::progress_bar(read_progress(each.progress).percent));
  return html::piece(
      R"(<tr><td>{}</td><td class="name"><a href="{}">{}</a></td><td>{}</td><td>{}</td><td class="cut">{}</td><td>{}</td></tr>)",
      pick, at_root.to(path_of(each.name)), each.name, state, json::text(&request, {"framework"}),
      json::text(&request, {"model"}), html::time_tag(each.created_at, now));
}

html::Html pager(const RunsView& view) {
  const auto to = [&](std::uint64_t page) {
    return at_root.to(
        html::with_query("/", {{"state", view.state}, {"framework", view.framework}, {"page", std::to_string(page)}}));
  };
  return html::pager(view.page, view.pages, to(view.page - 1), to(view.page + 1));
}

}  // namespace runs_detail

ShownProgress read_progress(std::string_view text) {
  ShownProgress out;
  json::Document document;
  const auto root = json::parse(text, document, {.max_depth = 32, .max_bytes = 4U << 20U});
  if (!root) return out;
  const json::Value percent = json::value_at(&*root, {"progress"});
  if (percent.is_number()) out.percent = std::clamp(percent.number(), 0.0, 100.0);
  out.message = json::text(&*root, {"message"});
  for (const json::Member& each : json::members(&*root, {"task_status"})) {
    if (out.tasks.size() >= runs_detail::most_tasks) break;
    out.tasks.emplace_back(each.key, each.value.string());
  }
  return out;
}

html::Html runs_page(const RunsView& view) {
  using namespace runs_detail;
  html::Html rows, list;
  for (const Evaluation& each : view.rows) rows.put("{}", row(each, view.now));
  if (view.rows.empty())
    list.put("{}", html::empty_words(view.state.empty() && view.framework.empty()
                                         ? "There are no evaluations yet: POST /v1/evaluations makes one."
                                         : "No evaluation is like that."));
  else
    list.put(
        R"(<form method="get" action="{}"><div class="wrap"><table class="list"><caption class="away">Evaluations</caption>
<thead><tr><th><span class="away">Compare</span></th><th>Name</th><th>State</th><th>Framework</th><th>Model</th><th>Made</th></tr></thead>
<tbody>{}</tbody></table></div><p><button>Compare the chosen ones</button></p></form>{})",
        at_root.to("/comparisons"), rows, view.pages > 1 ? pager(view) : html::Html());
  return html::piece(R"(<h1>Evaluations</h1><p class="quiet">{}</p>{}{})", html::counted(view.total, "evaluation"),
                     filter(view), list);
}

}  // namespace stackgate::evaluator::pages
