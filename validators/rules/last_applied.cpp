#include "validators/rules/last_applied.hpp"

#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/schema/check.hpp"
#include "validators/schemas.hpp"

namespace stackgate::validate {
namespace {

constexpr json::ParseLimits annotation_limits{.max_depth = 100, .max_bytes = 512U * 1024U};

bool is_about(const json::Value& applied, crds::Kind kind) {
  return json::text(&applied, {"kind"}) == crds::info(kind).name &&
         json::text(&applied, {"apiVersion"}) == crds::api_group_version;
}

}  // namespace

const json::Value* last_applied(const json::Value& object) {
  return json::at(&object, {"metadata", "annotations", last_applied_annotation});
}

// A text that is not JSON, or too large, is kubectl's to complain about: it reads it at the next apply.
void check_last_applied(Context& context, const Field& annotations) {
  const json::Value* text = last_applied(*context.request.object);
  if (text == nullptr || !text->is_string()) return;
  const json::Value* before = context.request.old == nullptr ? nullptr : last_applied(*context.request.old);
  if (before != nullptr && before->string() == text->string()) return;
  json::Document document;
  const auto applied = json::parse(text->string(), document, annotation_limits);
  if (!applied || !applied->is_object() || !is_about(*applied, context.request.kind)) return;
  for (schema::SchemaFault& fault : schema::check(schema_of(context.request.kind).root(), *applied)) {
    if (fault.fault != schema::Fault::unknown) continue;
    if (fault.path == "status" || fault.path.starts_with("status.") || fault.path.starts_with("metadata")) continue;
    context.findings.push_back({rule::schema_unknown_field.id,
                                rule::schema_unknown_field.severity,
                                std::move(fault.path),
                                {},
                                std::move(fault.problem),
                                std::move(fault.fix),
                                annotations.offset()});
  }
}

}  // namespace stackgate::validate
