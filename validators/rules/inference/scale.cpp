// The HorizontalPodAutoscaler.
// Source: k8s.io/kubernetes/pkg/apis/autoscaling/validation, autoscaling/v2.
#include <array>

#include <fmt/format.h>

#include "validators/rules/common.hpp"
#include "validators/rules/common/single_values.hpp"
#include "validators/rules/inference/service.hpp"

namespace stackgate::validate {
namespace {

struct MetricForm {
  std::string_view type, block;
  bool utilization, value, average;  // the target types that it takes
};
constexpr std::array metric_forms{
    MetricForm{"Resource", "resource", true, false, true},
    MetricForm{"ContainerResource", "containerResource", true, false, true},
    MetricForm{"Pods", "pods", false, false, true},
    MetricForm{"Object", "object", false, true, true},
    MetricForm{"External", "external", false, true, true},
};

struct TargetForm {
  std::string_view type, field;
};
constexpr std::array target_forms{TargetForm{"Utilization", "averageUtilization"}, TargetForm{"Value", "value"},
                                  TargetForm{"AverageValue", "averageValue"}};

/// A metric's name becomes a part of a path in the metrics API.
/// Source: k8s.io/apimachinery/pkg/api/validation/path, IsValidPathSegmentName.
std::optional<grammar::Problem> path_part_problem(std::string_view name, const char* cure) {
  const std::size_t at = name.find_first_of("/%");
  if (at != std::string_view::npos)
    return grammar::Problem{fmt::format("must not contain '{}': it is a part of a path", name[at]), cure};
  if (name == "." || name == "..") return grammar::Problem{"is no name", cure};
  return std::nullopt;
}

std::optional<grammar::Problem> metric_name_problem(std::string_view name) {
  return path_part_problem(name,
                           "write the name under which the metrics API serves it, for example \"requests_waiting\"");
}

std::optional<grammar::Problem> kind_problem(std::string_view name) {
  return path_part_problem(name, "write the kind alone, for example \"Service\", and its group in apiVersion");
}

std::string allowed_targets(const MetricForm& form) {
  if (form.utilization) return "Utilization or AverageValue";
  return form.value ? "Value or AverageValue" : "AverageValue";
}

void check_target(Context& context, const MetricForm& form, const Field& target) {
  const auto type = target["type"].text();
  if (!type) return;
  const bool allowed = (*type == "Utilization" && form.utilization) || (*type == "Value" && form.value) ||
                       (*type == "AverageValue" && form.average);
  if (!allowed) {
    context.report(rule::scale_target, target["type"],
                   fmt::format("a metric of type {} has no target of type {}", form.type, *type),
                   fmt::format("write {}", allowed_targets(form)));
    return;
  }
  for (const TargetForm& each : target_forms) {
    const Field field = target[each.field];
    if (each.type == *type) {
      if (field.absent() && target.has_misspelt(each.field)) continue;
      if (field.absent())
        context.report(rule::scale_target, field, fmt::format("is missing: the target's type is {}", *type),
                       fmt::format("add {}", each.field));
      else if (const auto amount = quantity_of(field); amount && amount->sign() <= 0)
        context.report(rule::scale_target, field, "must be above 0", "write the value to hold");
    } else if (field.present()) {
      context.report(rule::scale_target, field, fmt::format("does not belong to a target of type {}", *type),
                     fmt::format("take it out, or write type: {}", each.type));
    }
  }
}

/// Utilization is a share of what the pods request. A limit without a request is the request too.
void check_utilization(Context& context, const Field& spec, const Field& at, std::string_view resource) {
  const Field resources = spec["resources"];
  if (resources["requests"][resource].present() || resources["limits"][resource].present()) return;
  context.report(rule::scale_needs_requests, at,
                 fmt::format("the use of {} is measured against its request, but none is set", resource),
                 fmt::format("add {} under resources.requests", resource));
}

void check_metric(Context& context, const Field& spec, const Field& metric, bool enabled) {
  const auto type = metric["type"].text();
  if (!type) return;
  for (const MetricForm& form : metric_forms) {
    const Field block = metric[form.block];
    if (form.type != *type) {
      if (block.present())
        context.report(rule::scale_metric, block, fmt::format("does not belong to a metric of type {}", *type),
                       fmt::format("take it out, or write type: {}", form.type));
      continue;
    }
    if (block.absent()) {
      if (metric.has_misspelt(form.block)) continue;
      context.report(rule::scale_metric, block, fmt::format("is missing: the metric's type is {}", *type),
                     fmt::format("add {}", form.block));
      continue;
    }
    check_target(context, form, block["target"]);
    check_text(context, rule::scale_metric, block["metric"]["name"], metric_name_problem);
    check_label_selector(context, block["metric"]["selector"]);
    check_text(context, rule::scale_metric, block["describedObject"]["kind"], kind_problem);
    check_object_name(context, block["describedObject"]["name"]);
    if (enabled && form.utilization && block["target"]["type"].text() == "Utilization")
      if (const auto name = block["name"].text()) check_utilization(context, spec, block["name"], *name);
  }
}

}  // namespace

void check_scale(Context& context, const Field& spec) {
  const Field scale = spec["scale"];
  if (scale.absent()) return;
  const bool enabled = scale["enabled"].flag().value_or(false);
  if (enabled) {
    if (const Field replicas = spec["replicas"]; replicas.present())
      context.report(rule::scale_excludes_replicas, replicas, "scale decides the number of replicas",
                     "take replicas out, or write scale.enabled: false");
    if (const Field nodes = spec["multiNode"]; nodes.present())
      context.report(rule::scale_excludes_multinode, nodes, "a service on several nodes cannot be scaled",
                     "take multiNode out, or write scale.enabled: false");
  }
  const Field least = scale["minReplicas"];
  const Field most = scale["maxReplicas"];
  if (enabled && most.absent() && !scale.has_misspelt("maxReplicas"))
    context.report(rule::scale_max_missing, most, "scaling needs an upper bound", "add maxReplicas");
  if (least.present() && most.present() && least.integer() && most.integer() && *least.integer() > *most.integer())
    context.report(rule::scale_bounds, least,
                   fmt::format("minReplicas {} is above maxReplicas {}", *least.integer(), *most.integer()),
                   fmt::format("write at most {}, or raise maxReplicas", *most.integer()));
  const Field metrics = scale["metrics"];
  if (enabled && metrics.size() == 0) check_utilization(context, spec, metrics, "cpu");
  for (const Field metric : metrics.items()) check_metric(context, spec, metric, enabled);
}

}  // namespace stackgate::validate
