#include "services/guardrail/memory/kept_configurations.hpp"

#include "services/kit/base/try.hpp"

namespace stackgate::guardrail {
namespace {

constexpr std::string_view read_revision = "SELECT revision FROM kept_configuration_revision";

std::int64_t size_of(const KeptConfiguration& configuration) {
  return static_cast<std::int64_t>(configuration.text.size());
}

}  // namespace

sql::Expected<std::int64_t> KeptConfigurations::revision() {
  const auto found = TRY(database_.run(read_revision));
  return found.rows.at(0).integer(0);
}

sql::Expected<KeptConfigurations::All> KeptConfigurations::all() {
  All out;
  TRY(database_.read([&](sql::Session& session) -> sql::Expected<void> {
    out = {};
    out.revision = TRY(session.run(read_revision)).rows.at(0).integer(0);
    for (const sql::Row& row :
         TRY(session.run("SELECT name_space, name, id, text, version FROM kept_configuration")).rows)
      out.configurations.push_back({.name_space = row.text(0),
                                    .name = row.text(1),
                                    .id = row.text(2),
                                    .text = row.text(3),
                                    .version = row.integer(4)});
    return {};
  }));
  return out;
}

/// `otherwise`: when the statement has changed nothing. Beyond the limits it is undone.
sql::Expected<Kept> KeptConfigurations::change(std::string_view statement, const std::vector<sql::Value>& values,
                                               Kept otherwise) {
  Kept out = Kept::done;
  const sql::SqlError undo{.fault = sql::Fault::broken, .message = "beyond the limits"};
  const auto done = database_.transact([&](sql::Session& session) -> sql::Expected<void> {
    out = otherwise;
    if (TRY(session.run(statement, values)).affected == 0) return {};
    out = Kept::full;
    const auto sums = TRY(session.run("SELECT count(*), COALESCE(sum(bytes), 0) FROM kept_configuration"));
    const sql::Row& sum = sums.rows.at(0);
    if (sum.integer(0) > limits_.count || sum.integer(1) > limits_.bytes) return std::unexpected(undo);
    TRY(session.run("UPDATE kept_configuration_revision SET revision = revision + 1"));
    out = Kept::done;
    return {};
  });
  if (!done && out != Kept::full) return std::unexpected(done.error());
  return out;
}

sql::Expected<Kept> KeptConfigurations::add(const KeptConfiguration& configuration) {
  return change(
      "INSERT INTO kept_configuration (name_space, name, id, text, bytes, version) VALUES ($1, $2, $3, $4, $5, 1) "
      "ON CONFLICT DO NOTHING",
      {configuration.name_space, configuration.name, configuration.id, configuration.text, size_of(configuration)},
      Kept::exists);
}

sql::Expected<Kept> KeptConfigurations::replace(const KeptConfiguration& configuration) {
  return change(
      "UPDATE kept_configuration SET text = $3, bytes = $4, version = version + 1 "
      "WHERE name_space = $1 AND name = $2 AND version = $5",
      {configuration.name_space, configuration.name, configuration.text, size_of(configuration), configuration.version},
      Kept::missing);
}

sql::Expected<Kept> KeptConfigurations::remove(std::string_view name_space, std::string_view name) {
  return change("DELETE FROM kept_configuration WHERE name_space = $1 AND name = $2",
                {std::string(name_space), std::string(name)}, Kept::missing);
}

}  // namespace stackgate::guardrail
