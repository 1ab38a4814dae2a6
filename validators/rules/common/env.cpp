// Environment variables of a container.
// Source: k8s.io/kubernetes/pkg/apis/core/validation, ValidateEnv.
#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>

#include "services/kit/grammar/names.hpp"
#include "validators/rules/common.hpp"
#include "validators/rules/common/single_values.hpp"

namespace stackgate::validate {
namespace {

constexpr std::array<std::string_view, 4> env_sources{"secretKeyRef", "configMapKeyRef", "fieldRef",
                                                      "resourceFieldRef"};

constexpr std::array<std::string_view, 9> pod_fields{"metadata.name", "metadata.namespace",      "metadata.uid",
                                                     "spec.nodeName", "spec.serviceAccountName", "status.hostIP",
                                                     "status.podIP",  "status.podIPs",           "status.hostIPs"};

bool is_pod_field(std::string_view path) {
  if (std::ranges::find(pod_fields, path) != pod_fields.end()) return true;
  for (const std::string_view map : {"metadata.labels['", "metadata.annotations['"}) {
    if (!path.starts_with(map) || !path.ends_with("']") || path.size() <= map.size() + 2) continue;
    const std::string_view key = path.substr(map.size(), path.size() - map.size() - 2);
    return map.starts_with("metadata.l") ? !grammar::check_label_key(key) : !grammar::check_annotation_key(key);
  }
  return false;
}

/// Units in which a container may read its resources.
/// Source: k8s.io/kubernetes/pkg/apis/core/validation, validateContainerResourceDivisor.
constexpr std::array<std::string_view, 3> cpu_units{"0", "1", "1m"};
constexpr std::array<std::string_view, 14> byte_units{"0",  "1",   "1k",  "1M",  "1G",  "1T",  "1P",
                                                      "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"};

void check_divisor(Context& context, const Field& divisor, std::string_view resource) {
  const auto amount = checked_quantity(context, divisor);
  if (!amount) return;
  const bool cpu = resource.ends_with(".cpu");
  const std::span<const std::string_view> units =
      cpu ? std::span<const std::string_view>(cpu_units) : std::span<const std::string_view>(byte_units);
  // Written in the same system: 1024 is not 1Ki there.
  const bool binary = divisor.text().value_or("").ends_with('i');
  if (std::ranges::any_of(units, [&](std::string_view unit) {
        return unit.ends_with('i') == binary && *grammar::parse_quantity(unit) == *amount;
      }))
    return;
  context.report(rule::env_field_path, divisor,
                 cpu ? "is no unit that CPUs are counted in" : "is no unit that bytes are counted in",
                 cpu ? "write 1 for whole CPUs or 1m for thousandths" : "write 1, or for example 1Mi or 1Gi");
}

bool is_container_resource(std::string_view path) {
  for (const std::string_view side : {"limits.", "requests."}) {
    if (!path.starts_with(side)) continue;
    const std::string_view name = path.substr(side.size());
    return name == "cpu" || name == "memory" || name == "ephemeral-storage" || name.starts_with("hugepages-");
  }
  return false;
}

void check_source(Context& context, const Field& item, const Field& source) {
  const Field value = item["value"];
  if (value.present() && !value.text().value_or("").empty()) {
    context.report(rule::env_value_twice, value, "value and valueFrom are both set", "keep one of the two");
  }
  const auto named = std::ranges::count_if(env_sources, [&](std::string_view each) { return source[each].present(); });
  if (named != 1) {
    context.report(rule::env_value_source, source,
                   named == 0 ? "names no source of the value" : fmt::format("names {} sources of one value", named),
                   "name exactly one of secretKeyRef, configMapKeyRef, fieldRef and resourceFieldRef");
    return;
  }
  for (const char* reference : {"secretKeyRef", "configMapKeyRef"}) {
    check_object_name(context, source[reference]["name"]);
    check_secret_key(context, source[reference]["key"]);
  }
  if (const Field path = source["fieldRef"]["fieldPath"]; path.present() && !is_pod_field(path.text().value_or("")))
    context.report(rule::env_field_path, path, "is no field that a pod hands to its containers",
                   "write for example metadata.name, metadata.labels['app'], spec.nodeName or status.podIP");
  const Field resource = source["resourceFieldRef"];
  if (const Field name = resource["resource"]; name.present() && !is_container_resource(name.text().value_or("")))
    context.report(rule::env_field_path, name, "is no request or limit that a container can read",
                   "write for example limits.cpu, limits.memory or requests.memory");
  check_divisor(context, resource["divisor"], resource["resource"].text().value_or(""));
  if (const Field version = source["fieldRef"]["apiVersion"];
      version.present() && !version.text().value_or("").empty() && version.text() != "v1")
    context.report(rule::env_field_path, version, "is no version that a pod's fields are written in",
                   "write v1, or take it out");
}

}  // namespace

// Runs for thousands of entries: doubles are left to the list's key in the schema, which names them once.
void check_env(Context& context, Field env) {
  if (env.absent()) return;
  for (const Field item : env.items()) {
    if (!item.present() || !item.value()->is_object()) continue;
    if (const json::Value* name = item.value()->find("name"); name != nullptr && name->is_string())
      if (auto bad = grammar::check_env_name(name->string()))
        context.report(rule::env_name, item["name"], std::move(bad->problem), std::move(bad->fix));
    if (item.value()->find("valueFrom") == nullptr) continue;
    if (const Field source = item["valueFrom"]; source.present() && source.value()->is_object())
      check_source(context, item, source);
  }
}

}  // namespace stackgate::validate
