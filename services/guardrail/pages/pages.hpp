// The chat page at / and the challenges that it shows. Source: NeMo Guardrails' server and its guide to red teaming.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/web/route.hpp"

namespace stackgate::guardrail {

struct PageOptions {
  std::string folder{};  // of the configurations; challenges.json lies at its top
  bool chat = true;      // false: / says only that the server is there
};

/// GET /, its files, and GET /v1/challenges.
std::vector<web::Route> page_routes(const PageOptions& options);

/// Files of assets/, put into the program by CMake.
extern const std::string_view embedded_chat_page, embedded_chat_style, embedded_chat_script, embedded_chat_icon;

}  // namespace stackgate::guardrail
