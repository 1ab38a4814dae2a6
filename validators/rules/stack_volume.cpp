#include <array>
#include <vector>

#include <fmt/format.h>

#include "validators/rules/stack_parts.hpp"

namespace stackgate::validate {
namespace volume {

/// What the pods do with a claim.
struct Use {
  std::string_view what;  // "the datastore's claim"
  bool written = false;
  std::int64_t replicas = 1;     // pods of one Deployment that mount it
  const Rule* spread = nullptr;  // what to report when pods on several nodes need it
  std::string_view why_spread = {};
};

struct Modes {
  bool once = false, once_pod = false, many = false, read_many = false;
  bool any() const { return once || once_pod || many || read_many; }
};

Modes modes_of(std::span<const std::string> names) {
  Modes out;
  for (const std::string& each : names) {
    if (each == "ReadWriteOnce") out.once = true;
    if (each == "ReadWriteOncePod") out.once_pod = true;
    if (each == "ReadWriteMany") out.many = true;
    if (each == "ReadOnlyMany") out.read_many = true;
  }
  return out;
}

std::string_view most_of(const Modes& modes) {
  return modes.once ? "ReadWriteOnce" : modes.once_pod ? "ReadWriteOncePod" : "ReadOnlyMany";
}

/// `at` is the access mode or, for a claim that exists, its name.
void check(Context& context, const Field& at, const Use& use, const Modes& modes, bool exists) {
  if (!modes.any() || modes.many || (modes.read_many && !use.written)) return;
  const std::string_view is = most_of(modes);
  const std::string subject =
      exists ? fmt::format("the claim is {}", is) : std::string("the claim would be ") + std::string(is);
  const std::string_view cure = exists ? "name a claim with the access mode ReadWriteMany" : "write ReadWriteMany";
  if (!modes.once && !modes.once_pod) {
    context.report(
        rule::claim_read_only, at, fmt::format("{}, but {} is written to", subject, use.what),
        use.replicas > 1 || use.spread != nullptr ? std::string(cure) : fmt::format("{} or ReadWriteOnce", cure));
    return;
  }
  if (use.replicas > 1) {
    const Rule& rule = modes.once ? rule::replicas_share_volume : rule::replicas_exclusive_volume;
    context.report(rule, at,
                   fmt::format("{}, which {} at a time can mount, and there are {} replicas", subject,
                               modes.once ? "one node" : "one pod", use.replicas),
                   fmt::format("{}, or write replicas: 1", cure));
  } else if (use.spread != nullptr) {
    context.report(*use.spread, at,
                   fmt::format("{}, which {} at a time can mount, but {}", subject, modes.once ? "one node" : "one pod",
                               use.why_spread),
                   std::string(cure));
  }
}

struct Mounted {
  Field claim;
  Use use;
};

std::vector<Mounted> mounted(const Context& context, const Field& spec) {
  const std::int64_t replicas = spec["replicas"].integer().value_or(1);
  switch (context.request.kind) {
    case crds::Kind::stack_datastore:
      return {{spec["pvc"], {"the datastore's claim", true, replicas}}};
    case crds::Kind::stack_guardrail:
      return {{spec["configStore"]["pvc"], {"the configuration store", false, replicas}}};
    case crds::Kind::stack_customizer: {
      const Field training = spec["trainingConfig"];
      Use workspace{"a job's workspace", true};
      if (training["networkConfig"].size() > 0) {
        workspace.spread = &rule::workspace_volume_single_node;
        workspace.why_spread = "networkConfig is for training on several nodes";
      }
      return {{training["modelPVC"],
               {"the model cache", true, 1, &rule::model_volume_single_node,
                "download and training jobs may run on different nodes"}},
              {training["workspacePVC"], workspace}};
    }
    case crds::Kind::inference_cache:
      return {{spec["storage"]["pvc"], {"the cache's claim", true}}};
    default:
      return {};
  }
}

}  // namespace volume

void check_volumes(Context& context, Field spec) {
  for (const volume::Mounted& each : volume::mounted(context, spec)) {
    const Field mode = each.claim["volumeAccessMode"];
    const auto text = mode.text();
    if (!text) continue;
    // A workspace is always created: it has no field for it.
    const bool may_exist = each.claim.node() != nullptr && each.claim.node()->property("create") != nullptr;
    const bool exists = may_exist && !each.claim["create"].flag().value_or(false);
    if (exists && context.lookup != nullptr) continue;  // its real modes count: check_existing_claim()
    const std::array<std::string, 1> one{std::string(*text)};
    volume::check(context, mode ? mode : each.claim, each.use, volume::modes_of(one), false);
  }
}

void check_existing_claim(Context& context, Field spec, Field name, std::span<const std::string> access_modes) {
  for (const volume::Mounted& each : volume::mounted(context, spec))
    if (each.claim["name"].value() == name.value())
      volume::check(context, name, each.use, volume::modes_of(access_modes), true);
}

}  // namespace stackgate::validate
