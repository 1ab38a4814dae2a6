// The bytes of a file. Whatever they are, a browser does not take them for a page of this server: pictures of four
// types and plain text are shown in a box without an origin, all else is saved.

#include "services/datastore/lfs/serve.hpp"
#include "services/datastore/pages/content.hpp"
#include "services/datastore/pages/handlers.hpp"
#include "services/datastore/pages/place.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/web/send.hpp"

namespace stackgate::datastore::pages {
namespace raw_detail {

struct Shown {
  std::string type = "application/octet-stream";
  bool in_browser = false;
};

Shown type_of(std::string_view first_bytes) {
  if (const auto picture = picture_type(first_bytes)) return {std::string(*picture), true};
  if (!is_binary(first_bytes)) return {"text/plain; charset=utf-8", true};
  return {};
}

}  // namespace raw_detail

web::Answer get_raw(Visit& visit) {
  using namespace raw_detail;
  auto place = TRY(enter_revision(visit));
  if (place.commit.empty()) return web::Failure{.status = 404, .message = "nothing has been committed yet"};
  const auto entry = TRY(place.git->entry(place.commit, place.path));
  if (entry.kind == git::EntryKind::folder || entry.kind == git::EntryKind::submodule)
    return web::Failure{.status = 404, .message = "this is a folder, not a file"};
  const bool download = visit.call.query().get("download").value_or("") == "1";
  const std::string_view name = file_name(entry.path);

  std::optional<lfs::Stat> large;
  if (entry.lfs) {
    large = TRY(find_large(visit, place, entry));
    if (download)
      if (const auto url = lfs::direct_url(visit.backend(), *large, name, "application/octet-stream"))
        return http::Response{.status = 302,
                              .content_type = "text/plain",
                              .headers = {{"Location", *url}, {"Cache-Control", "no-store"}}};
  }
  Shown shown;
  if (!download) {
    const auto head = TRY(read_head(visit, place, entry, 8192));
    shown = type_of(head.bytes);
  }
  web::Content content{.type = shown.type,
                       .validators = {.etag = web::make_etag(entry.lfs ? entry.lfs->oid : entry.oid)},
                       .headers = file_headers()};
  content.headers.emplace_back("Content-Disposition",
                               web::content_disposition(shown.in_browser ? "inline" : "attachment", name));
  if (large) return lfs::serve(visit.backend(), visit.call, *large, std::move(content));
  return lfs::send_blob(visit.call, *place.git, entry, std::move(content));
}

}  // namespace stackgate::datastore::pages
