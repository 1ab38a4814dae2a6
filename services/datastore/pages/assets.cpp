#include "services/datastore/pages/assets.hpp"

#include <array>

#include "services/kit/crypto/digest.hpp"
#include "services/kit/web/conditional.hpp"
#include "services/kit/web/send.hpp"

namespace stackgate::datastore::pages {
namespace assets_detail {

struct Asset {
  std::string_view name, type, bytes;
  std::string version;
};

const std::array<Asset, 3>& all() {
  static const std::array<Asset, 3> table = [] {
    std::array<Asset, 3> out{{{"style.css", "text/css; charset=utf-8", embedded_style, {}},
                              {"pages.js", "text/javascript; charset=utf-8", embedded_script, {}},
                              {"icon.svg", "image/svg+xml", embedded_icon, {}}}};
    for (Asset& each : out) each.version = crypto::to_hex(crypto::sha256(each.bytes)).substr(0, 12);
    return out;
  }();
  return table;
}

const Asset* find(std::string_view name) {
  for (const Asset& each : all())
    if (each.name == name) return &each;
  return nullptr;
}

web::Answer send(web::Call& call) {
  const Asset* asset = find(call.parameter("name"));
  if (asset == nullptr) return web::Failure{.status = 404, .message = "there is no such file"};
  const bool exact = call.query().get("v") == asset->version;
  return web::send_content(
      call, {.size = asset->bytes.size(),
             .type = std::string(asset->type),
             .validators = {.etag = web::make_etag(asset->version)},
             .headers = {{"Cache-Control", exact ? "public, max-age=31536000, immutable" : "no-cache"},
                         {"X-Content-Type-Options", "nosniff"},
                         {"Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox"}},
             .bytes = asset->bytes});
}

}  // namespace assets_detail

Link asset_link(std::string_view name) {
  const assets_detail::Asset* asset = assets_detail::find(name);
  std::string out = "/-/assets/";
  out.append(name);
  if (asset != nullptr) out.append("?v=").append(asset->version);
  return {out};
}

std::vector<web::Route> asset_routes() {
  return {{"GET", "/-/assets/{name}", assets_detail::send, {.dialect = web::Dialect::html, .quiet = true}}};
}

}  // namespace stackgate::datastore::pages
