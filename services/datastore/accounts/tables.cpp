#include "services/datastore/migrations.hpp"

namespace stackgate::datastore {
namespace {

// name_key is the name in lower case: ASCII by its grammar, so that both engines compare alike. `id` is how an engine
// hands out ids.
#define STACKGATE_ACCOUNTS(id)                                        \
  "CREATE TABLE accounts (\n"                                         \
  "  id " id                                                          \
  ",\n"                                                               \
  "  name TEXT NOT NULL,\n"                                           \
  "  name_key TEXT NOT NULL CONSTRAINT accounts_name UNIQUE,\n"       \
  "  kind TEXT NOT NULL CHECK (kind IN ('user', 'organization')),\n"  \
  "  full_name TEXT NOT NULL DEFAULT '',\n"                           \
  "  email TEXT NOT NULL DEFAULT '',\n"                               \
  "  password TEXT,\n"                                                \
  "  is_admin INTEGER NOT NULL DEFAULT 0,\n"                          \
  "  is_active INTEGER NOT NULL DEFAULT 1,\n"                         \
  "  steward_id BIGINT REFERENCES accounts(id) ON DELETE SET NULL,\n" \
  "  created_at TEXT NOT NULL,\n"                                     \
  "  updated_at TEXT NOT NULL\n"                                      \
  ");\n"
#define STACKGATE_TOKENS(id)                                                  \
  "CREATE TABLE tokens (\n"                                                   \
  "  id " id                                                                  \
  ",\n"                                                                       \
  "  account_id BIGINT NOT NULL REFERENCES accounts(id) ON DELETE CASCADE,\n" \
  "  name TEXT NOT NULL,\n"                                                   \
  "  hash TEXT NOT NULL CONSTRAINT tokens_hash UNIQUE,\n"                     \
  "  last_eight TEXT NOT NULL,\n"                                             \
  "  scope TEXT NOT NULL CHECK (scope IN ('read', 'write')),\n"               \
  "  created_at TEXT NOT NULL,\n"                                             \
  "  expires_at TEXT,\n"                                                      \
  "  last_used_at TEXT,\n"                                                    \
  "  CONSTRAINT tokens_name UNIQUE (account_id, name)\n"                      \
  ");\n"
#define STACKGATE_SQLITE_ID "INTEGER PRIMARY KEY AUTOINCREMENT"
#define STACKGATE_POSTGRESQL_ID "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"

constexpr sql::Migration account_steps[] = {
    {1, "accounts", STACKGATE_ACCOUNTS(STACKGATE_SQLITE_ID), STACKGATE_ACCOUNTS(STACKGATE_POSTGRESQL_ID)},
    {2, "tokens", STACKGATE_TOKENS(STACKGATE_SQLITE_ID), STACKGATE_TOKENS(STACKGATE_POSTGRESQL_ID)},
};

#undef STACKGATE_ACCOUNTS
#undef STACKGATE_TOKENS
#undef STACKGATE_SQLITE_ID
#undef STACKGATE_POSTGRESQL_ID

// last_at: seconds since 1970. Used with PostgreSQL only, which several replicas may share.
constexpr sql::Migration failure_steps[] = {
    {5,
     "failed sign-ins",
     "CREATE TABLE failed_sign_ins (\n"
     "  key TEXT PRIMARY KEY,\n"
     "  failures BIGINT NOT NULL,\n"
     "  last_at BIGINT NOT NULL\n"
     ");\n"
     "CREATE INDEX failed_sign_ins_last ON failed_sign_ins (last_at);\n",
     {}},
};

}  // namespace

std::span<const sql::Migration> account_migrations() { return account_steps; }
std::span<const sql::Migration> failure_migrations() { return failure_steps; }

}  // namespace stackgate::datastore
