#include <array>

#include "services/customizer/records/records.hpp"

namespace stackgate::customizer {
namespace migrations_detail {

/// `idempotency_key` is NULL where there was none. `settled`: nothing will ever be done about it again. `woken`:
/// whoever steps it shall look at it.
constexpr std::string_view tables =
    "CREATE TABLE customization (\n"
    "  number INTEGER PRIMARY KEY AUTOINCREMENT,\n"
    "  id TEXT NOT NULL UNIQUE,\n"
    "  name TEXT NOT NULL UNIQUE,\n"
    "  model TEXT NOT NULL,\n"
    "  state TEXT NOT NULL,\n"
    "  message TEXT NOT NULL DEFAULT '',\n"
    "  request TEXT NOT NULL,\n"
    "  stages TEXT NOT NULL DEFAULT '',\n"
    "  trained INTEGER NOT NULL DEFAULT 0,\n"
    "  progress TEXT NOT NULL DEFAULT '',\n"
    "  warnings TEXT NOT NULL,\n"
    "  token TEXT NOT NULL,\n"
    "  traceparent TEXT NOT NULL,\n"
    "  idempotency_key TEXT UNIQUE,\n"
    "  digest TEXT NOT NULL,\n"
    "  revision BIGINT NOT NULL DEFAULT 1,\n"
    "  settled INTEGER NOT NULL DEFAULT 0,\n"
    "  woken INTEGER NOT NULL DEFAULT 1,\n"
    "  owner TEXT NOT NULL DEFAULT '',\n"
    "  lease_until BIGINT NOT NULL DEFAULT 0,\n"
    "  created_at BIGINT NOT NULL,\n"
    "  changed_at BIGINT NOT NULL,\n"
    "  reported_at BIGINT NOT NULL DEFAULT 0,\n"
    "  started_at BIGINT NOT NULL DEFAULT 0,\n"
    "  ended_at BIGINT NOT NULL DEFAULT 0\n"
    ");\n"
    "CREATE INDEX customization_state ON customization (state, number);\n"
    "CREATE INDEX customization_model ON customization (model, state, number);\n"
    "CREATE INDEX customization_to_do ON customization (settled, owner, woken);\n"
    // How many there are, so that nobody counts rows for the pages of a list.
    "CREATE TABLE customization_count (\n"
    "  model TEXT NOT NULL,\n"
    "  state TEXT NOT NULL,\n"
    "  amount BIGINT NOT NULL,\n"
    "  PRIMARY KEY (model, state)\n"
    ");\n"
    "CREATE TABLE customization_point (\n"
    "  customization TEXT NOT NULL,\n"
    "  step BIGINT NOT NULL,\n"
    "  train_loss DOUBLE PRECISION,\n"
    "  val_loss DOUBLE PRECISION,\n"
    "  at BIGINT NOT NULL,\n"
    "  PRIMARY KEY (customization, step)\n"
    ");\n"
    "CREATE TABLE customization_event (\n"
    "  number INTEGER PRIMARY KEY AUTOINCREMENT,\n"
    "  customization TEXT NOT NULL,\n"
    "  at BIGINT NOT NULL,\n"
    "  is_log INTEGER NOT NULL DEFAULT 0,\n"
    "  message TEXT NOT NULL,\n"
    "  detail TEXT NOT NULL\n"
    ");\n"
    "CREATE INDEX customization_event_of ON customization_event (customization, number);\n";

/// `over`: nothing is left to be sent. `next_at`: not before; whoever sends it sets it ahead, as a lease.
constexpr std::string_view trackings =
    "CREATE TABLE customization_tracking (\n"
    "  customization TEXT NOT NULL,\n"
    "  tracker TEXT NOT NULL,\n"
    "  run TEXT NOT NULL DEFAULT '',\n"
    "  sent BIGINT NOT NULL DEFAULT 0,\n"
    "  lines BIGINT NOT NULL DEFAULT 0,\n"
    "  secret TEXT NOT NULL DEFAULT '',\n"
    "  over INTEGER NOT NULL DEFAULT 0,\n"
    "  next_at BIGINT NOT NULL DEFAULT 0,\n"
    "  failing_since BIGINT NOT NULL DEFAULT 0,\n"
    "  PRIMARY KEY (customization, tracker)\n"
    ");\n"
    "CREATE INDEX customization_tracking_due ON customization_tracking (over, next_at);\n";

/// What the trainer reports beside its losses.
constexpr std::string_view rates =
    "ALTER TABLE customization_point ADD COLUMN learning_rate DOUBLE PRECISION;\n"
    "ALTER TABLE customization_point ADD COLUMN tokens_per_second DOUBLE PRECISION;\n"
    "ALTER TABLE customization_point ADD COLUMN epoch DOUBLE PRECISION;\n";

/// What is being deleted cannot be tried again.
constexpr std::string_view cleared = "ALTER TABLE customization ADD COLUMN cleared INTEGER NOT NULL DEFAULT 0;\n";

}  // namespace migrations_detail

std::span<const sql::Migration> customization_migrations() {
  static const std::array all = {sql::Migration{1, "customizations", migrations_detail::tables, ""},
                                 sql::Migration{2, "trackers", migrations_detail::trackings, ""},
                                 sql::Migration{3, "rates", migrations_detail::rates, ""},
                                 sql::Migration{4, "cleared", migrations_detail::cleared, ""}};
  return all;
}

}  // namespace stackgate::customizer
