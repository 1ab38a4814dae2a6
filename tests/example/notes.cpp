#include "tests/example/notes.hpp"

#include <array>

#include "services/kit/base/try.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/service/database.hpp"
#include "services/kit/settings/table.hpp"
#include "services/kit/sql/migrate.hpp"
#include "services/kit/sql/service_error.hpp"
#include "services/kit/web/answer.hpp"
#include "services/kit/web/body_schema.hpp"

namespace stackgate::notes {
namespace {

constexpr std::array migrations = {
    sql::Migration{1, "notes", "CREATE TABLE note (name TEXT PRIMARY KEY, text TEXT NOT NULL);\n", ""}};

settings::Program program() {
  settings::Program out{.name = "stackgate-notes",
                        .summary = "keeps notes",
                        .commands = {{"serve", "serves the API (the default)"}, {"migrate", "updates the database"}},
                        .settings = service::common_settings()};
  settings::append(out.settings, "Notes", {settings::table::text("greeting", "put before every note")});
  return out;
}

struct Notes {
  std::shared_ptr<sql::Database> database;
  std::string greeting;
  web::BodySchema body{R"({"type": "object", "required": ["text"], "additionalProperties": false,
                           "properties": {"text": {"type": "string", "minLength": 1, "maxLength": 10000}}})"};

  web::Answer put(web::Call& call) const {
    const auto read = TRY(body.read(call));  // 400, 413, 415, or 422 with every fault
    const std::string text(read->root.find("text")->string());
    const auto done = database->run(
        "INSERT INTO note (name, text) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET "
        "text = excluded.text",
        {std::string(call.parameter("name")), text});
    if (!done) return sql::to_service_error(done.error());
    return http::Response{204};
  }

  web::Answer get(web::Call& call) const {
    const auto found = database->run("SELECT text FROM note WHERE name = $1", {std::string(call.parameter("name"))});
    if (!found) return sql::to_service_error(found.error());
    if (found->rows.empty()) return web::Failure{404, "there is no such note"};
    std::string out;
    json::Writer writer(out);
    writer.object([&] { writer.member("text", greeting + found->rows.front().text(0)); });
    return http::Response{200, "application/json", {}, out};
  }
};

std::expected<service::Parts, Error> build(const settings::Values& values, metrics::Registry&) {
  // With SQLite the service brings its own file up to date; a shared database is migrated by a job: `migrate`.
  const auto database = service::open_migrated(program(), values, migrations);
  if (!database) return std::unexpected(database.error());
  auto notes = std::make_shared<Notes>(*database, values.text("greeting"));
  service::Parts parts;
  parts.routes = {{"PUT", "/v1/notes/{name}", [notes](web::Call& call) { return notes->put(call); }},
                  {"GET", "/v1/notes/{name}", [notes](web::Call& call) { return notes->get(call); }}};
  parts.checks = {service::database_check(*database)};
  return parts;
}

int run_command(const settings::Values& values) { return service::migrate_command(program(), values, migrations); }

}  // namespace

service::Service notes_service() { return {.program = program(), .build = build, .run_command = run_command}; }

}  // namespace stackgate::notes
