#include "services/evaluator/pages/pages.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>

#include "services/evaluator/api/framework.hpp"
#include "services/evaluator/pages/views/comparison.hpp"
#include "services/evaluator/pages/views/evaluation.hpp"
#include "services/evaluator/pages/views/runs.hpp"
#include "services/evaluator/pages/views/samples.hpp"
#include "services/evaluator/suite/results.hpp"
#include "services/kit/base/number.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/charts/charts.hpp"
#include "services/kit/web/call.hpp"
#include "services/kit/web/pages.hpp"

namespace stackgate::evaluator {
namespace pages_detail {

constexpr std::int64_t rows_of_page = 50, samples_of_page = 20, last_events = 200, events_at_once = 1'000;

const web::PageFiles& page_files() {
  static const std::string style = std::string(html::frame_style).append(embedded_style);
  static const web::PageFiles files({{"style.css", "text/css; charset=utf-8", style},
                                     {"charts.css", "text/css; charset=utf-8", charts::style},
                                     {"live.js", "text/javascript; charset=utf-8", html::live_script},
                                     {"icon.svg", "image/svg+xml", embedded_icon}});
  return files;
}

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

web::Answer send_page(html::Frame frame, const html::Html& content) {
  static const html::Assets assets{.style = page_files().address("style.css"),
                                   .charts = page_files().address("charts.css"),
                                   .script = page_files().address("live.js"),
                                   .icon = page_files().address("icon.svg")};
  frame.product = "Evaluator";
  return web::page_answer(html::framed(frame, assets, content));
}

class Pages {
 public:
  explicit Pages(PageSource source) : source_(std::move(source)) {}

  web::Answer runs(web::Call& call) const {
    pages::RunsView view{.now = now()};
    view.state = call.query().get("state").value_or("");
    view.framework = call.query().get("framework").value_or("");
    const std::uint64_t number = std::clamp<std::uint64_t>(
        to_number<std::uint64_t>(call.query().get("page").value_or("1")).value_or(1), 1, 100'000);
    // A word that is none filters nothing.
    const std::optional<State> state = state_named(view.state);
    if (!state) view.state.clear();
    if (!framework_named(view.framework)) view.framework.clear();
    ListOptions options{.state = state, .framework = view.framework};
    options.offset = static_cast<std::int64_t>(number - 1) * rows_of_page;
    options.limit = rows_of_page;
    const auto listed = TRY(source_.records.list(options));
    view.rows = listed.rows;
    view.page = number;
    view.total = static_cast<std::uint64_t>(std::max<std::int64_t>(listed.total, 0));
    view.pages = std::max<std::uint64_t>(1, (view.total + rows_of_page - 1) / rows_of_page);
    return send_page({.title = "Evaluations"}, pages::runs_page(view));
  }

  web::Answer evaluation(web::Call& call, bool live) const {
    const Evaluation found = TRY(find(call));
    const std::vector<Event> events = TRY(events_of(found.id));
    const pages::EvaluationView view{.evaluation = found, .events = events, .now = now()};
    if (live) return web::page_answer(pages::live_part(view).str());
    return send_page({.title = found.name, .place = pages::at_evaluation, .refreshes = !is_final(found.state)},
                     pages::evaluation_page(view));
  }

  web::Answer samples(web::Call& call) const {
    const Evaluation found = TRY(find(call));
    std::vector<std::string> tasks;
    if (const auto results = read_results(found.results))
      for (const TaskResult& each : *results)
        if (each.samples > 0) tasks.push_back(each.name);  // groups have none
    pages::SamplesView view{.evaluation = found, .tasks = tasks};
    view.task = call.query().get("task").value_or(tasks.empty() ? std::string_view() : std::string_view(tasks.front()));
    view.after = to_number<std::int64_t>(call.query().get("after").value_or("-1")).value_or(-1);
    auto rows = TRY(source_.records.samples(found.id, view.task, view.after, samples_of_page + 1));
    view.more = rows.size() > samples_of_page;
    if (view.more) rows.pop_back();
    view.rows = rows;
    return send_page({.title = "Samples of " + found.name, .place = pages::at_samples}, pages::samples_page(view));
  }

  web::Answer comparison(web::Call& call) const {
    // A form sends each name by itself, a link all of them with commas.
    std::string names;
    for (const std::string_view each : call.query().all("evaluations"))
      names.append(names.empty() ? "" : ",").append(each);
    const std::string baseline(call.query().get("baseline").value_or(""));
    const bool force = call.query().get("force") == "1";
    const auto request = read_comparison_query(names, baseline, force);
    if (!request) return refused(request.error(), {});
    const auto compared = source_.compare(*request);
    if (compared) return send_page({.title = "Comparison"}, pages::comparison_page(*compared));
    if (compared.error().status != 422 || compared.error().findings.empty()) return compared.error();
    const bool may_be_forced = !force && std::ranges::all_of(compared.error().findings, [](const auto& each) {
      return each.rule == "comparison-differs";
    });
    return refused(compared.error().findings,
                   may_be_forced
                       ? pages::at_root.to(html::with_query(
                             "/comparisons", {{"evaluations", names}, {"baseline", baseline}, {"force", "1"}}))
                       : html::Link{});
  }

 private:
  static web::Answer refused(const validate::Findings& findings, const html::Link& forcible) {
    auto answer = send_page({.title = "Comparison"}, pages::comparison_refused(findings, forcible));
    std::get<http::Response>(answer).status = 422;
    return answer;
  }

  std::expected<Evaluation, ServiceError> find(web::Call& call) const {
    const std::string_view name = call.parameter("name");
    auto found = TRY(source_.records.find(name));
    if (!found) found = TRY(source_.records.find_by_id(name));
    if (found) return *std::move(found);
    return std::unexpected(ServiceError{.fault = ServiceFault::missing, .message = "there is no such evaluation"});
  }

  /// The last ones; a long run has more than are shown.
  std::expected<std::vector<Event>, ServiceError> events_of(std::string_view id) const {
    std::vector<Event> out;
    for (std::int64_t after = 0;;) {
      auto some = TRY(source_.records.events(id, after, events_at_once));
      const bool more = std::ssize(some) == events_at_once;
      if (!some.empty()) after = some.back().number;
      out.insert(out.end(), some.begin(), some.end());
      if (std::ssize(out) > last_events) out.erase(out.begin(), out.end() - last_events);
      if (!more) return out;
    }
  }

  const PageSource source_;
};

}  // namespace pages_detail

std::vector<web::Route> page_routes(PageSource source) {
  using pages_detail::Pages;
  const auto pages = std::make_shared<const Pages>(std::move(source));
  const web::RouteOptions options{.dialect = web::Dialect::html};
  std::vector<web::Route> out = pages_detail::page_files().routes();
  out.push_back({"GET", "/", [pages](web::Call& call) { return pages->runs(call); }, options});
  out.push_back(
      {"GET", "/evaluations/{name}", [pages](web::Call& call) { return pages->evaluation(call, false); }, options});
  out.push_back(
      {"GET", "/evaluations/{name}/live", [pages](web::Call& call) { return pages->evaluation(call, true); }, options});
  out.push_back(
      {"GET", "/evaluations/{name}/samples", [pages](web::Call& call) { return pages->samples(call); }, options});
  out.push_back({"GET", "/comparisons", [pages](web::Call& call) { return pages->comparison(call); }, options});
  return out;
}

}  // namespace stackgate::evaluator
