// One request for a page: who asks, and what becomes of the answer (layout, headers, cookies).
#pragma once
#include <expected>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "services/datastore/backend.hpp"
#include "services/datastore/guard/guard.hpp"
#include "services/datastore/pages/session.hpp"
#include "services/kit/html/html.hpp"
#include "services/kit/web/call.hpp"
#include "services/kit/web/query.hpp"

namespace stackgate::datastore::pages {

/// Shared by all pages; lives as long as the routes.
struct Site {
  explicit Site(Backend& of) : backend(of), sessions(of.jwt_key) {}
  Backend& backend;
  const Sessions sessions;
};

struct Visit {
  const Site& site;
  web::Call& call;
  Identity identity{};
  std::string cookie{};  // what form tokens belong to: the session's, else the visitor's
  std::string base_url{};
  std::int64_t now = 0;
  web::Headers headers{};  // for whatever the answer is: cookies

  Backend& backend() const { return site.backend; }
  bool secure() const { return base_url.starts_with("https:"); }
  bool signed_in() const { return !identity.anonymous(); }
};

/// By the session's cookie; by Authorization where there is one, so that curl can fetch a file.
std::expected<Visit, web::Failure> enter_site(const Site& site, web::Call& call);

using Result = std::expected<void, web::Answer>;
/// Sends who has not signed in to the form, and back afterwards.
Result demand_sign_in(const Visit& visit);

/// The pairs of a form that was sent by a page of ours: 415, 403.
std::expected<web::Query, web::Failure> read_form(Visit& visit);
/// Whether a form with this token may act: browser's own words, then the token. For forms that are streamed.
std::expected<void, web::Failure> check_form_token(const Visit& visit, std::string_view token);
/// The hidden field of every form. A visitor without cookie gets one.
html::Html token_field(Visit& visit);

struct Layout {
  std::string title;
  int status = 200;
  bool connects = false;  // its script sends requests of its own
  std::string search{};   // in the search field
};
web::Answer page(Visit& visit, const Layout& layout, const html::Html& content);
/// The failure as a page of this site.
web::Answer failure_page(Visit& visit, const web::Failure& failure);
/// 303: what was done is not done again when the page is reloaded.
web::Answer go_to(Visit& visit, const html::Link& link);
/// `?done=` of the address that a form led to, as a notice; nothing for a word that is not ours.
html::Html done_notice(const Visit& visit);
/// A fault of what was entered, above the form.
html::Html problem_notice(std::string_view problem);

/// `?page=`, from 1; the nearest for what is none.
std::size_t page_number(const Visit& visit, std::size_t most);

/// A radio button or check box with its label; `hint` may be empty.
html::Html choice(std::string_view type, std::string_view name, std::string_view value, bool chosen,
                  std::string_view label, std::string_view hint);
/// Of a <select>.
html::Html select_options(const std::vector<std::string>& names, std::string_view selected);

/// On answers with files of users: a browser shows them at most, in a box without scripts or an origin.
web::Headers file_headers();

}  // namespace stackgate::datastore::pages
