// Files of assets/, put into the program by CMake.
#pragma once
#include <string_view>

namespace stackgate::datastore::pages {

extern const std::string_view embedded_style, embedded_script, embedded_icon;

}  // namespace stackgate::datastore::pages
