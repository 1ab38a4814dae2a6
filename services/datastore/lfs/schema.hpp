// The tables of this folder. Released steps never change.
#pragma once
#include <string_view>

namespace stackgate::datastore::lfs {

/// Statements for both engines, each ending with ';' at the end of a line.
///
/// lfs_objects: what the store has under its key. state is 'present' or 'deleting': a row that is being deleted stands
/// until its file is gone, so that nobody links to it in between.
/// lfs_links: which repository has which file. lfs_incoming: direct uploads not hashed yet; each is also its own link.
/// touched_at, claimed_until: seconds since 1970.
inline constexpr std::string_view schema_1 = R"(
CREATE TABLE lfs_objects (
  oid TEXT PRIMARY KEY,
  size BIGINT NOT NULL,
  state TEXT NOT NULL,
  touched_at BIGINT NOT NULL
);
CREATE TABLE lfs_links (
  repository_id BIGINT NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
  oid TEXT NOT NULL,
  touched_at BIGINT NOT NULL,
  PRIMARY KEY (repository_id, oid)
);
CREATE INDEX lfs_links_oid ON lfs_links (oid);
CREATE TABLE lfs_incoming (
  repository_id BIGINT NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
  oid TEXT NOT NULL,
  size BIGINT NOT NULL,
  touched_at BIGINT NOT NULL,
  claimed_until BIGINT NOT NULL,
  attempts BIGINT NOT NULL,
  PRIMARY KEY (repository_id, oid)
);
CREATE TABLE lfs_locks (
  id TEXT PRIMARY KEY,
  repository_id BIGINT NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
  path TEXT NOT NULL,
  ref TEXT NOT NULL,
  owner_id BIGINT NOT NULL,
  owner_name TEXT NOT NULL,
  locked_at TEXT NOT NULL,
  UNIQUE (repository_id, path)
);
CREATE INDEX lfs_locks_order ON lfs_locks (repository_id, id);
)";

}  // namespace stackgate::datastore::lfs
