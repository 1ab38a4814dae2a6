// What the five stack kinds share.
//
//   parts::Scope scope(planning);
//   parts::Workload workload = stack::begin(scope, {.readiness_path = "/v1/health/ready", …});
//   … its own variables, volumes, rights …
//   stack::finish(scope, std::move(workload), {…});
//
// Pure. Variables, volumes and paths stand in tables in CONTRACT.md.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reconcile/plan/parts/workload.hpp"

namespace stackgate::reconcile::stack {

/// Where Secrets are mounted, each in a folder of its own.
inline constexpr std::string_view secrets_folder = "/run/secrets/stackgate";

/// The workload, called like its component, with image, listening address, data folder, OpenTelemetry and, where the
/// spec has one, the database.
parts::Workload begin(const parts::Scope& scope, parts::WorkloadDefaults defaults = {});

/// A variable with the field's value (or its default), when there is one.
void put_text(parts::Workload& workload, std::string_view name, const parts::Field& field);

/// Mounts keys of a Secret, or all of them, read-only at <secrets_folder>/<volume>; gives that path.
std::string mount_secret(parts::Workload& workload, std::string_view volume, std::string_view secret,
                         const std::vector<pods::KeyToPath>& items = {});

/// The image that `field` names, or the operator's own of that name.
std::string image_or_own(const parts::Scope& scope, const parts::Field& field, std::string_view own);

/// The Service of namespace `ns` that the URL's host names: "datastore", "datastore.team", "datastore.team.svc" and
/// that with any cluster domain behind it. Empty when it names none. A view into `url`.
std::string_view service_named(std::string_view url, std::string_view ns);

/// The StackDatastore of namespace `ns` that `spec.datastore.endpoint` names; empty when it names none.
std::string_view datastore_named(const json::Value* spec, std::string_view ns);
/// The Secret of that StackDatastore's administrator. The endpoint is no reference to an object, and which of its
/// Secrets is the administrator's the table of references does not say: so both are asked here.
std::string_view admin_secret_of(const json::Value& datastore);

/// DATASTORE_USERNAME and DATASTORE_PASSWORD: those of the user's `env`, otherwise by reference to the administrator's
/// Secret of the StackDatastore that `datastore.endpoint` names (Observed::datastore_admin), where that is known.
std::vector<pods::EnvVar> datastore_credentials_of(const parts::Scope& scope);
/// These, for the workload; the user's own stand in it where finish() puts all of them.
void sign_in_to_datastore(const parts::Scope& scope, parts::Workload& workload);

struct Ending {
  /// Sub-commands that run before the container starts, after `migrate`.
  std::vector<std::string> init = {};
  /// A `pvc` object whose claim the pods mount: what is wrong with it is reported in the status.
  std::optional<parts::Field> mounted = {};
};

/// Adds the user's variables, the data folder (an emptyDir unless a volume `data` is mounted), init containers, all
/// children, and the status.
void finish(const parts::Scope& scope, parts::Workload workload, const Ending& ending = {});

}  // namespace stackgate::reconcile::stack
