// /v1/models: the adapters that are ready, in the form of NVIDIA's entity store, whose pollers read this list.

#include <fmt/format.h>

#include "services/entitystore/adapters/names.hpp"
#include "services/entitystore/adapters/render.hpp"
#include "services/entitystore/api/handlers.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/web/json.hpp"

namespace stackgate::entitystore {
namespace models_detail {

std::string envelope(const Selection& selection, const ListQuery& query) {
  return json::object_text([&](json::Writer& w) {
    w.member("object", "list");
    w.array("data", [&] {
      for (const Listed* row : selection.rows) w.raw(to_nemo_model(row->record));
    });
    web::write_pagination(w, *query.page, selection.rows.size(), selection.total);
    w.member("sort", fmt::format("{}{}", query.sort.descending ? "-" : "", query.sort.field));
  });
}

}  // namespace models_detail

web::Answer list_models(const Api& api, web::Call& call) {
  const auto snapshot = TRY(catalogue_of(api));
  const std::string key = fmt::format("models?{}", call.request().query);
  auto known = snapshot->remembered(key);
  if (known && is_unchanged(call, known->etag)) return not_modified(known->etag);
  if (!known || !known->body) {
    // NeMo's clients filter by more than there is here.
    auto query = TRY(read_list_query(call.query(), Unknown::let_be));
    const auto filter = [&](std::string_view name, std::string& into) {
      if (const auto value = call.query().get(fmt::format("filter[{}]", name))) into = *value;
    };
    filter("base_model", query.base_model);
    filter("namespace", query.name_space);
    filter("name", query.name);
    query.statuses = {Status::ready};
    if (!query.page) query.page = web::Page{.number = 1, .size = 100};
    const Selection selection = select(snapshot->all(), query);
    auto made = std::make_shared<Snapshot::Answer>();
    made->etag = etag_of(selection);
    made->total = selection.total;
    made->body = std::make_shared<const std::string>(models_detail::envelope(selection, query));
    if (!known) snapshot->remember(key, made);
    known = std::move(made);
    if (is_unchanged(call, known->etag)) return not_modified(known->etag);
  }
  return http::Response{.headers = {{"ETag", known->etag}, {"Cache-Control", "no-cache"}}, .body = *known->body};
}

web::Answer get_model(const Api& api, web::Call& call) {
  const auto snapshot = TRY(catalogue_of(api));
  const std::string_view asked = call.parameter("name");
  const auto at = asked.rfind('@');
  ListQuery query;
  query.statuses = {Status::ready};
  query.name = asked.substr(0, at);
  query.name_space = call.parameter("namespace");
  query.sort = {"version", true};
  const Selection selection = select(snapshot->all(), query);
  for (const Listed* row : selection.rows)
    if (at == std::string_view::npos || row->record.version == asked.substr(at + 1))
      return web::json_answer(to_nemo_model(row->record));
  return web::Failure{.status = 404,
                      .message = fmt::format("there is no ready model \"{}/{}\"", query.name_space, asked)};
}

}  // namespace stackgate::entitystore
