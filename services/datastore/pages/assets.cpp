#include "services/datastore/pages/assets.hpp"

#include "services/kit/web/pages.hpp"

namespace stackgate::datastore::pages {
namespace assets_detail {

const web::PageFiles& all() {
  static const web::PageFiles files({{"style.css", "text/css; charset=utf-8", embedded_style},
                                     {"pages.js", "text/javascript; charset=utf-8", embedded_script},
                                     {"icon.svg", "image/svg+xml", embedded_icon}});
  return files;
}

}  // namespace assets_detail

html::Link asset_link(std::string_view name) { return {assets_detail::all().address(name)}; }

std::vector<web::Route> asset_routes() { return assets_detail::all().routes(); }

}  // namespace stackgate::datastore::pages
