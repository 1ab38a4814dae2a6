// Names, labels and annotations of the resource itself.
#include <fmt/format.h>

#include "services/kit/grammar/names.hpp"
#include "validators/rules/common/single_values.hpp"
#include "validators/rules/inference/service.hpp"
#include "validators/rules/kinds.hpp"
#include "validators/rules/last_applied.hpp"
#include "validators/rules/references_ask.hpp"
#include "validators/rules/reserved.hpp"

namespace stackgate::validate {
namespace {

constexpr std::size_t label_value_limit = 63;

std::optional<grammar::Problem> short_name_problem(std::string_view text) {
  if (auto bad = grammar::check_dns_subdomain(text)) return bad;
  if (text.size() > label_value_limit)
    return grammar::Problem{
        fmt::format("has {} characters; it is also a label's value, which ends at {}", text.size(), label_value_limit),
        fmt::format("choose a name of at most {} characters", label_value_limit)};
  return std::nullopt;
}

bool becomes_a_service(crds::Kind kind) {
  return kind != crds::Kind::inference_cache && kind != crds::Kind::inference_pipeline;
}

void check_name(Context& context, const Field& metadata) {
  const Field name = metadata["name"];
  if (name.absent()) {
    if (metadata.has_misspelt("name")) return;
    const Field prefix = metadata["generateName"];
    if (prefix.absent()) {
      context.report(rule::resource_name, name, "the resource has no name", "add metadata.name");
    } else if (becomes_a_service(context.request.kind) && prefix.text() && !prefix.text()->empty() &&
               !(prefix.text()->front() >= 'a' && prefix.text()->front() <= 'z')) {
      context.report(rule::resource_name, prefix, "a Service will carry this name, which must begin with a letter",
                     "begin it with a letter from a to z");
    }
    return;
  }
  if (becomes_a_service(context.request.kind))
    check_service_name(context, name);
  else
    check_text(context, rule::resource_name, name, short_name_problem);
}

}  // namespace

void check_service_name(Context& context, const Field& name) {
  if (name.absent() || !name.value()->is_string()) return;
  if (auto bad = grammar::check_dns1035_label(name.value()->string()))
    context.report(rule::resource_name, name, fmt::format("{}: a Service carries this name", bad->problem),
                   std::move(bad->fix));
}

void check_metadata(Context& context, Field object) {
  const Field metadata = object["metadata"];
  if (metadata.present() && !metadata.value()->is_object()) return;
  if (metadata.absent() && object.has_misspelt("metadata")) return;
  check_name(context, metadata);
  if (metadata.absent()) return;
  if (becomes_a_service(context.request.kind))
    check_reserved_names(context, metadata["name"], object["spec"], namespace_of(context, object));
  check_text(context, rule::object_name, metadata["namespace"], grammar::check_dns_label);
  check_labels(context, metadata["labels"]);
  check_annotations(context, metadata["annotations"]);
  check_last_applied(context, metadata["annotations"]);
}

}  // namespace stackgate::validate
