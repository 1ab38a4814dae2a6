#include "services/evaluator/pages/views/evaluation.hpp"

#include <string>

#include <fmt/format.h>

#include "services/evaluator/pages/views/runs.hpp"
#include "services/evaluator/suite/results.hpp"
#include "services/kit/html/words.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::evaluator::pages {
namespace evaluation_detail {

html::Html status(const EvaluationView& view) {
  const Evaluation& each = view.evaluation;
  const ShownProgress progress = read_progress(each.progress);
  html::Html out, tasks, message;
  const std::string& words = each.message.empty() ? progress.message : each.message;
  if (!words.empty())
    each.state == State::failed ? message.put(R"(<p class="notice bad" role="alert">{}</p>)", words)
                                : message.put(R"(<p class="quiet">{}</p>)", words);
  if (!is_final(each.state))
    for (const auto& [task, state] : progress.tasks) tasks.put("<li>{}: {}</li>", task, state);
  out.put(R"(<p class="status">{} {}</p>{})", state_badge(each.state),
          is_final(each.state) ? html::Html() : html::progress_bar(progress.percent), message);
  if (!tasks.empty()) out.put(R"(<ul class="tasks">{}</ul>)", tasks);
  return out;
}

html::Html score_rows(const TaskResult& task, std::string_view evaluation) {
  html::Html out, facts;
  // A group of tasks has none of its own.
  if (task.samples > 0)
    facts.put(R"(<a href="{}">{}</a>, )", at_evaluation.to(path_of_samples(evaluation, task.name)),
              html::counted(task.samples, "sample"));
  if (task.failed > 0) facts.put(R"(<span class="bad-ink">{} without scores</span>, )", html::grouped(task.failed));
  if (!task.version.empty()) facts.put("version {}, ", task.version);
  facts.put("{}", html::counted(task.num_fewshot, "shot"));
  out.put(R"(<tr class="task"><th scope="rowgroup" colspan="4">{} <span class="quiet">{}</span></th></tr>)", task.name,
          facts);
  for (const Score& score : task.scores) {
    html::Html of;
    of.put("{}", html::grouped(score.count));
    if (score.nan_count > 0)
      of.put(R"( <span class="quiet">({} are no number)</span>)", html::grouped(score.nan_count));
    out.put(R"(<tr><td>{}</td><td class="number">{}</td><td class="number">{}</td><td>{}</td></tr>)", score.name,
            value_words(score.value, score.error), of, score.higher_is_better ? "higher" : "lower");
  }
  return out;
}

html::Html scores(const EvaluationView& view) {
  if (view.evaluation.results.empty())
    return is_final(view.evaluation.state) ? html::empty_words("There are no results.")
                                           : html::empty_words("There are no results yet.");
  const auto tasks = read_results(view.evaluation.results);
  if (!tasks) return html::piece(R"(<p class="notice bad">The results cannot be read: {}.</p>)", tasks.error());
  html::Html rows;
  for (const TaskResult& each : *tasks) rows.put("{}", score_rows(each, view.evaluation.name));
  return html::piece(
      R"(<div class="wrap"><table class="scores"><thead><tr><th>Score</th><th class="number">Value ± standard error</th><th class="number">Of</th><th>Better is</th></tr></thead><tbody>{}</tbody></table></div>)",
      rows);
}

html::Html warnings(const Evaluation& evaluation) {
  json::Document document;
  const auto root = json::parse(evaluation.warnings, document, {.max_depth = 32, .max_bytes = 4U << 20U});
  html::Html out, items;
  if (!root) return out;
  for (const json::Value& each : root->items()) {
    std::string place(json::text(&each, {"path"}));
    // As FastAPI has it: "loc": ["body", "judge"].
    for (const json::Value& part : json::items(&each, {"loc"}))
      if (part.string() != "body") place += fmt::format("{}{}", place.empty() ? "" : ".", part.string());
    const std::string_view problem = json::text(&each, {"problem"}), message = json::text(&each, {"msg"});
    items.put("<li><code>{}</code> {}</li>", place, problem.empty() ? message : problem);
  }
  if (!items.empty()) out.put(R"(<section class="notice"><h2>Warnings</h2><ul>{}</ul></section>)", items);
  return out;
}

html::Html events(const EvaluationView& view) {
  html::Html items;
  for (const Event& each : view.events)
    items.put(R"(<li>{} <span>{}</span></li>)", html::time_tag(each.at, view.now), each.message);
  return items.empty() ? html::empty_words("Nothing has happened yet.")
                       : html::piece(R"(<ol class="events">{}</ol>)", items);
}

html::Html facts(const EvaluationView& view) {
  json::Document document;
  const json::Value request = json::parse(view.evaluation.request, document).value_or(json::Value());
  html::Html list;
  const auto add = [&](std::string_view name, const json::Value* value) {
    if (value == nullptr || value->is_null()) return;
    list.put("<dt>{}</dt><dd>{}</dd>", name, value->is_string() ? std::string(value->string()) : json::to_json(*value));
  };
  add("Framework", request.find("framework"));
  add("Model", request.find("model"));
  add("Endpoint", request.find("model_endpoint"));
  add("Data set", request.find("dataset"));
  add("Shots", request.find("num_fewshot"));
  add("Limit", request.find("limit"));
  add("Seed", request.find("seed"));
  add("Judge", json::at(&request, {"judge", "model"}));
  add("Description", request.find("description"));
  list.put("<dt>Made</dt><dd>{}</dd>", html::time_tag(view.evaluation.created_at, view.now));
  if (view.evaluation.ended_at > 0)
    list.put("<dt>Ended</dt><dd>{}</dd>", html::time_tag(view.evaluation.ended_at, view.now));
  return html::piece(R"(<dl class="facts-list">{}</dl>)", list);
}

}  // namespace evaluation_detail

html::Html live_part(const EvaluationView& view) {
  using namespace evaluation_detail;
  return html::piece(R"(<div data-state="{}">{}<h2>Scores</h2>{}<h2>Events</h2>{}</div>)",
                     is_final(view.evaluation.state) ? "final" : "running", status(view), scores(view), events(view));
}

html::Html evaluation_page(const EvaluationView& view) {
  using namespace evaluation_detail;
  const Evaluation& each = view.evaluation;
  html::Html downloads, live;
  const std::string path = path_of(each.name), api = "/v1" + path;
  downloads.put(R"(<a href="{}">JSON</a> <a href="{}">Log</a>)", at_evaluation.to(api),
                at_evaluation.to(api + "/logs"));
  if (!each.results.empty())
    downloads.put(R"( <a href="{}">Results</a> <a href="{}">Results and samples (zip)</a>)",
                  at_evaluation.to(api + "/results"), at_evaluation.to(api + "/results?format=zip"));
  if (is_final(each.state))
    live.put("<div>{}</div>", live_part(view));
  else
    live.put(R"(<div data-live="{}" aria-live="polite">{}</div>)", at_evaluation.to(path + "/live"), live_part(view));
  return html::piece(
      R"(<p class="crumbs"><a href="{}">Evaluations</a></p><h1>{}</h1><p class="downloads">{}</p>{}{}<h2>Request</h2>{})",
      at_evaluation.to("/"), each.name, downloads, warnings(each), live, facts(view));
}

}  // namespace stackgate::evaluator::pages
