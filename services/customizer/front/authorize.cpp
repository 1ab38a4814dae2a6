#include "services/customizer/front/authorize.hpp"

#include <algorithm>

#include "services/kit/base/ascii.hpp"
#include "services/kit/crypto/digest.hpp"
#include "services/kit/files/file.hpp"
#include "services/kit/log/log.hpp"
#include "services/kit/web/basic_auth.hpp"
#include "services/kit/web/call.hpp"
#include "services/kit/web/errors.hpp"

namespace stackgate::customizer {
namespace authorize_detail {

constexpr std::uint64_t largest_file = 64U << 10U;
constexpr std::string_view scheme = "bearer ";

std::string presented_token(const http::Request& request) {
  const web::Credentials given = web::parse_authorization(request.header("Authorization"));
  using Scheme = web::Credentials::Scheme;
  return given.scheme == Scheme::bearer || given.scheme == Scheme::basic ? given.secret : std::string();
}

web::Handler guarded(std::string file, std::string challenge, web::Handler handler) {
  return [file = std::move(file), challenge = std::move(challenge),
          handler = std::move(handler)](web::Call& call) -> web::Answer {
    const auto text = files::read_file(file, largest_file);
    if (!text) {
      log::error("the file of tokens cannot be read", {{"file", file}});
      return web::busy("tokens cannot be checked", 5);
    }
    if (!has_token(*text, presented_token(call.request())))
      return web::Failure{.status = 401,
                          .message = "this needs a token: send Authorization: Bearer TOKEN",
                          .headers = {{"WWW-Authenticate", challenge}}};
    return handler(call);
  };
}

}  // namespace authorize_detail

using namespace authorize_detail;

std::string_view bearer_token(const http::Request& request) {
  const std::string_view given = request.header("Authorization");
  if (given.size() <= scheme.size() || ascii::to_lower(given.substr(0, scheme.size())) != scheme) return {};
  return given.substr(scheme.size());
}

bool has_token(std::string_view text, std::string_view token) {
  bool found = false;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    while (line.ends_with('\r') || line.ends_with(' ')) line.remove_suffix(1);
    if (!line.empty() && !line.starts_with('#')) found = crypto::equal_in_constant_time(line, token) || found;
  }
  return found;
}

web::Handler with_tokens(std::string file, web::Handler handler) {
  return guarded(std::move(file), "Bearer", std::move(handler));
}

web::Handler page_with_tokens(std::string file, web::Handler handler) {
  return guarded(std::move(file), web::basic_challenge("customizer: any user, and a token as the password"),
                 std::move(handler));
}

}  // namespace stackgate::customizer
