// An InferencePipeline: one InferenceService for each enabled entry. Entries that are disabled or gone are pruned by
// the caller, as all children that no plan names.
#include <algorithm>
#include <map>
#include <set>

#include "reconcile/plan/parts/outcome.hpp"
#include "reconcile/plan/parts/scope.hpp"
#include "reconcile/status/pipeline.hpp"
#include "services/kit/json/read.hpp"

namespace stackgate::reconcile {
namespace inference_pipeline {

using validate::Field;

struct Entry {
  std::string name;
  Field field;
};

std::vector<Entry> enabled_entries(const Field& spec) {
  std::vector<Entry> out;
  for (const Field& each : spec["services"].items()) {
    const auto name = each["name"].text();
    if (!name || name->empty() || !each["enabled"].flag().value_or(true)) continue;
    const bool known = std::ranges::find(out, *name, &Entry::name) != out.end();
    if (!known) out.push_back({std::string(*name), each});
  }
  return out;
}

/// http://<name>:<port>, the port being that of the dependency, or else that of the service it names.
std::string address_of(const Field& dependency, const std::vector<Entry>& entries) {
  const std::string name(dependency["name"].text().value_or(""));
  std::int64_t port = parts::workload_port;
  const auto entry = std::ranges::find(entries, name, &Entry::name);
  if (entry != entries.end()) port = entry->field["spec"]["expose"]["service"]["port"].integer().value_or(port);
  return "http://" + name + ":" + std::to_string(dependency["port"].integer().value_or(port));
}

/// The variables by which the service learns of its dependencies.
std::map<std::string, std::string> injected_env(const Entry& entry, const std::vector<Entry>& entries) {
  std::map<std::string, std::string> out;
  for (const Field& each : entry.field["dependencies"].items()) {
    const auto variable = each["envName"].text();
    if (!variable || variable->empty()) continue;
    const auto value = each["envValue"].text();
    out.emplace(*variable, value && !value->empty() ? std::string(*value) : address_of(each, entries));
  }
  return out;
}

/// As it stands, but for nulls: a custom resource is stored as it was written.
void write_without_nulls(json::Writer& out, const json::Value& value) {
  if (value.is_array()) {
    out.array([&] {
      for (const json::Value& each : value.items()) write_without_nulls(out, each);
    });
  } else if (value.is_object()) {
    out.object([&] {
      for (const json::Member& each : value.members()) {
        if (each.value.is_null()) continue;
        out.key(each.key);
        write_without_nulls(out, each.value);
      }
    });
  } else {
    out.value(value);
  }
}

/// The entry's variables as they stand, then those that it does not set itself.
void write_env(json::Writer& out, const json::Value* env, const std::map<std::string, std::string>& injected) {
  std::set<std::string_view> own;
  out.array([&] {
    for (const json::Value& each : env == nullptr ? std::span<const json::Value>{} : env->items()) {
      own.insert(json::text(&each, {"name"}));
      write_without_nulls(out, each);
    }
    for (const auto& each : injected) {
      if (own.contains(each.first)) continue;
      out.object([&] {
        out.member("name", each.first);
        out.member("value", each.second);
      });
    }
  });
}

void write_spec(json::Writer& out, const json::Value* spec, const std::map<std::string, std::string>& injected) {
  out.object([&] {
    for (const json::Member& each : json::members(spec, {})) {
      if (each.value.is_null() || (each.key == "env" && !injected.empty())) continue;
      out.key(each.key);
      write_without_nulls(out, each.value);
    }
    if (injected.empty()) return;
    out.key("env");
    write_env(out, json::at(spec, {"env"}), injected);
  });
}

void add_service(const parts::Scope& scope, const Entry& entry, const std::vector<Entry>& entries) {
  parts::add_child(scope, ChildType::inference_service, entry.name, {}, [&](json::Writer& out) {
    out.key("spec");
    write_spec(out, entry.field["spec"].value(), injected_env(entry, entries));
  });
}

PipelineEntry observe(const parts::Scope& scope, const Entry& entry) {
  const LiveChild* live = scope.planning.observed.find(ChildType::inference_service, entry.name);
  PipelineEntry out{.name = entry.name,
                    .service = parts::own_live(scope, ChildType::inference_service, entry.name),
                    .name_taken = live != nullptr && parts::ownership(scope, *live) == Ownership::foreign,
                    .needs = {}};
  for (const Field& each : entry.field["dependencies"].items())
    if (const auto name = each["name"].text()) out.needs.emplace_back(*name);
  return out;
}

}  // namespace inference_pipeline

void plan_inference_pipeline(const Planning& planning) {
  using namespace inference_pipeline;
  const parts::Scope scope(planning);
  const std::vector<Entry> entries = enabled_entries(scope.spec);
  std::vector<PipelineEntry> observed;
  for (const Entry& each : entries) {
    add_service(scope, each, entries);
    observed.push_back(observe(scope, each));
  }
  planning.plan.status = pipeline_status(observed);
}

}  // namespace stackgate::reconcile
