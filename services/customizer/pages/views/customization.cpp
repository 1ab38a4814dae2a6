#include "services/customizer/pages/views/customization.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "services/customizer/api/adapter.hpp"
#include "services/customizer/api/show.hpp"
#include "services/customizer/job/words.hpp"
#include "services/customizer/pages/views/curves.hpp"
#include "services/kit/base/percent.hpp"
#include "services/kit/charts/charts.hpp"
#include "services/kit/html/words.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"

namespace stackgate::customizer::pages {
namespace customization_detail {

html::Html part(std::string_view name, const html::Html& content) {
  return html::piece(R"(<section data-part="{}">{}</section>)", name, content);
}

html::Html status(const Customization& job, const Progress& progress, Seconds now) {
  html::Html bar, message;
  if (!is_final(job.state)) bar = html::progress_bar(percentage_done(job, progress));
  if (!job.message.empty())
    job.state == State::failed ? message.put(R"(<p class="notice bad" role="alert">{}</p>)", job.message)
                               : message.put(R"(<p class="notice">{}</p>)", job.message);
  html::Html numbers;
  const auto add = [&](std::string_view name, const std::string& value) {
    numbers.put("<dt>{}</dt><dd>{}</dd>", name, value);
  };
  if (progress.step != 0) {
    add("Step", fmt::format("{} of {}", html::grouped(progress.step), html::grouped(progress.max_steps)));
    add("Epoch",
        fmt::format("{} of {}", charts::number_words(progress.epoch), charts::number_words(progress.num_epochs)));
  }
  if (progress.tokens_per_second > 0 && !is_final(job.state))
    add("Tokens each second", charts::number_words(progress.tokens_per_second));
  if (progress.eta_seconds >= 1 && !is_final(job.state))
    add("Trained in about", duration_text(static_cast<std::int64_t>(progress.eta_seconds)));
  if (job.started_at != 0)
    add("Runs for", duration_text(std::max<Seconds>(0, (job.ended_at == 0 ? now : job.ended_at) - job.started_at)));
  html::Html out;
  out.put(R"(<p class="status">{} {}</p>{})", html::state_badge(to_string(job.state)), bar, message);
  if (!numbers.empty()) out.put(R"(<dl class="facts-list">{}</dl>)", numbers);
  return out;
}

html::Html time_cell(Seconds at, Seconds now) { return at == 0 ? html::Html() : html::time_tag(at, now); }

html::Html stages(const CustomizationView& view) {
  html::Html rows;
  for (const Stage each : all_stages) {
    const StageRecord& record = view.job.stage(each);
    rows.put(
        R"(<tr><th scope="row">{}</th><td>{}</td><td class="number">{}</td><td>{}</td><td>{}</td><td>{}</td></tr>)",
        to_string(each), html::state_badge(to_string(record.state)), record.attempts, record.message,
        time_cell(record.started_at, view.now), time_cell(record.ended_at, view.now));
  }
  return html::piece(
      R"(<h2>Stages</h2><div class="wrap"><table><thead><tr><th>Stage</th><th>State</th><th class="number">Attempts</th><th>Why</th><th>Began</th><th>Ended</th></tr></thead><tbody>{}</tbody></table></div>)",
      rows);
}

html::Html adapter(const CustomizationView& view, const CustomizationRequest& request) {
  const OutputModel made = output_model_of(view.job, request);
  html::Html words;
  if (view.job.state == State::completed && !view.entitystore_url.empty()) {
    std::string base(view.entitystore_url);
    while (base.ends_with('/')) base.pop_back();
    words.put(
        R"(<a href="{}">{}</a> is ready.)",
        html::Link{html::with_query(base + "/v1/adapters", {{"namespace", made.name_space}, {"name", made.name}})},
        made.text());
  } else if (view.job.state == State::completed) {
    words.put("{} is ready.", made.text());
  } else {
    words.put("{} will be made of it.", made.text());
  }
  return html::piece("<h2>Adapter</h2><p>{}</p>", words);
}

html::Html events(const CustomizationView& view) {
  html::Html items;
  for (const Event& each : view.events)
    items.put(R"(<li>{} <span>{}{}{}</span></li>)", html::time_tag(each.at, view.now), each.message,
              each.detail.empty() ? "" : ": ", each.detail);
  return html::piece(R"(<h2>Events</h2><ol class="events">{}</ol>)", items);
}

html::Html log(const CustomizationView& view) {
  html::Html out = html::piece("<h2>Log</h2>");
  if (view.lines.empty()) return out.put("{}", html::empty_words("No stage has written anything yet."));
  std::string text;
  for (const Event& each : view.lines) text += fmt::format("[{}] {}\n", each.detail, each.message);
  return out.put(R"(<div class="log" tabindex="0" role="region" aria-label="Log"><pre>{}</pre></div>)", text);
}

html::Html warnings(const Customization& job) {
  json::Document document;
  const auto root = json::parse(job.warnings, document);
  html::Html out, items;
  if (!root) return out;
  for (const json::Value& each : root->items()) items.put("<li>{}</li>", json::text(&each, {"msg"}));
  if (!items.empty()) out.put(R"(<section class="notice"><h2>Warnings</h2><ul>{}</ul></section>)", items);
  return out;
}

html::Html facts(const CustomizationView& view, const CustomizationRequest& request) {
  html::Html list;
  const auto add = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) list.put("<dt>{}</dt><dd>{}</dd>", name, value);
  };
  const model::Hyperparameters& p = request.hyperparameters;
  add("Description", request.description);
  add("Model", request.target.name);
  add("Configuration", request.config.name);
  add("Dataset", request.dataset.repository);
  add("Of it", request.dataset.path);
  add("Commit", request.dataset.revision);
  add("Rank", std::to_string(p.lora_rank));
  add("Alpha", charts::number_words(p.lora_alpha));
  add("Learning rate", charts::number_words(p.learning_rate));
  if (p.num_epochs) add("Epochs", charts::number_words(*p.num_epochs));
  add("Id", view.job.id);
  list.put("<dt>Made</dt><dd>{}</dd>", html::time_tag(view.job.created_at, view.now));
  return html::piece(R"(<h2>Request</h2><dl class="facts-list">{}</dl>)", list);
}

}  // namespace customization_detail

html::Html live_part(const CustomizationView& view) {
  using namespace customization_detail;
  const CustomizationRequest request = read_stored(view.job.request);
  const Progress progress = read_progress(view.job.progress);
  return html::piece(R"(<div data-state="{}">{}{}{}{}{}{}</div>)", is_final(view.job.state) ? "final" : "running",
                     part("status", status(view.job, progress, view.now)),
                     part("loss", html::piece("<h2>Loss</h2>{}", curves(view.points))), part("stages", stages(view)),
                     part("adapter", adapter(view, request)), part("events", events(view)), part("log", log(view)));
}

html::Html customization_page(const CustomizationView& view) {
  using namespace customization_detail;
  const std::string path = path_of(view.job.name), api = "/v1" + path;
  html::Html live;
  if (is_final(view.job.state))
    live.put("<div>{}</div>", live_part(view));
  else
    live.put(R"(<div data-live="{}">{}</div>)", at_customization.to(path + "/live"), live_part(view));
  return html::piece(
      R"(<p class="crumbs"><a href="{}">Customizations</a></p><h1>{}</h1><p class="downloads"><a href="{}">JSON</a> <a href="{}">Loss curves</a> <a href="{}">Whole log</a></p>{}{}{})",
      at_customization.to("/"), view.job.name, at_customization.to(api), at_customization.to(api + "/metrics"),
      at_customization.to(api + "/logs"), warnings(view.job), live, facts(view, read_stored(view.job.request)));
}

}  // namespace stackgate::customizer::pages
