// Objects that a resource names: do they exist, and do they hold what will be read from them?
#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "services/guardrail/configuration/configuration.hpp"
#include "services/kit/findings/nearest.hpp"
#include "services/kit/grammar/names.hpp"
#include "services/kit/schema/check.hpp"
#include "validators/rules/claim_growth.hpp"
#include "validators/rules/kinds.hpp"
#include "validators/rules/references_ask.hpp"
#include "validators/rules/references_table.hpp"
#include "validators/rules/stack_parts.hpp"

namespace stackgate::validate {
namespace reference {

constexpr std::size_t most_keys_named = 8;

std::string join_keys(const std::vector<std::string>& keys) {
  std::string out;
  for (std::size_t i = 0; i < std::min(keys.size(), most_keys_named); ++i) {
    if (i > 0) out += ", ";
    out += keys[i];
  }
  if (keys.size() > most_keys_named)
    fmt::format_to(std::back_inserter(out), " and {} more", keys.size() - most_keys_named);
  return out;
}

std::string_view nearest_key(std::string_view wanted, const std::vector<std::string>& keys) {
  const std::vector<std::string_view> known(keys.begin(), keys.end());
  return nearest(wanted, known);
}

struct Place {
  Context& context;
  Asker& asker;
  const ReferenceRow& row;
  Severity severity;
  Field parent;  // what `field` stands in
  Field field;   // the name
  std::string_view name;

  bool required() const { return row.demand == Demand::required; }
  void report(const Rule& rule, const Field& at, std::string problem, std::string fix) const {
    context.report(rule, severity, at, std::move(problem), std::move(fix));
  }
};

/// The keys that will be read from a Secret or ConfigMap, each with the field to blame.
std::vector<std::pair<std::string_view, Field>> wanted_keys(const Place& place) {
  std::vector<std::pair<std::string_view, Field>> out;
  for (const std::string_view each : place.row.key_names) {
    if (each.empty()) continue;
    if (place.row.keys == Keys::fixed || place.row.keys == Keys::flat) out.emplace_back(each, place.field);
    if (place.row.keys != Keys::written) continue;
    const Field key = place.parent[each];
    if (const auto text = key.text(); text && !grammar::check_config_key(*text))
      out.emplace_back(*text, key ? key : place.field);
  }
  return out;
}

/// "config.yaml" for "config.yml", "strict__config.yml" for that file of a folder.
bool stands_for(std::string_view wanted, std::string_view key) {
  if (const auto folder = key.rfind("__"); folder != std::string_view::npos) key.remove_prefix(folder + 2);
  return key == wanted ||
         (wanted.ends_with(".yml") && key == fmt::format("{}.yaml", wanted.substr(0, wanted.rfind('.'))));
}

std::string name_keys(const std::vector<std::pair<std::string_view, Field>>& keys) {
  if (keys.empty()) return {};
  if (keys.size() == 1) return fmt::format(" with the key {}", keys[0].first);
  return fmt::format(" with the keys {} and {}", keys[0].first, keys[1].first);
}

struct Missing {
  const Rule* required;  // what is reported where the specification wants it to exist beforehand
  const Rule* other;
  std::string_view cure;
};
/// By ReferenceKind.
constexpr std::array<Missing, 8> missing{{
    {&rule::required_secret_missing, &rule::secret_missing, "name one that exists"},
    {&rule::required_config_map_missing, &rule::config_map_missing, "name one that exists"},
    {&rule::required_claim_missing, &rule::claim_missing,
     "create the claim, name one that exists, or write create: true with size and volumeAccessMode"},
    {&rule::service_account_missing, &rule::service_account_missing, "create it, or name one that exists"},
    {&rule::cache_missing, &rule::cache_missing, "create it, or name one that exists"},
    {&rule::storage_class_missing, &rule::storage_class_missing,
     "name a class that `kubectl get storageclass` lists, or leave the field out for the default class"},
    {&rule::priority_class_missing, &rule::priority_class_missing,
     "name a class that `kubectl get priorityclass` lists, or leave the field out"},
    {&rule::runtime_class_missing, &rule::runtime_class_missing,
     "name a class that `kubectl get runtimeclass` lists, or leave the field out"},
}};

void report_missing(const Place& place) {
  const ReferenceKind kind = place.row.reference_kind;
  std::string problem = fmt::format("there is no such {}", kind_name(kind));
  if (!is_cluster_wide(kind)) fmt::format_to(std::back_inserter(problem), " in namespace \"{}\"", place.asker.ns());
  const Missing& words = missing[static_cast<std::size_t>(kind)];
  std::string fix(words.cure);
  if (kind == ReferenceKind::secret || kind == ReferenceKind::config_map)
    fix = fmt::format("create it{}{}, or {}",
                      place.row.secret_type.empty() ? "" : fmt::format(" with type {}", place.row.secret_type),
                      name_keys(wanted_keys(place)), words.cure);
  place.report(place.required() ? *words.required : *words.other, place.field, std::move(problem), std::move(fix));
}

void check_keys(const Place& place, const ReferencedObject& found) {
  if (place.row.keys == Keys::none) return;
  const std::string_view kind = kind_name(place.row.reference_kind);
  const bool is_secret = place.row.reference_kind == ReferenceKind::secret;
  const Rule& rule = is_secret
                         ? (place.required() ? rule::required_secret_key_missing : rule::secret_key_missing)
                         : (place.required() ? rule::required_config_map_key_missing : rule::config_map_key_missing);
  if (place.row.keys == Keys::any) {
    if (found.keys.empty())
      place.report(rule, place.field, fmt::format("{} \"{}\" is empty", kind, place.name),
                   fmt::format("put the files that are read from it into the {}", kind));
    return;
  }
  for (const auto& [wanted, at] : wanted_keys(place)) {
    if (std::ranges::find(found.keys, wanted) != found.keys.end()) continue;
    if (place.row.keys == Keys::flat &&
        std::ranges::any_of(found.keys, [&](std::string_view key) { return stands_for(wanted, key); }))
      continue;
    std::string problem = fmt::format("{} \"{}\" has no key {}", kind, place.name, wanted);
    if (found.keys.empty())
      problem += "; it is empty";
    else
      fmt::format_to(std::back_inserter(problem), "; it holds {}", join_keys(found.keys));
    const std::string_view near = nearest_key(wanted, found.keys);
    std::string fix;
    if (place.row.keys == Keys::written && !near.empty())
      fix = fmt::format("did you mean {}? Write it here, or add {} to the {}", near, wanted, kind);
    else if (place.row.keys == Keys::written && !found.keys.empty())
      fix = fmt::format("write one of its keys here, or add {} to the {}", wanted, kind);
    else if (!near.empty())
      fix = fmt::format("rename {} to {} in the {}", near, wanted, kind);
    else
      fix = fmt::format("add the key {} to the {}", wanted, kind);
    place.report(rule, at, std::move(problem), std::move(fix));
  }
}

/// As the guardrail will compile it.
void check_configurations(const Place& place) {
  constexpr std::size_t most_named = 50;
  const auto entries = place.context.lookup->contents(place.asker.ns(), place.name);
  if (!entries) return;
  std::vector<guardrail::File> files;
  for (const ConfigMapEntry& each : *entries) files.push_back({each.key, each.bytes, each.key});
  std::size_t faults = 0;
  for (const auto& [id, own] : guardrail::configurations_of_config_map(files))
    for (const Finding& each : guardrail::read_configuration(id, own).findings) {
      if (each.severity != Severity::error || ++faults > most_named) continue;
      place.report(rule::guardrail_configuration, place.field, fmt::format("configMap {}: {}", each.path, each.problem),
                   each.fix);
    }
  if (faults > most_named)
    place.report(rule::guardrail_configuration, place.field,
                 fmt::format("configMap has {} more faults", faults - most_named), "mend those that are named first");
}

void check_type(const Place& place, const ReferencedObject& found) {
  if (place.row.secret_type.empty() || found.type.empty() || found.type == place.row.secret_type) return;
  // The older spelling of a pull secret still works.
  if (place.row.secret_type == "kubernetes.io/dockerconfigjson" && found.type == "kubernetes.io/dockercfg") return;
  place.report(
      rule::secret_type_wrong, place.field,
      fmt::format("Secret \"{}\" has type {} and is passed over here", place.name, found.type),
      fmt::format("name a Secret of type {}; the type of an existing one cannot be changed", place.row.secret_type));
}

void check_cache(const Place& place, const ReferencedObject& found) {
  if (found.state == "Failed") {
    place.report(rule::cache_failed, place.field,
                 fmt::format("InferenceCache \"{}\" has failed and holds no complete model", place.name),
                 fmt::format("see `kubectl describe inferencecache {} -n {}`; create the cache anew or name another",
                             place.name, place.asker.ns()));
    return;
  }
  const Field profile = place.parent["profile"];
  const auto wanted = profile.text();
  if (!wanted || wanted->empty() || found.profiles.empty()) return;
  if (std::ranges::find(found.profiles, *wanted) != found.profiles.end()) return;
  const std::string_view near = nearest_key(*wanted, found.profiles);
  place.report(
      rule::cache_profile_unknown, profile,
      fmt::format("InferenceCache \"{}\" holds no such profile; it holds {}", place.name, join_keys(found.profiles)),
      near.empty() ? "write one of these profiles, or leave the field out to let the service choose"
                   : fmt::format("did you mean {}?", near));
}

void check_place(const Place& place, const Field& spec) {
  const ReferencedObject& found = place.asker.ask(place.row.reference_kind, place.name, place.field);
  if (found.presence == Presence::unknown) return;
  if (found.presence == Presence::absent) return report_missing(place);
  switch (place.row.reference_kind) {
    case ReferenceKind::secret:
      // Of two faults in one Secret the type is the deeper one: its keys follow from it.
      if (!place.row.secret_type.empty()) check_type(place, found);
      if (found.type.empty() || place.row.secret_type.empty() || found.type == place.row.secret_type)
        check_keys(place, found);
      break;
    case ReferenceKind::config_map:
      check_keys(place, found);
      if (place.row.keys == Keys::flat) check_configurations(place);
      break;
    case ReferenceKind::inference_cache:
      check_cache(place, found);
      break;
    case ReferenceKind::persistent_volume_claim:
      check_existing_claim(place.context, spec, place.field, found.access_modes);
      break;
    default:
      break;
  }
}

void check_spec(Context& context, Asker& asker, crds::Kind kind, const Field& spec) {
  for (const ReferenceRow& row : reference_rows()) {
    if ((row.kinds & kind_bit(kind)) == 0) continue;
    const References mode =
        row.demand == Demand::required ? context.options.required_references : context.options.other_references;
    if (mode == References::off) continue;
    const Severity severity = mode == References::deny ? Severity::error : Severity::warning;
    each_reference(row, spec, [&](const Field& parent, const Field& field) {
      const auto name = field.text();
      // A name that no object can have is a fault of its own; asking for it would only repeat that.
      if (!name || name->empty() || grammar::check_dns_subdomain(*name) || !counts(row.when, parent)) return;
      check_place({context, asker, row, severity, parent, field, *name}, spec);
    });
  }
}

}  // namespace reference

void check_references(Context& context, Field object) {
  if (context.lookup == nullptr) return;
  Asker asker(context, namespace_of(context, object));
  const Field spec = object["spec"];
  if (context.request.kind == crds::Kind::inference_pipeline) {
    for (const Field service : spec["services"].items())
      if (service["enabled"].flag().value_or(true))
        reference::check_spec(context, asker, crds::Kind::inference_service, service["spec"]);
  } else {
    reference::check_spec(context, asker, context.request.kind, spec);
  }
  check_claim_growth(context, asker, object);
  asker.report_unanswered();
}

}  // namespace stackgate::validate
