#include "validators/rules/stack_scheduler.hpp"

#include <string>

#include <fmt/format.h>

#include "validators/grammar/names.hpp"

namespace stackgate::validate {
namespace scheduler_rules {

constexpr std::string_view default_type = "gang";
constexpr std::string_view default_dialect = "runai";

/// A queue is an object, and jobs name it in a label: both grammars hold. Run:ai's projects become part of a
/// namespace's name, so theirs is a single DNS label.
void check_queue_name(Context& context, const Field& queue, std::string_view name, std::string_view dialect) {
  auto bad = dialect == "runai" ? grammar::check_dns_label(name) : grammar::check_dns_subdomain(name);
  if (!bad) bad = grammar::check_label_value(name);
  if (bad) context.report(rule::queue_name_invalid, queue, bad->problem, bad->fix);
}

void check_missing(Context& context, const Field& queue, std::string_view dialect) {
  // Run:ai takes the project of the namespace when a job names none.
  if (dialect == "runai") return;
  context.report(rule::queue_name_missing, queue,
                 dialect == "kueue" ? "without a queue name Kueue does not manage the jobs: they start past every quota"
                                    : "without a queue name KAI leaves the jobs Pending",
                 "write the name of the queue that training jobs shall wait in");
}

}  // namespace scheduler_rules

void check_scheduler(Context& context, Field spec) {
  using namespace scheduler_rules;
  const Field scheduler = spec["scheduler"];
  const std::string_view type = scheduler["type"].text().value_or(default_type);
  const Field dialect = scheduler["queueDialect"];
  const Field queue = spec["trainingConfig"]["queueName"];
  const auto name = queue.text();
  if (type == "gang") {
    if (dialect)
      context.report(rule::queue_dialect_needs_queue, dialect,
                     "a queue dialect has no meaning with the scheduler type gang",
                     "write type: queue, or remove queueDialect");
    if (queue)
      context.report(rule::queue_name_ignored, queue, "a queue name has no effect with the scheduler type gang",
                     "write scheduler: {type: queue}, or remove queueName");
    return;
  }
  if (type != "queue") return;
  const std::string_view spoken = dialect.text().value_or(default_dialect);
  if (!name) {
    if (spec["trainingConfig"] && !queue && !spec["trainingConfig"].has_misspelt("queueName"))
      check_missing(context, queue, spoken);
  } else if (!name->empty()) {
    check_queue_name(context, queue, *name, spoken);
  }
}

}  // namespace stackgate::validate
