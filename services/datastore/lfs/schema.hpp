// The tables of this folder, for the datastore's list of migrations. Released steps never change.
#pragma once
#include <string_view>

namespace stackgate::datastore::lfs {

/// Statements for both engines, each ending with ';' at the end of a line.
inline constexpr std::string_view schema_1 = R"(
CREATE TABLE lfs_objects (
  oid TEXT PRIMARY KEY,
  size BIGINT NOT NULL,
  state TEXT NOT NULL,
  touched_at BIGINT NOT NULL
);
CREATE TABLE lfs_links (
  repository_id BIGINT NOT NULL,
  oid TEXT NOT NULL,
  touched_at BIGINT NOT NULL,
  PRIMARY KEY (repository_id, oid)
);
CREATE INDEX lfs_links_oid ON lfs_links (oid);
CREATE TABLE lfs_incoming (
  repository_id BIGINT NOT NULL,
  oid TEXT NOT NULL,
  size BIGINT NOT NULL,
  touched_at BIGINT NOT NULL,
  claimed_until BIGINT NOT NULL,
  attempts BIGINT NOT NULL,
  PRIMARY KEY (repository_id, oid)
);
CREATE TABLE lfs_locks (
  id TEXT PRIMARY KEY,
  repository_id BIGINT NOT NULL,
  path TEXT NOT NULL,
  ref TEXT NOT NULL,
  owner_id BIGINT NOT NULL,
  owner_name TEXT NOT NULL,
  locked_at TEXT NOT NULL,
  UNIQUE (repository_id, path)
);
)";

}  // namespace stackgate::datastore::lfs
