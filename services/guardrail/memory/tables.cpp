#include <array>

#include "services/guardrail/memory/conversations.hpp"

namespace stackgate::guardrail {
namespace {

// owner, lease_until: the lock; "" is free. messages: the number of the last one. Times: seconds since 1970. content:
// a JSON text, as databases take no NUL; bytes: of what it stands for.
constexpr std::array migrations = {sql::Migration{1, "conversations",
                                                  R"(
CREATE TABLE conversation (
  thread_id TEXT PRIMARY KEY,
  state TEXT NOT NULL DEFAULT '',
  messages BIGINT NOT NULL DEFAULT 0,
  owner TEXT NOT NULL DEFAULT '',
  lease_until BIGINT NOT NULL DEFAULT 0,
  changed_at BIGINT NOT NULL
);
CREATE INDEX conversation_age ON conversation (changed_at);
CREATE TABLE conversation_message (
  thread_id TEXT NOT NULL,
  number BIGINT NOT NULL,
  role TEXT NOT NULL,
  content TEXT NOT NULL,
  bytes BIGINT NOT NULL,
  PRIMARY KEY (thread_id, number)
);
)",
                                                  ""},
                                   // revision: differs after each change of any of them. bytes: of the text.
                                   sql::Migration{2, "kept configurations",
                                                  R"(
CREATE TABLE kept_configuration (
  name_space TEXT NOT NULL,
  name TEXT NOT NULL,
  id TEXT NOT NULL UNIQUE,
  text TEXT NOT NULL,
  bytes BIGINT NOT NULL,
  version BIGINT NOT NULL,
  PRIMARY KEY (name_space, name)
);
CREATE TABLE kept_configuration_revision (revision BIGINT NOT NULL);
INSERT INTO kept_configuration_revision (revision) VALUES (0);
)",
                                                  ""}};

}  // namespace

std::span<const sql::Migration> conversation_migrations() { return migrations; }

}  // namespace stackgate::guardrail
