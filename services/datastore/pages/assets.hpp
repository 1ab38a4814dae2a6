// Style, script and icon, built into the program. Their addresses change with their content, so browsers keep them.
#pragma once
#include <string_view>
#include <vector>

#include "services/kit/html/html.hpp"
#include "services/kit/web/route.hpp"

namespace stackgate::datastore::pages {

/// "style.css", "pages.js", "icon.svg".
html::Link asset_link(std::string_view name);
std::vector<web::Route> asset_routes();

/// Files of assets/, put into the program by CMake.
extern const std::string_view embedded_style, embedded_script, embedded_icon;

}  // namespace stackgate::datastore::pages
