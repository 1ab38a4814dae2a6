// Inbound authentication: bearer tokens of a file, which is read for each request, so that tokens come and go without a
// restart. Thread-safe.
#pragma once
#include <string>
#include <string_view>

#include "services/kit/web/route.hpp"

namespace stackgate::customizer {

/// The token of "Authorization: Bearer …", empty without one. Pure.
std::string_view bearer_token(const http::Request& request);

/// Whether a line of the text is the token; comments begin with '#'. The time says nothing about where they differ.
bool has_token(std::string_view text, std::string_view token);

/// 401 with WWW-Authenticate without a token of the file; 503 where the file cannot be read. Browsers send it as the
/// password of Basic, under any user name.
web::Handler with_tokens(std::string file, web::Handler handler);
/// The same of a page: a browser asks its user for the token.
web::Handler page_with_tokens(std::string file, web::Handler handler);

}  // namespace stackgate::customizer
