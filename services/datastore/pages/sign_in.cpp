#include "services/datastore/pages/handlers.hpp"
#include "services/datastore/pages/links.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/web/cookies.hpp"

namespace stackgate::datastore::pages {
namespace sign_in_detail {

web::Answer form_page(Visit& visit, std::string_view next, std::string_view name, std::string_view problem,
                      int status) {
  html::Html body;
  body.put(R"(<div class="card"><h1>Sign in</h1>{}
<form method="post" action="/-/sign-in">{}<input type="hidden" name="next" value="{}">
<div class="field"><label for="name">Name</label><input id="name" name="name" value="{}" autocomplete="username" autocapitalize="none" spellcheck="false" required autofocus></div>
<div class="field"><label for="password">Password</label><input id="password" name="password" type="password" autocomplete="current-password" required></div>
<button class="primary">Sign in</button></form></div>)",
           problem_notice(problem), token_field(visit), safe_return_path(next), name);
  return page(visit, {.title = "Sign in", .status = status}, body);
}

void set_session(Visit& visit, std::string_view value, std::chrono::seconds life) {
  visit.headers.emplace_back(
      "Set-Cookie",
      web::format_cookie(
          {.name = session_cookie_name(visit.secure()), .value = value, .max_age = life, .secure = visit.secure()}));
}

}  // namespace sign_in_detail

web::Answer get_sign_in(Visit& visit) {
  const std::string_view next = visit.call.query().get("next").value_or("/");
  if (visit.signed_in()) return go_to(visit, {safe_return_path(next)});
  return sign_in_detail::form_page(visit, next, "", "", 200);
}

web::Answer post_sign_in(Visit& visit) {
  const auto form = TRY(read_form(visit));
  const std::string_view name = form.get("name").value_or(""), next = form.get("next").value_or("/");
  auto identity = visit.backend().accounts.sign_in(name, form.get("password").value_or(""), visit.call.request().peer);
  if (!identity) {
    const ServiceError& error = identity.error();
    if (error.fault == ServiceFault::limited)
      visit.headers.emplace_back("Retry-After", std::to_string(error.retry_after.count()));
    const int status = to_failure(error).status;
    return sign_in_detail::form_page(visit, next, name, error.message, status == 401 ? 422 : status);
  }
  const auto account = TRY(visit.backend().accounts.find(identity->account));
  visit.call.set_actor(account.name);
  sign_in_detail::set_session(
      visit, visit.site.sessions.begin(account.id, account.updated_at, std::chrono::system_clock::now()),
      Sessions::life);
  return go_to(visit, {safe_return_path(next)});
}

web::Answer post_sign_out(Visit& visit) {
  (void)TRY(read_form(visit));
  sign_in_detail::set_session(visit, "", std::chrono::seconds(0));
  return go_to(visit, {"/"});
}

}  // namespace stackgate::datastore::pages
