// GET: evaluations, how far they are, what came of them; cancelled and deleted.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "services/evaluator/front/front.hpp"
#include "services/evaluator/front/results_zip.hpp"
#include "services/evaluator/front/show.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/web/json.hpp"
#include "services/kit/web/query_values.hpp"

namespace stackgate::evaluator {
namespace read_detail {

constexpr std::uint64_t page_size = 10, largest_page = 1'000, samples_at_once = 100;
constexpr std::array<std::string_view, 1> sort_fields = {"created_at"};
constexpr std::array<std::string_view, 3> filters = {"filter[state]", "filter[status]", "filter[framework]"};

}  // namespace read_detail

using namespace read_detail;

std::expected<Evaluation, ServiceError> find_evaluation(const Front& front, web::Call& call) {
  const std::string name(call.parameter("name"));
  auto found = TRY(front.records().find(name));
  if (!found) found = TRY(front.records().find_by_id(name));
  if (found) return std::move(*found);
  return std::unexpected(
      ServiceError{.fault = ServiceFault::missing, .message = fmt::format("there is no evaluation \"{}\"", name)});
}

web::Answer list_evaluations(const Front& front, web::Call& call) {
  const web::Query& query = call.query();
  const web::Page page = TRY(web::read_page(query, web::nemo_pages, page_size, largest_page));
  const web::Sort sort = TRY(web::read_sort(query, sort_fields, {"created_at", true}));
  TRY(web::only_filters(query, filters));
  std::string_view state, framework;
  for (const std::string_view name : {"filter[state]", "filter[status]"})
    if (query.get(name)) state = TRY(web::read_word(query, name, state_names));
  framework = TRY(web::read_word(query, "filter[framework]", framework_names));
  const auto listed = TRY(front.records().list({.state = state_named(state),
                                                .framework = std::string(framework),
                                                .oldest_first = !sort.descending,
                                                .offset = static_cast<std::int64_t>(page.offset()),
                                                .limit = static_cast<std::int64_t>(page.size)}));
  const std::string filter = json::object_text([&](json::Writer& w) {
    if (!state.empty()) w.member("state", state);
    if (!framework.empty()) w.member("framework", framework);
  });
  return web::json_answer(list_json(listed.rows, page, static_cast<std::uint64_t>(listed.total),
                                    sort.descending ? "-created_at" : "created_at", filter));
}

web::Answer get_evaluation(const Front& front, web::Call& call) {
  return web::json_answer(evaluation_json(TRY(find_evaluation(front, call))));
}

web::Answer get_status(const Front& front, web::Call& call) {
  return web::json_answer(status_json(TRY(find_evaluation(front, call))));
}

web::Answer get_results(const Front& front, web::Call& call) {
  const Evaluation evaluation = TRY(find_evaluation(front, call));
  const auto format = call.query().get("format").value_or("json");
  if (format == "json") return web::json_answer(results_answer(evaluation, call.base_url()));
  if (format != "zip")
    return web::wrong_parameter("format", fmt::format("\"{}\" is none", format), "write json or zip");
  return send_results_zip(front.records(), evaluation, call);
}

web::Answer list_samples(const Front& front, web::Call& call) {
  const Evaluation evaluation = TRY(find_evaluation(front, call));
  const auto tasks = tasks_of(evaluation);
  const std::string task(call.query().get("task").value_or(tasks.empty() ? "" : tasks.front()));
  const std::uint64_t limit = TRY(web::read_limit(call.query(), samples_at_once, largest_page));
  const std::int64_t after = TRY(web::read_number(call.query(), "after", -1, -1));
  const auto samples = TRY(front.records().samples(evaluation.id, task, after, static_cast<std::int64_t>(limit)));
  return web::json_answer([&](json::Writer& w) {
    w.object([&] {
      w.member("object", "list");
      w.member("task", task);
      w.array("data", [&] {
        for (const Sample& each : samples)
          w.object([&] {
            w.member("number", each.number);
            w.key("record");
            w.raw(each.record);
          });
      });
      if (samples.size() == limit)
        w.member("next_after", samples.back().number);
      else
        w.member("next_after", nullptr);
    });
  });
}

web::Answer cancel_evaluation(const Front& front, web::Call& call) {
  const Evaluation evaluation = TRY(find_evaluation(front, call));
  if (is_final(evaluation.state))
    return web::Failure{.status = 409,
                        .message = fmt::format("the evaluation is {} already", to_string(evaluation.state))};
  TRY(front.runner.cancel(evaluation));
  return web::json_answer(evaluation_json(TRY(find_evaluation(front, call))));
}

web::Answer delete_evaluation(const Front& front, web::Call& call) {
  const Evaluation evaluation = TRY(find_evaluation(front, call));
  if (!is_final(evaluation.state))
    return web::Failure{.status = 409,
                        .message = fmt::format("the evaluation is {}; POST /v1/evaluations/{}/cancel first",
                                               to_string(evaluation.state), evaluation.name)};
  (void)TRY(front.records().remove(evaluation.name));
  if (!evaluation.request.contains(R"("engine":"native")"))
    (void)delete_workflow(evaluation.id, front.options.workflow);
  return http::Response{.status = 204};
}

}  // namespace stackgate::evaluator
