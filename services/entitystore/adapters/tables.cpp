#include "services/entitystore/adapters/rows.hpp"

namespace stackgate::entitystore {
namespace tables_detail {

// owner, lease_until: which replica works on a row, and until when it must say so again (seconds since 1970).
// step: how far the registration of an `uploading` row has come; see registration/README.md.
// purged: nothing of a failed or deleted version is left in the datastore.
constexpr std::string_view adapters =
    "CREATE TABLE adapter (\n"
    "  id TEXT PRIMARY KEY,\n"
    "  namespace TEXT NOT NULL,\n"
    "  name TEXT NOT NULL,\n"
    "  version TEXT NOT NULL,\n"
    "  base_model TEXT NOT NULL,\n"
    "  status TEXT NOT NULL CHECK (status IN ('uploading', 'pending', 'ready', 'failed')),\n"
    "  reason TEXT NOT NULL DEFAULT '',\n"
    "  created_at TEXT NOT NULL,\n"
    "  updated_at TEXT NOT NULL,\n"
    "  deleted_at TEXT NOT NULL DEFAULT '',\n"
    "  purged INTEGER NOT NULL DEFAULT 0,\n"
    "  changed BIGINT NOT NULL,\n"
    "  lora TEXT NOT NULL,\n"
    "  description TEXT NOT NULL DEFAULT '',\n"
    "  project TEXT NOT NULL DEFAULT '',\n"
    "  tags TEXT NOT NULL DEFAULT '[]',\n"
    "  notes TEXT NOT NULL DEFAULT '[]',\n"
    "  repository TEXT NOT NULL,\n"
    "  commit_sha TEXT NOT NULL DEFAULT '',\n"
    "  archive_sha256 TEXT NOT NULL,\n"
    "  archive_bytes BIGINT NOT NULL,\n"
    "  step TEXT NOT NULL DEFAULT 'accepted',\n"
    "  owner TEXT NOT NULL DEFAULT '',\n"
    "  lease_until BIGINT NOT NULL DEFAULT 0\n"
    ");\n"
    "CREATE UNIQUE INDEX adapter_version ON adapter (lower(namespace), lower(name), version) WHERE deleted_at = '';\n"
    "CREATE INDEX adapter_changed ON adapter (changed);\n"
    "CREATE INDEX adapter_repository ON adapter (repository);\n"
    "CREATE TABLE adapter_file (\n"
    "  adapter_id TEXT NOT NULL REFERENCES adapter (id),\n"
    "  path TEXT NOT NULL,\n"
    "  size BIGINT NOT NULL,\n"
    "  sha256 TEXT NOT NULL,\n"
    "  large INTEGER NOT NULL,\n"
    "  PRIMARY KEY (adapter_id, path)\n"
    ");\n"
    "CREATE TABLE provenance (\n"
    "  adapter_id TEXT PRIMARY KEY REFERENCES adapter (id),\n"
    "  dataset TEXT NOT NULL,\n"
    "  job_id TEXT NOT NULL,\n"
    "  hyperparameters TEXT NOT NULL,\n"
    "  metrics TEXT NOT NULL,\n"
    "  training TEXT NOT NULL\n"
    ");\n"
    "CREATE TABLE change_counter (\n"
    "  id INTEGER PRIMARY KEY CHECK (id = 1),\n"
    "  value BIGINT NOT NULL\n"
    ");\n"
    "INSERT INTO change_counter (id, value) VALUES (1, 0);\n"
    "CREATE TABLE repository_lease (\n"
    "  repository TEXT PRIMARY KEY,\n"
    "  owner TEXT NOT NULL,\n"
    "  lease_until BIGINT NOT NULL\n"
    ");\n"
    "CREATE TABLE setting (\n"
    "  name TEXT PRIMARY KEY,\n"
    "  value TEXT NOT NULL\n"
    ");\n";

constexpr std::string_view access =
    "CREATE TABLE access_log (\n"
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,\n"
    "  adapter_id TEXT NOT NULL,\n"
    "  at TEXT NOT NULL,\n"
    "  actor TEXT NOT NULL,\n"
    "  action TEXT NOT NULL,\n"
    "  bytes BIGINT NOT NULL,\n"
    "  client TEXT NOT NULL,\n"
    "  trace_id TEXT NOT NULL\n"
    ");\n"
    "CREATE INDEX access_adapter ON access_log (adapter_id, id);\n"
    "CREATE INDEX access_at ON access_log (at);\n";

constexpr std::string_view entities =
    "CREATE TABLE entity (\n"
    "  id TEXT PRIMARY KEY,\n"
    "  kind TEXT NOT NULL,\n"
    "  namespace TEXT NOT NULL,\n"
    "  name TEXT NOT NULL,\n"
    "  body TEXT NOT NULL,\n"
    "  created_at TEXT NOT NULL,\n"
    "  updated_at TEXT NOT NULL,\n"
    "  CONSTRAINT entity_name UNIQUE (kind, namespace, name)\n"
    ");\n";

// name: in small letters. Written before a repository is made in the datastore, so that one that a crash leaves without
// a mark is known as ours.
constexpr std::string_view repositories =
    "CREATE TABLE made_repository (\n"
    "  name TEXT PRIMARY KEY\n"
    ");\n";

constexpr sql::Migration steps[] = {
    {1, "adapters", adapters, ""},
    {2, "access log", access, ""},
    {3, "entities", entities, ""},
    {4, "made repositories", repositories, ""},
};

}  // namespace tables_detail

std::span<const sql::Migration> migrations() { return tables_detail::steps; }

}  // namespace stackgate::entitystore
