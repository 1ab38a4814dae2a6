
#include "services/datastore/pages/handlers.hpp"
#include "services/kit/base/number.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/html/words.hpp"

namespace stackgate::datastore::pages {
namespace tokens_detail {

html::Html row(Visit& visit, const Token& token) {
  html::Html facts;
  facts.put("…{}, made {}", token.last_eight, html::time_tag(html::seconds_of(token.created_at), visit.now));
  if (token.last_used_at.empty())
    facts.put(", never used");
  else
    facts.put(", used {}", html::time_tag(html::seconds_of(token.last_used_at), visit.now));
  if (!token.expires_at.empty()) facts.put(", ends {}", html::time_tag(html::seconds_of(token.expires_at), visit.now));
  return html::piece(
      R"(<li><div class="text"><b>{}</b> <span class="badge">{}</span><div class="by">{}</div></div><form method="post" action="/-/tokens/revoke">{}<input type="hidden" name="id" value="{}"><button class="danger" aria-label="Revoke {}">Revoke</button></form></li>)",
      token.name, token.scope == Scope::read ? "read" : "read and write", facts, token_field(visit), token.id,
      token.name);
}

html::Html new_secret(const Accounts::NewToken& made) {
  return html::piece(
      R"(<div class="notice good" role="status"><b>Copy the token “{}” now: it is not shown again.</b><div class="secret"><label class="away" for="secret">The new token</label><input id="secret" readonly value="{}"><button type="button" data-copy="secret" hidden>Copy</button></div></div>)",
      made.token.name, made.secret);
}

web::Answer tokens_page(Visit& visit, const html::Html& notice, std::string_view name, int status) {
  const auto tokens = TRY(visit.backend().accounts.list_tokens(visit.identity.account));
  html::Html body, list;
  for (const Token& each : tokens) list.put("{}", row(visit, each));
  if (list.empty()) list.put(R"(<li class="quiet">You have no tokens.</li>)");
  body.put(R"({}{}<div class="title"><h1>Personal tokens</h1></div>
<p class="lead">A token stands for your password in git, Git LFS, the API and Hugging Face clients.</p>
<h2 class="day">New token</h2>
<form class="form" method="post" action="/-/tokens">{}
<div class="field"><label for="token-name">Name</label><input id="token-name" name="name" value="{}" required maxlength="100" placeholder="What it is for"></div>
<div class="pair"><div class="field"><label for="scope">It may</label><select id="scope" name="scope"><option value="read">read</option><option value="write">read and write</option></select></div>
<div class="field"><label for="days">It ends</label><select id="days" name="days"><option value="7">in a week</option><option value="30">in 30 days</option><option value="90" selected>in 90 days</option><option value="365">in a year</option><option value="0">never</option></select></div></div>
<button class="primary">Create token</button></form>
<h2 class="section">Your tokens</h2><div class="box"><ul class="commits">{}</ul></div>)",
           done_notice(visit), notice, token_field(visit), name, list);
  return page(visit, {.title = "Personal tokens", .status = status}, body);
}

/// A token must not beget tokens: only who has signed in here.
Result demand_session(const Visit& visit) {
  TRY(demand_sign_in(visit));
  if (visit.call.request().header("Authorization").empty()) return {};
  return std::unexpected(
      web::Failure{.status = 403, .message = "sign in with a password to manage tokens; a token is not enough"});
}

}  // namespace tokens_detail

web::Answer get_tokens(Visit& visit) {
  TRY(tokens_detail::demand_session(visit));
  return tokens_detail::tokens_page(visit, {}, "", 200);
}

web::Answer post_token(Visit& visit) {
  using namespace tokens_detail;
  const auto form = TRY(read_form(visit));
  TRY(demand_session(visit));
  const std::string_view name = form.get("name").value_or(""), days_text = form.get("days").value_or("90");
  const auto days = to_number<unsigned>(days_text);
  if (!days || *days > 3650)
    return tokens_page(visit, problem_notice("A token ends after at most 3650 days."), name, 422);
  const Scope scope = form.get("scope").value_or("read") == "write" ? Scope::write : Scope::read;
  auto made =
      visit.backend().accounts.create_token(visit.identity.account, name, scope, std::chrono::hours(24) * *days);
  if (!made) return tokens_page(visit, problem_notice(made.error().message), name, to_failure(made.error()).status);
  return tokens_page(visit, new_secret(*made), "", 200);
}

web::Answer post_revoke(Visit& visit) {
  const auto form = TRY(read_form(visit));
  TRY(tokens_detail::demand_session(visit));
  const auto done = visit.backend().accounts.remove_token(visit.identity.account, form.get("id").value_or(""));
  if (!done && done.error().fault != ServiceFault::missing) return to_failure(done.error());
  return go_to(visit, {"/-/tokens?done=revoked"});
}

}  // namespace stackgate::datastore::pages
