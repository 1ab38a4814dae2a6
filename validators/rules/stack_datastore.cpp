#include <array>
#include <utility>

#include <fmt/format.h>

#include "validators/rules/common.hpp"
#include "validators/rules/kinds.hpp"
#include "validators/rules/stack_parts.hpp"

namespace stackgate::validate {
namespace datastore {

constexpr std::array<std::string_view, 5> secret_fields{"gitAdminSecret", "lfsJwtSecret", "datastoreConfigSecret",
                                                        "datastoreInitSecret", "datastoreInlineConfigSecret"};

void check_secrets(Context& context, const Field& secrets) {
  for (std::size_t i = 0; i < secret_fields.size(); ++i) {
    const Field one = secrets[secret_fields[i]];
    check_object_name(context, one);
    const auto name = one.text();
    if (!name || name->empty()) continue;
    for (std::size_t earlier = 0; earlier < i; ++earlier) {
      if (secrets[secret_fields[earlier]].text() != name) continue;
      context.report(rule::datastore_secrets_shared, one,
                     fmt::format("is the same Secret as {}", secret_fields[earlier]),
                     "use a Secret for each of the five, so that scripts and passwords are kept apart");
      break;
    }
  }
}

void check_storage(Context& context, const Field& spec) {
  const Field pvc = spec["pvc"];
  if (pvc) return;
  const std::int64_t replicas = spec["replicas"].integer().value_or(1);
  if (replicas > 1)
    context.report(rule::datastore_replicas_without_volume, pvc,
                   fmt::format("without pvc each of the {} replicas keeps repositories of its own", replicas),
                   "add pvc with volumeAccessMode: ReadWriteMany, or write replicas: 1");
  else
    context.report(rule::datastore_without_volume, pvc, "without pvc all repositories are lost when the pod restarts",
                   "add pvc: {name: …, create: true, size: 50Gi, volumeAccessMode: ReadWriteOnce}");
}

}  // namespace datastore

void check_stack_datastore(Context& context, Field object) {
  const Field spec = object["spec"];
  datastore::check_secrets(context, spec["secrets"]);
  datastore::check_storage(context, spec);
  check_claim(context, spec["pvc"]);
  check_volumes(context, spec);
  check_object_store(context, spec["objectStoreConfig"]);
}

}  // namespace stackgate::validate
