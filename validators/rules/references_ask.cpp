#include "validators/rules/references_ask.hpp"

#include <fmt/format.h>

namespace stackgate::validate {

std::string_view namespace_of(const Context& context, const Field& object) {
  const auto written = object["metadata"]["namespace"].text();
  if (written && !written->empty()) return *written;
  return context.request.ns.empty() ? std::string_view("default") : context.request.ns;
}

const ReferencedObject& Asker::ask(ReferenceKind reference_kind, std::string_view name, const Field& field) {
  for (const Answer& known : answers_)
    if (known.reference_kind == reference_kind && known.name == name) return known.referred;
  const std::string_view where = is_cluster_wide(reference_kind) ? std::string_view{} : ns_;
  const Answer& answer = answers_.emplace_back(
      Answer{reference_kind, std::string(name), context_.lookup->find(reference_kind, where, name)});
  if (answer.referred.presence == Presence::unknown && !first_unanswered_) first_unanswered_ = field;
  return answer.referred;
}

void Asker::report_unanswered() {
  if (!first_unanswered_) return;
  constexpr std::size_t most_named = 5;
  std::string names;
  std::size_t count = 0;
  bool in_namespace = false;
  for (const Answer& each : answers_) {
    if (each.referred.presence != Presence::unknown) continue;
    in_namespace = in_namespace || !is_cluster_wide(each.reference_kind);
    if (++count > most_named) continue;
    fmt::format_to(std::back_inserter(names), "{}{} \"{}\"", names.empty() ? "" : ", ", kind_name(each.reference_kind),
                   each.name);
  }
  if (count > most_named) fmt::format_to(std::back_inserter(names), " and {} more", count - most_named);
  context_.report(rule::reference_unchecked, *first_unanswered_,
                  fmt::format("the cluster could not be asked about {}", names),
                  fmt::format("see that {}{}", count == 1 ? "it exists" : "they exist",
                              in_namespace ? fmt::format(" in namespace \"{}\"", ns_) : std::string{}));
}

}  // namespace stackgate::validate
