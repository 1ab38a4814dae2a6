#include "services/datastore/migrations.hpp"

namespace stackgate::datastore {
namespace {

// repository_ids hands out ids before the record is written, because the folder comes first; none is given twice.
constexpr sql::Migration repository_steps[] = {
    {3,
     "repositories",
     "CREATE TABLE repository_ids (last BIGINT NOT NULL);\n"
     "INSERT INTO repository_ids (last) VALUES (0);\n"
     "CREATE TABLE repositories (\n"
     "  id BIGINT PRIMARY KEY,\n"
     "  owner_id BIGINT NOT NULL CONSTRAINT repositories_owner REFERENCES accounts(id) ON DELETE RESTRICT,\n"
     "  name TEXT NOT NULL,\n"
     "  name_key TEXT NOT NULL,\n"
     "  type TEXT CHECK (type IN ('model', 'dataset', 'space')),\n"
     "  description TEXT NOT NULL DEFAULT '',\n"
     "  is_private INTEGER NOT NULL,\n"
     "  is_archived INTEGER NOT NULL DEFAULT 0,\n"
     "  default_branch TEXT NOT NULL,\n"
     "  size BIGINT NOT NULL DEFAULT 0,\n"
     "  measured_at TEXT,\n"
     "  created_at TEXT NOT NULL,\n"
     "  updated_at TEXT NOT NULL,\n"
     "  CONSTRAINT repositories_name UNIQUE (owner_id, name_key)\n"
     ");\n"
     "CREATE TABLE repository_redirects (\n"
     "  owner_id BIGINT NOT NULL REFERENCES accounts(id) ON DELETE CASCADE,\n"
     "  name_key TEXT NOT NULL,\n"
     "  repository_id BIGINT NOT NULL REFERENCES repositories(id) ON DELETE CASCADE,\n"
     "  PRIMARY KEY (owner_id, name_key)\n"
     ");\n"
     "CREATE INDEX repository_redirects_target ON repository_redirects (repository_id);\n"
     "CREATE INDEX repositories_updated ON repositories (updated_at);\n",
     {}},
};

}  // namespace

std::span<const sql::Migration> repository_migrations() { return repository_steps; }

}  // namespace stackgate::datastore
