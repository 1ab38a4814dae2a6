#include "services/datastore/pages/visit.hpp"

#include "services/datastore/clock.hpp"
#include "services/datastore/pages/links.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/crypto/digest.hpp"
#include "services/kit/web/cookies.hpp"
#include "services/kit/web/media_type.hpp"

namespace stackgate::datastore::pages {

std::expected<Visit, web::Failure> enter_site(const Site& site, web::Call& call) {
  Visit visit{.site = site, .call = call, .base_url = call.base_url(), .now = seconds_now()};
  const auto cookie = web::find_cookie(call.request(), session_cookie_name(visit.secure()));
  if (cookie) {
    if (const auto session = site.sessions.read(*cookie, std::chrono::system_clock::now())) {
      auto account = site.backend.accounts.find(session->account);
      if (!account && account.error().fault != ServiceFault::missing)
        return std::unexpected(to_failure(account.error()));
      if (account && account->active && account->kind == AccountKind::user &&
          session->stamp == site.sessions.stamp_of(account->id, account->updated_at)) {
        visit.identity = {.account = account->id, .name = account->name, .admin = account->admin};
        visit.cookie = *cookie;
        call.set_actor(account->name);
        return visit;
      }
    }
  }
  if (!call.request().header("Authorization").empty()) {
    visit.identity = TRY(identify(site.backend, call));
  }
  if (const auto known = web::find_cookie(call.request(), visitor_cookie_name(visit.secure()));
      known && known->size() == 32)
    visit.cookie = *known;
  return visit;
}

Result demand_sign_in(const Visit& visit) {
  if (visit.signed_in()) return {};
  return std::unexpected(unauthorized("sign in first"));
}

std::expected<void, web::Failure> check_form_token(const Visit& visit, std::string_view token) {
  if (!sent_by_own_page(visit.call.request(), visit.base_url))
    return std::unexpected(web::Failure{
        .status = 403,
        .message = "the form was sent by another site. Behind a proxy, start the service with --public-url"});
  if (!visit.site.sessions.is_form_token(visit.cookie, token))
    return std::unexpected(
        web::Failure{.status = 403, .message = "the form has expired: go back, reload the page and send it again"});
  return {};
}

std::expected<web::Query, web::Failure> read_form(Visit& visit) {
  if (!web::is_media_type(visit.call.request().header("Content-Type"), "application/x-www-form-urlencoded"))
    return std::unexpected(web::Failure{.status = 415, .message = "send a form: application/x-www-form-urlencoded"});
  const auto body = TRY(visit.call.body());
  web::Query form = web::Query::parse(body);
  TRY(check_form_token(visit, form.get("token").value_or("")));
  return form;
}

html::Html token_field(Visit& visit) {
  if (visit.cookie.empty()) {
    visit.cookie = crypto::random_hex(16);
    visit.headers.emplace_back("Set-Cookie", web::format_cookie({.name = visitor_cookie_name(visit.secure()),
                                                                 .value = visit.cookie,
                                                                 .secure = visit.secure()}));
  }
  return html::piece(R"(<input type="hidden" name="token" value="{}">)", visit.site.sessions.form_token(visit.cookie));
}

web::Headers file_headers() {
  return {{"X-Content-Type-Options", "nosniff"},
          {"Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'"},
          {"Cross-Origin-Resource-Policy", "same-origin"},
          {"Referrer-Policy", "no-referrer"},
          {"Cache-Control", "private, no-cache"}};
}

web::Answer go_to(Visit& visit, const html::Link& link) {
  http::Response response{.status = 303, .content_type = "text/plain", .headers = std::move(visit.headers)};
  response.headers.emplace_back("Location", link.text);
  response.headers.emplace_back("Cache-Control", "no-store");
  return response;
}

}  // namespace stackgate::datastore::pages
