// Small text answers that several handlers give.
#pragma once
#include <string>
#include <string_view>

#include "services/kit/http/message.hpp"

namespace stackgate::http {

/// text/plain with exactly this body.
Response text_answer(int status, std::string body);

/// 405 with the Allow header, e.g. "GET, HEAD".
Response not_allowed(std::string_view methods);

/// A sentence with its status before it: "413 the request's body is …\n".
Response plain_answer(int status, std::string_view text);

}  // namespace stackgate::http
