#include "webhook/gate_metrics.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "services/kit/log/log.hpp"

namespace stackgate::webhook {
namespace {

constexpr std::array<std::string_view, 7> refusal_words{"not_found",    "method",   "media_type", "not_json",
                                                        "not_a_review", "too_busy", "internal"};

// 10 µs to 1 s: a review in memory takes tens of microseconds, one that asks the API server milliseconds.
constexpr std::array<double, 12> review_seconds{0.00001, 0.000025, 0.00005, 0.0001, 0.00025, 0.0005,
                                                0.001,   0.0025,   0.01,    0.05,   0.25,    1.0};

/// The request's own words, when they are ours: a label must not grow with what strangers send.
std::string_view kind_label(std::string_view kind) { return crds::kind_named(kind) ? kind : "other"; }

std::string_view verdict_word(const Verdict& verdict) {
  if (!verdict.answer.allowed) return "denied";
  return verdict.findings.empty() ? "allowed" : "warned";
}

}  // namespace

std::string_view to_string(Refusal refusal) { return refusal_words[static_cast<std::size_t>(refusal)]; }

GateMetrics::GateMetrics(metrics::Registry& registry)
    : reviews_(registry.counter("stackgate_gate_reviews_total", "Admission reviews answered with a verdict.",
                                {"stage", "kind", "operation", "verdict"})),
      findings_(registry.counter("stackgate_gate_findings_total", "Findings by rule, over all reviews.",
                                 {"rule", "severity"})),
      seconds_(registry.histogram("stackgate_gate_review_seconds",
                                  "Time from the parsed request to the verdict, by whether the API server was asked.",
                                  {"stage", "asked"}, review_seconds)),
      refused_(registry.counter("stackgate_gate_refused_requests_total", "Requests that got no verdict, by reason.",
                                {"reason"})) {
  for (const std::string_view word : refusal_words) refused_.at({word});
}

void GateMetrics::reviewed(Stage stage, const ReviewRequest& request, const Verdict& verdict, bool asked,
                           std::chrono::nanoseconds took) {
  const std::string_view word = verdict_word(verdict);
  reviews_.at({to_string(stage), kind_label(request.kind), to_string(request.operation), word}).add();
  seconds_.at({to_string(stage), asked ? "true" : "false"}).observe(std::chrono::duration<double>(took).count());
  std::vector<std::string_view> rules;
  for (const validate::Finding& finding : verdict.findings) {
    findings_.at({finding.rule, finding.severity == validate::Severity::error ? "error" : "warning"}).add();
    if (std::ranges::find(rules, finding.rule) == rules.end()) rules.push_back(finding.rule);
  }
  log::info("review", {{"stage", to_string(stage)},
                       {"verdict", word},
                       {"kind", request.kind},
                       {"namespace", request.ns},
                       {"name", request.name},
                       {"operation", to_string(request.operation)},
                       {"user", request.user},
                       {"dry_run", request.dry_run},
                       {"rules", std::span<const std::string_view>(rules)},
                       {"asked", asked},
                       {"us", std::chrono::duration_cast<std::chrono::microseconds>(took).count()},
                       {"uid", request.uid}});
}

void GateMetrics::refused(Refusal why, std::string_view uid, std::string_view detail) {
  refused_.at({to_string(why)}).add();
  const log::Level level = why == Refusal::internal ? log::Level::error : log::Level::warning;
  const std::array<log::Field, 3> fields{{{"reason", to_string(why)}, {"detail", detail}, {"uid", uid}}};
  log::write(level, "request refused", fields);
}

}  // namespace stackgate::webhook
