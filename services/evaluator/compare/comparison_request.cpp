#include "services/evaluator/compare/comparison_request.hpp"

#include <algorithm>
#include <set>
#include <span>

#include <fmt/format.h>

#include "services/kit/findings/nearest.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/web/body_schema.hpp"

namespace stackgate::evaluator {
namespace comparison_request_detail {

using validate::Findings;

void wrong(Findings& findings, std::string path, std::string problem, std::string fix) {
  findings.push_back(
      {.rule = "comparison-value", .path = std::move(path), .problem = std::move(problem), .fix = std::move(fix)});
}

void check(const ComparisonRequest& request, Findings& findings) {
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < request.evaluations.size(); ++i)
    if (!seen.insert(request.evaluations[i]).second)
      wrong(findings, fmt::format("evaluations[{}]", i), fmt::format("names \"{}\" once more", request.evaluations[i]),
            "name each evaluation once");
  if (request.baseline.empty() || std::ranges::find(request.evaluations, request.baseline) != request.evaluations.end())
    return;
  const std::vector<std::string_view> names(request.evaluations.begin(), request.evaluations.end());
  const std::string_view near = validate::nearest(request.baseline, names);
  wrong(findings, "baseline", fmt::format("\"{}\" is none of the evaluations", request.baseline),
        near.empty() ? "name one of the evaluations, or leave it out: the first is the baseline"
                     : fmt::format("write \"{}\"", near));
}

std::expected<ComparisonRequest, Findings> finished(ComparisonRequest request, Findings findings) {
  check(request, findings);
  if (validate::has_errors(findings)) return std::unexpected(std::move(findings));
  if (request.baseline.empty()) request.baseline = request.evaluations.front();
  return request;
}

}  // namespace comparison_request_detail

std::expected<ComparisonRequest, validate::Findings> read_comparison(const json::Value& body) {
  static const web::BodySchema schema(comparison_schema);
  validate::Findings findings = schema.check(body);
  ComparisonRequest out{.baseline = std::string(json::text(&body, {"baseline"})),
                        .force = json::flag(&body, {"force"})};
  for (const json::Value& each : json::items(&body, {"evaluations"})) out.evaluations.emplace_back(each.string());
  const json::Value rounds = json::value_at(&body, {"bootstrap_rounds"});
  if (rounds.is_integer())
    out.bootstrap_rounds = static_cast<std::uint32_t>(std::clamp<std::int64_t>(rounds.integer(), 100, 100'000));
  const json::Value confidence = json::value_at(&body, {"confidence"});
  if (confidence.is_number()) out.confidence = confidence.number();
  return comparison_request_detail::finished(std::move(out), std::move(findings));
}

std::expected<ComparisonRequest, validate::Findings> read_comparison_query(std::string_view evaluations,
                                                                           std::string_view baseline, bool force) {
  using namespace comparison_request_detail;
  ComparisonRequest out{.baseline = std::string(baseline), .force = force};
  while (!evaluations.empty()) {
    const std::size_t comma = std::min(evaluations.find(','), evaluations.size());
    if (comma > 0) out.evaluations.emplace_back(evaluations.substr(0, comma));
    evaluations.remove_prefix(std::min(comma + 1, evaluations.size()));
  }
  Findings findings;
  if (out.evaluations.size() < 2 || out.evaluations.size() > most_compared)
    wrong(findings, "evaluations", fmt::format("names {} evaluations", out.evaluations.size()),
          fmt::format("name two to {}: ?evaluations=first,second", most_compared));
  return finished(std::move(out), std::move(findings));
}

}  // namespace stackgate::evaluator
