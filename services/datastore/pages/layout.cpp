// The frame around every page, and what forms and lists share.
#include <algorithm>
#include <charconv>

#include "services/datastore/pages/assets.hpp"
#include "services/datastore/pages/links.hpp"
#include "services/datastore/pages/visit.hpp"
#include "services/kit/http/writer.hpp"
#include "services/kit/web/pages.hpp"

namespace stackgate::datastore::pages {
namespace layout_detail {

html::Html account_menu(Visit& visit) {
  html::Html out;
  if (!visit.signed_in()) {
    const std::string here = safe_return_path(visit.call.request().path);
    const html::Link link =
        here.starts_with("/-/") ? html::Link{"/-/sign-in"} : with_query({"/-/sign-in"}, "next", here);
    return out.put(R"(<a class="button" href="{}">Sign in</a>)", link);
  }
  return out.put(R"(<a class="button primary" href="/-/new">New</a>
<details class="menu"><summary aria-label="Account of {}">{}</summary><div class="menu-box">
<a href="{}">My repositories</a>
<a href="/-/tokens">Tokens</a>
<form method="post" action="/-/sign-out">{}<button class="plain">Sign out</button></form>
</div></details>)",
                 visit.identity.name, visit.identity.name, link_to_account(visit.identity.name), token_field(visit));
}

std::string heading_of(int status) {
  switch (status) {
    case 403:
      return "Not allowed";
    case 404:
      return "Nothing here";
    case 429:
      return "Too many attempts";
    default:
      return std::string(http::reason_phrase(status));
  }
}

}  // namespace layout_detail

web::Answer page(Visit& visit, const Layout& layout, const html::Html& content) {
  html::Html out;
  out.put(R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{} · Datastore</title>
<link rel="stylesheet" href="{}">
<link rel="icon" href="{}" type="image/svg+xml">
<script src="{}" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header class="top"><div class="wide">
<a class="brand" href="/"><img src="{}" alt="" width="22" height="22">Datastore</a>
<form class="search" action="/" role="search"><label class="away" for="search">Search repositories</label><input id="search" type="search" name="q" value="{}" placeholder="Search repositories" maxlength="200"></form>
<nav class="account" aria-label="Account">{}</nav>
</div></header>
<main id="main" class="wide" tabindex="-1">
{}
</main>
</body>
</html>
)",
          layout.title, asset_link("style.css"), asset_link("icon.svg"), asset_link("pages.js"), asset_link("icon.svg"),
          layout.search, layout_detail::account_menu(visit), content);
  http::Response response{.status = layout.status,
                          .content_type = "text/html; charset=utf-8",
                          .headers = web::page_headers(layout.connects),
                          .body = std::move(out).str()};
  response.headers.emplace_back("Vary", "Cookie");
  for (auto& header : visit.headers) response.headers.push_back(std::move(header));
  return response;
}

web::Answer failure_page(Visit& visit, const web::Failure& failure) {
  const bool reads = visit.call.request().method == "GET" || visit.call.request().method == "HEAD";
  if (failure.status == 401 && reads && !visit.signed_in() && visit.call.request().header("Authorization").empty()) {
    std::string here(visit.call.request().path);
    if (!visit.call.request().query.empty()) here.append("?").append(visit.call.request().query);
    return go_to(visit, with_query({"/-/sign-in"}, "next", safe_return_path(here)));
  }
  html::Html body;
  std::string message = failure.message;
  if (!message.empty() && message.back() != '.') message += '.';
  if (!message.empty() && message[0] >= 'a' && message[0] <= 'z') message[0] = static_cast<char>(message[0] - 32);
  body.put(R"(<div class="lost"><p class="lost-number">{}</p><h1>{}</h1><p>{}</p>)", failure.status,
           layout_detail::heading_of(failure.status), message);
  for (const validate::Finding& finding : failure.findings)
    body.put("<p><code>{}</code> {}</p>", finding.path, finding.problem);
  body.put(R"(<p><a class="button" href="/">All repositories</a></p><p class="quiet">Request {}</p></div>)",
           visit.call.request_id());
  web::Answer answer =
      page(visit, {.title = layout_detail::heading_of(failure.status), .status = failure.status}, body);
  auto& response = std::get<http::Response>(answer);
  for (const auto& header : failure.headers)
    // A browser would ask for name and password in a box of its own.
    if (header.first != "WWW-Authenticate" || !visit.call.request().header("Authorization").empty())
      response.headers.push_back(header);
  return answer;
}

std::size_t page_number(const Visit& visit, std::size_t most) {
  const std::string_view text = visit.call.query().get("page").value_or("1");
  std::size_t number = 1;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return std::clamp<std::size_t>(number, 1, most);
}

html::Html choice(std::string_view type, std::string_view name, std::string_view value, bool chosen,
                  std::string_view label, std::string_view hint) {
  html::Html small;
  if (!hint.empty()) small.put("<small>{}</small>", hint);
  if (chosen)
    return html::piece(
        R"(<label class="choice"><input type="{}" name="{}" value="{}" checked><span>{}{}</span></label>)", type, name,
        value, label, small);
  return html::piece(R"(<label class="choice"><input type="{}" name="{}" value="{}"><span>{}{}</span></label>)", type,
                     name, value, label, small);
}

html::Html select_options(const std::vector<std::string>& names, std::string_view selected) {
  html::Html out;
  for (const std::string& each : names)
    each == selected ? out.put("<option selected>{}</option>", each) : out.put("<option>{}</option>", each);
  return out;
}

html::Html problem_notice(std::string_view problem) {
  html::Html out;
  if (!problem.empty()) out.put(R"(<p class="notice bad" role="alert">{}</p>)", problem);
  return out;
}

html::Html done_notice(const Visit& visit) {
  html::Html out;
  const std::string_view word = visit.call.query().get("done").value_or("");
  std::string_view text;
  if (word == "saved") text = "Saved.";
  if (word == "renamed") text = "Renamed. The former address leads here until somebody else takes the name.";
  if (word == "deleted") text = "The repository was deleted.";
  if (word == "revoked") text = "The token was revoked; nothing is accepted with it from now on.";
  if (word == "uploaded") text = "The files were committed.";
  if (word == "unchanged") text = "The files were the same as before; there is no new commit.";
  if (!text.empty()) out.put(R"(<p class="notice good" role="status">{}</p>)", text);
  return out;
}

}  // namespace stackgate::datastore::pages
