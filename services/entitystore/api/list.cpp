// GET /v1/adapters: {"adapters":[…]}, the whole list unless pages are asked for.
#include <fmt/format.h>

#include "services/entitystore/adapters/render.hpp"
#include "services/entitystore/api/handlers.hpp"
#include "services/kit/base/try.hpp"

namespace stackgate::entitystore {
namespace list_detail {

/// `text_of` gives each row its form.
template <class TextOf>
std::string body_of(const Selection& selection, TextOf text_of) {
  std::size_t size = 32;
  for (const Listed* row : selection.rows) size += row->summary.size() + 1;
  std::string out;
  out.reserve(size);
  out = R"({"adapters":[)";
  for (const Listed* row : selection.rows) {
    if (row != selection.rows.front()) out += ',';
    out += text_of(*row);
  }
  out += "]}";
  return out;
}

}  // namespace list_detail

web::Answer list_adapters(const Api& api, web::Call& call) {
  const auto snapshot = TRY(catalogue_of(api));
  const std::string_view text = call.request().query;
  auto known = snapshot->remembered(text);
  // What was said with signed links is said anew before they run out.
  if (known && known->period != 0 && known->period != link_period(api)) known = nullptr;
  if (known && is_unchanged(call, known->etag)) return not_modified(known->etag);

  const auto query = TRY(read_list_query(call.query()));
  http::Response out;
  if (known && known->body) {
    out.body = *known->body;
  } else {
    const Selection selection = select(snapshot->all(), query);
    auto made = std::make_shared<Snapshot::Answer>();
    if (query.expanded) made->period = link_period(api);
    made->etag = known ? known->etag : etag_of(selection, made->period);
    made->total = selection.total;
    if (!known && is_unchanged(call, made->etag)) {
      std::string etag = made->etag;
      snapshot->remember(text, std::move(made));
      return not_modified(etag);
    }
    if (query.expanded) {
      out.body = list_detail::body_of(selection, [&](const Listed& row) {
        return to_detail(row.record, {.download_url = download_url(api, call, row.record)});
      });
    } else {
      auto body = std::make_shared<const std::string>(
          list_detail::body_of(selection, [](const Listed& row) -> const std::string& { return row.summary; }));
      out.body = *body;
      made->body = std::move(body);
    }
    if (!known) snapshot->remember(text, made);
    known = std::move(made);
  }
  if (query.page)
    web::add_page_headers(out.headers, call.base_url() + "/v1/adapters", call.query(), web::nemo_pages, *query.page,
                          known->total);
  else
    out.headers.emplace_back("X-Total-Count", std::to_string(known->total));
  out.headers.emplace_back("ETag", known->etag);
  out.headers.emplace_back("Cache-Control", "no-cache");
  return out;
}

}  // namespace stackgate::entitystore
