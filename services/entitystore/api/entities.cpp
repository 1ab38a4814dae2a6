// /v1/namespaces, /v1/projects, /v1/datasets: names with whatever else a client says of them, in the envelope of
// NVIDIA's entity store. A namespace is named by its `id`, the others by `namespace` and `name`.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "services/entitystore/adapters/names.hpp"
#include "services/entitystore/api/handlers.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/crypto/digest.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/value.hpp"
#include "services/kit/web/body_schema.hpp"
#include "services/kit/web/json.hpp"

namespace stackgate::entitystore {
namespace entities_detail {

constexpr std::array<std::string_view, 5> kept_by_us = {"id", "namespace", "name", "created_at", "updated_at"};

struct Entity {
  std::string id, name_space, name, body, created_at, updated_at;
};

constexpr std::string_view columns = "id, namespace, name, body, created_at, updated_at";

Entity read_row(const sql::Row& row) {
  return {row.text(0), row.text(1), row.text(2), row.text(3), row.text(4), row.text(5)};
}

bool is_namespace(std::string_view kind) { return kind == "namespace"; }

void write(json::Writer& w, const Entity& entity, std::string_view kind) {
  w.object([&] {
    w.member("id", std::string_view(is_namespace(kind) ? entity.name : entity.id));
    if (!is_namespace(kind)) {
      w.member("namespace", std::string_view(entity.name_space));
      w.member("name", std::string_view(entity.name));
    }
    if (entity.body.size() > 2) w.raw(std::string_view(entity.body).substr(1, entity.body.size() - 2));
    w.member("created_at", std::string_view(entity.created_at));
    w.member("updated_at", std::string_view(entity.updated_at));
  });
}

http::Response answer(const Entity& entity, std::string_view kind, int status = 200) {
  return web::json_answer([&](json::Writer& w) { write(w, entity, kind); }, {}, status);
}

/// The members of `change` over those of `old`; null takes one away. What we keep ourselves is left out.
std::string merged(const json::Value& old, const json::Value& change) {
  const auto ours = [](std::string_view key) { return std::ranges::find(kept_by_us, key) != kept_by_us.end(); };
  return json::object_text([&](json::Writer& w) {
    for (const json::Member& member : old.members())
      if (change.find(member.key) == nullptr && !ours(member.key)) w.member(member.key, member.value);
    for (const json::Member& member : change.members())
      if (!member.value.is_null() && !ours(member.key)) w.member(member.key, member.value);
  });
}

web::Failure missing(std::string_view kind, std::string_view name) {
  return {.status = 404, .message = fmt::format("there is no {} \"{}\"", kind, name)};
}

std::expected<Entity, web::Failure> find(const Api& api, web::Call& call, std::string_view kind) {
  const std::string name(call.parameter("name")), name_space(call.parameter("namespace"));
  const auto result =
      api.database.run(fmt::format("SELECT {} FROM entity WHERE kind = $1 AND namespace = $2 AND name = $3", columns),
                       {std::string(kind), name_space, name});
  if (!result) return std::unexpected(database_failure(result.error()));
  if (result->rows.empty()) return std::unexpected(missing(kind, name));
  return read_row(result->rows[0]);
}

validate::Finding wrong_name(std::string_view field, const std::string& value, std::string problem) {
  return {.rule = "entity-name",
          .path = std::string(field),
          .value = value.size() < 100 ? value : std::string(),
          .problem = std::move(problem),
          .fix = "write, for example, \"team-a\""};
}

}  // namespace entities_detail

web::Answer create_entity(const Api& api, web::Call& call, std::string_view kind) {
  namespace d = entities_detail;
  const json::Value& root = *TRY(web::read_object(call));
  d::Entity entity;
  validate::Findings findings;
  const std::string_view name_field = d::is_namespace(kind) ? "id" : "name";
  entity.name = json::text_at(root, name_field);
  if (auto wrong = d::is_namespace(kind) ? fault_of_namespace(entity.name) : fault_of_name(entity.name))
    findings.push_back(d::wrong_name(name_field, entity.name, std::move(*wrong)));
  if (!d::is_namespace(kind)) {
    entity.name_space = json::text_at(root, "namespace");
    if (entity.name_space.empty()) entity.name_space = "default";
    if (auto wrong = fault_of_namespace(entity.name_space))
      findings.push_back(d::wrong_name("namespace", entity.name_space, std::move(*wrong)));
  }
  if (!findings.empty()) return web::unprocessable(std::move(findings));
  entity.id = fmt::format("{}-{}", kind, crypto::random_hex(12));
  entity.body = d::merged(json::Value(), root);
  entity.created_at = entity.updated_at = timestamp();
  const auto done = api.database.run(
      "INSERT INTO entity (id, kind, namespace, name, body, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, "
      "$6)",
      {entity.id, std::string(kind), entity.name_space, entity.name, entity.body, entity.created_at});
  if (!done && done.error().fault == sql::Fault::duplicate)
    return web::Failure{.status = 409, .message = fmt::format("the {} \"{}\" exists already", kind, entity.name)};
  if (!done) return database_failure(done.error());
  return d::answer(entity, kind, 201);
}

web::Answer list_entities(const Api& api, web::Call& call, std::string_view kind) {
  namespace d = entities_detail;
  const auto page = TRY(web::read_page(call.query(), web::nemo_pages, 100, 1000));
  const auto count = TRY(api.database.run("SELECT count(*) FROM entity WHERE kind = $1", {std::string(kind)}));
  const auto rows = TRY(api.database.run(
      fmt::format("SELECT {} FROM entity WHERE kind = $1 ORDER BY created_at, id LIMIT $2 OFFSET $3", d::columns),
      {std::string(kind), static_cast<std::int64_t>(page.size), static_cast<std::int64_t>(page.offset())}));
  return web::json_answer([&](json::Writer& w) {
    w.object([&] {
      w.member("object", "list");
      w.array("data", [&] {
        for (const sql::Row& row : rows.rows) d::write(w, d::read_row(row), kind);
      });
      web::write_pagination(w, page, rows.rows.size(), static_cast<std::uint64_t>(count.rows.at(0).integer(0)));
      w.member("sort", "created_at");
    });
  });
}

web::Answer get_entity(const Api& api, web::Call& call, std::string_view kind) {
  const auto entity = TRY(entities_detail::find(api, call, kind));
  return entities_detail::answer(entity, kind);
}

web::Answer patch_entity(const Api& api, web::Call& call, std::string_view kind) {
  namespace d = entities_detail;
  const json::Value& change = *TRY(web::read_object(call));
  auto entity = TRY(d::find(api, call, kind));
  json::Document document;
  const std::string before = entity.body;
  const auto old = json::parse(before, document);
  entity.body = d::merged(old ? *old : json::Value(), change);
  entity.updated_at = timestamp();
  // Only over what was read: of two changes at once neither is lost.
  const auto done = TRY(api.database.run("UPDATE entity SET body = $1, updated_at = $2 WHERE id = $3 AND body = $4",
                                         {entity.body, entity.updated_at, entity.id, before}));
  if (done.affected == 0)
    return web::Failure{.status = 409, .message = fmt::format("the {} was changed at the same time; try again", kind)};
  return d::answer(entity, kind);
}

web::Answer delete_entity(const Api& api, web::Call& call, std::string_view kind) {
  const auto entity = TRY(entities_detail::find(api, call, kind));
  (void)TRY(api.database.run("DELETE FROM entity WHERE id = $1", {entity.id}));
  return http::Response{.status = 204, .content_type = {}};
}

}  // namespace stackgate::entitystore
