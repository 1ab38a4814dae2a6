#include "services/datastore/pages/session.hpp"

#include <fmt/format.h>

#include "services/datastore/clock.hpp"
#include "services/kit/base/ascii.hpp"
#include "services/kit/base/number.hpp"
#include "services/kit/crypto/digest.hpp"
#include "services/kit/crypto/jwt.hpp"

namespace stackgate::datastore::pages {
namespace session_detail {

std::string derived(std::string_view key, std::string_view use) {
  const crypto::Sha256 bytes = crypto::hmac_sha256(key, use);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace session_detail

Sessions::Sessions(std::string_view key)
    : cookie_key_(session_detail::derived(key, "stackgate pages: sessions")),
      form_key_(session_detail::derived(key, "stackgate pages: forms")) {}

std::string Sessions::stamp_of(std::int64_t account, std::string_view state) const {
  const std::string text = fmt::format("stamp {} {}", account, state);
  return crypto::to_hex(crypto::hmac_sha256(cookie_key_, text)).substr(0, 16);
}

std::string Sessions::begin(std::int64_t account, std::string_view state, Time now) const {
  // The random part keeps two sessions, and so their form tokens, apart.
  return crypto::sign_jwt(cookie_key_, fmt::format(R"({{"sub":"{}","stamp":"{}","jti":"{}","iat":{},"exp":{}}})",
                                                   account, stamp_of(account, state), crypto::random_hex(9),
                                                   unix_seconds(now), unix_seconds(now + life)));
}

std::optional<Session> Sessions::read(std::string_view cookie, Time now) const {
  if (cookie.empty() || cookie.size() > 1024) return {};
  const auto claims = crypto::verify_jwt(cookie_key_, cookie, now);
  if (!claims) return {};
  const std::int64_t account = to_number<std::int64_t>(json::text_at(claims->root, "sub")).value_or(0);
  if (account <= 0 || claims->root.find("stamp") == nullptr) return {};
  return Session{account, std::string(json::text_at(claims->root, "stamp"))};
}

std::string Sessions::form_token(std::string_view cookie) const {
  return crypto::to_hex(crypto::hmac_sha256(form_key_, cookie));
}

bool Sessions::is_form_token(std::string_view cookie, std::string_view token) const {
  return !cookie.empty() && crypto::equal_in_constant_time(form_token(cookie), token);
}

bool sent_by_own_page(const http::Request& request, std::string_view base_url) {
  if (const std::string_view site = request.header("Sec-Fetch-Site"); !site.empty()) return site == "same-origin";
  const std::string_view origin = request.header("Origin");
  return origin.empty() || ascii::to_lower(origin) == ascii::to_lower(base_url);
}

std::string_view session_cookie_name(bool secure) { return secure ? "__Host-stackgate-session" : "stackgate-session"; }
std::string_view visitor_cookie_name(bool secure) { return secure ? "__Host-stackgate-visitor" : "stackgate-visitor"; }

}  // namespace stackgate::datastore::pages
