// The web pages of the customizer: /, /customizations/{name}. HTML made here, usable without a script. They only read.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "services/customizer/records/records.hpp"
#include "services/kit/web/route.hpp"

namespace stackgate::customizer {

struct PageSource {
  const Records& records;         // must outlive the routes
  std::string entitystore_url{};  // of the adapters' links; "": there are none
};

/// With the routes of their files.
std::vector<web::Route> page_routes(PageSource source);

/// Of assets/, put into the program by CMake.
extern const std::string_view embedded_icon;

}  // namespace stackgate::customizer
