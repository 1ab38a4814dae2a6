// Who is signed in, kept in a signed cookie; and the token that every form carries. Pure: time comes in. Thread-safe.
//
// A cookie names an account and a stamp of it, so that a changed password ends every session. Its key is derived from
// the configured one: neither a cookie nor a form token passes for a token of Git LFS or the other way round. A form
// token belongs to one cookie.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "services/kit/http/message.hpp"

namespace stackgate::datastore::pages {

struct Session {
  std::int64_t account = 0;
  std::string stamp;
};

class Sessions {
 public:
  using Time = std::chrono::system_clock::time_point;
  static constexpr std::chrono::hours life{7 * 24};

  explicit Sessions(std::string_view key);

  /// The cookie's value. `state` is what of the account ends the session when it changes.
  std::string begin(std::int64_t account, std::string_view state, Time now) const;
  /// Nothing for one that is not ours or has run out.
  std::optional<Session> read(std::string_view cookie, Time now) const;
  std::string stamp_of(std::int64_t account, std::string_view state) const;

  std::string form_token(std::string_view cookie) const;
  /// Never for an empty cookie. The time does not tell how much of it was right.
  bool is_form_token(std::string_view cookie, std::string_view token) const;

 private:
  std::string cookie_key_, form_key_;
};

/// Whether a form was sent by a page of ours, as far as the browser tells: Sec-Fetch-Site, else Origin. A client that
/// tells neither is left to its form token. `base_url`: "https://host[:port]".
bool sent_by_own_page(const http::Request& request, std::string_view base_url);

/// With TLS the browser itself demands that only this host, securely, has set it.
std::string_view session_cookie_name(bool secure);
/// Of a visitor who has not signed in, so that the sign-in form has a token too.
std::string_view visitor_cookie_name(bool secure);

}  // namespace stackgate::datastore::pages
