// One adapter: its record, its status, its end, its versions, where it came from, who looked at it.
#include <algorithm>

#include <fmt/format.h>

#include "services/entitystore/adapters/names.hpp"
#include "services/entitystore/adapters/render.hpp"
#include "services/entitystore/api/handlers.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/json/value.hpp"
#include "services/kit/web/body_schema.hpp"
#include "services/kit/web/conditional.hpp"
#include "services/kit/web/json.hpp"

namespace stackgate::entitystore {
namespace adapter_detail {

http::Response detail(const Api& api, web::Call& call, const Record& record) {
  return web::json_answer(to_detail(record, {.download_url = download_url(api, call, record)}));
}

const web::BodySchema& patch_schema() {
  static const web::BodySchema made(R"({
    "type": "object", "required": ["status"], "additionalProperties": false,
    "properties": {"status": {"type": "string", "enum": ["uploading", "pending", "ready", "failed"]},
                   "reason": {"type": "string", "maxLength": 1000}}
  })");
  return made;
}

web::Failure refused_move(Status from, Status to) {
  using enum Status;
  std::string_view cure = "a failed adapter stays failed; upload it again";
  if (from == uploading) cure = "wait until its files are stored";
  if (to == uploading) cure = "only an upload makes an adapter uploading";
  return {.status = 409,
          .message = fmt::format("the adapter is {} and cannot become {}: {}", to_string(from), to_string(to), cure)};
}

}  // namespace adapter_detail

web::Answer get_adapter(const Api& api, web::Call& call) {
  const auto found = TRY(find_adapter(api, call));
  const std::string etag = web::make_etag(fmt::format("{:x}-{}", found->mark, link_period(api)), true);
  if (is_unchanged(call, etag)) return not_modified(etag);
  http::Response out = adapter_detail::detail(api, call, found->record);
  out.headers.emplace_back("ETag", etag);
  out.headers.emplace_back("Cache-Control", "no-cache");
  note_access(api, call, found->record.id, "read", out.body.size());
  return out;
}

web::Answer patch_adapter(const Api& api, web::Call& call) {
  const auto found = TRY(find_adapter(api, call));
  const std::string id = found->record.id;
  const auto body = TRY(adapter_detail::patch_schema().read(call));
  const Status to = *parse_status(json::text_at(body->root, "status"));
  std::string reason(json::text_at(body->root, "reason"));
  if (to == Status::failed && reason.empty()) reason = "withdrawn";
  if (to != Status::failed) reason.clear();
  // The catalogue may be a moment behind another replica: the row decides.
  for (int attempt = 0; attempt < 3; ++attempt) {
    const auto work = TRY(read_work(api.database, id));
    if (!work || !work->record.deleted_at.empty())
      return web::Failure{.status = 404, .message = fmt::format("there is no adapter \"{}\"", id)};
    const Status from = work->record.status;
    if (!may_move(Mover::person, from, to)) return adapter_detail::refused_move(from, to);
    if (from != to) {
      const bool moved = TRY(move_status(api.database, id, from, to, reason));
      if (!moved) continue;  // somebody else moved it meanwhile
      note_access(api, call, id, fmt::format("status:{}", to_string(to)));
      if (to == Status::failed) api.wake_sweep();
    }
    (void)api.catalogue.refresh();
    const auto now = api.catalogue.snapshot()->find(id);
    return adapter_detail::detail(api, call, now ? now->record : work->record);
  }
  return web::Failure{.status = 409, .message = "the adapter's status changes too often; look again"};
}

web::Answer delete_adapter(const Api& api, web::Call& call) {
  const auto found = TRY(find_adapter(api, call));
  const std::string id = found->record.id;
  const bool gone = TRY(mark_deleted(api.database, id));
  (void)api.catalogue.refresh();
  if (!gone) return web::Failure{.status = 404, .message = fmt::format("there is no adapter \"{}\"", id)};
  note_access(api, call, id, "delete");
  api.wake_sweep();
  return http::Response{.status = 204, .content_type = {}};
}

web::Answer get_versions(const Api& api, web::Call& call) {
  const auto found = TRY(find_adapter(api, call));
  const Record& record = found->record;
  ListQuery query;
  query.name = record.name;
  query.name_space = record.name_space;
  query.sort = {"version", true};
  const auto snapshot = api.catalogue.snapshot();
  const Selection selection = select(snapshot->all(), query);
  const auto latest =
      std::ranges::find(selection.rows, Status::ready, [](const Listed* row) { return row->record.status; });
  return web::json_answer([&](json::Writer& w) {
    w.object([&] {
      w.member("name", std::string_view(record.name));
      w.member("namespace", std::string_view(record.name_space));
      w.key("latest_ready");
      if (latest == selection.rows.end())
        w.value(nullptr);
      else
        w.value(std::string_view((*latest)->record.version));
      w.array("versions", [&] {
        for (const Listed* row : selection.rows) w.raw(row->summary);
      });
    });
  });
}

web::Answer get_provenance(const Api& api, web::Call& call) {
  const auto found = TRY(find_adapter(api, call));
  const auto files = TRY(read_files(api.database, found->record.id));
  return web::json_answer(to_provenance(found->record, files));
}

web::Answer get_access_log(const Api& api, web::Call& call) {
  const auto page = TRY(web::read_page(call.query(), web::nemo_pages, 100, 1000));
  const std::string id(call.parameter("id"));
  // Of a deleted adapter too: who deleted it is the last thing that is known.
  const auto work = TRY(read_work(api.database, id));
  if (!work) return web::Failure{.status = 404, .message = fmt::format("there was never an adapter \"{}\"", id)};
  (void)api.access.flush();
  const auto rows = TRY(AccessLog::read(api.database, id, page.offset(), page.size));
  http::Response out = web::json_answer([&](json::Writer& w) {
    w.object([&] {
      w.array("access_log", [&] {
        for (const Access& row : rows.rows)
          w.object([&] {
            w.member("time", std::string_view(row.at));
            w.member("actor", std::string_view(row.actor));
            w.member("action", std::string_view(row.action));
            w.member("bytes", row.bytes);
            w.member("client", std::string_view(row.client));
            w.member("trace_id", std::string_view(row.trace));
          });
      });
    });
  });
  web::add_page_headers(out.headers, fmt::format("{}/v1/adapters/{}/access-log", call.base_url(), id), call.query(),
                        web::nemo_pages, page, rows.total);
  return out;
}

}  // namespace stackgate::entitystore
