#include "services/datastore/pages/handlers.hpp"
#include "services/datastore/pages/place.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/html/words.hpp"

namespace stackgate::datastore::pages {
namespace list_detail {

constexpr std::size_t page_size = 30;

struct Kind {
  std::string_view word, label;
  std::optional<RepositoryType> type;
};
constexpr Kind kinds[] = {{"", "All", {}},
                          {"model", "Models", RepositoryType::model},
                          {"dataset", "Datasets", RepositoryType::dataset},
                          {"space", "Spaces", RepositoryType::space}};

const Kind& kind_of(const Visit& visit) {
  const std::string_view word = visit.call.query().get("type").value_or("");
  for (const Kind& each : kinds)
    if (each.word == word) return each;
  return kinds[0];
}

html::Html row(const Visit& visit, const Repository& each, bool with_owner) {
  html::Html out, facts;
  out.put(R"(<li><a class="name" href="{}">{}</a> )", link_to(each), with_owner ? each.full_name() : each.name);
  if (each.is_private) out.put(R"(<span class="badge">Private</span> )");
  if (each.archived) out.put(R"(<span class="badge">Archived</span> )");
  if (!each.description.empty()) out.put("<p>{}</p>", each.description);
  if (each.type) facts.put("<span>{}</span>", type_words(*each.type));
  facts.put("<span>Updated {}</span>", html::time_tag(html::seconds_of(each.updated_at), visit.now));
  if (each.size > 0) facts.put("<span>{}</span>", html::size_words(each.size));
  return out.put(R"(<div class="facts">{}</div></li>)", facts);
}

html::Link with_state(html::Link link, const Visit& visit, const Kind& kind) {
  if (const auto q = visit.call.query().get("q"); q && !q->empty()) link = with_query(link, "q", *q);
  if (!kind.word.empty()) link = with_query(link, "type", kind.word);
  return link;
}

html::Html pager(const Visit& visit, const html::Link& base, std::size_t number, std::size_t total) {
  html::Html before, after;
  const std::size_t last = (total + page_size - 1) / page_size;
  if (last < 2) return {};
  const html::Link here = with_state(base, visit, kind_of(visit));
  if (number > 1)
    before.put(R"(<a class="button" rel="prev" href="{}">Previous</a>)",
               with_query(here, "page", std::to_string(number - 1)));
  if (number < last)
    after.put(R"(<a class="button" rel="next" href="{}">Next</a>)",
              with_query(here, "page", std::to_string(number + 1)));
  return html::piece(
      R"(<nav class="pages" aria-label="Pages"><span>{}</span><span>Page {} of {}</span><span>{}</span></nav>)", before,
      number, last, after);
}

web::Answer list_page(Visit& visit, const html::Link& base, std::string_view owner, const html::Html& heading) {
  const std::string search(visit.call.query().get("q").value_or("").substr(0, 200));
  const Kind& kind = kind_of(visit);
  const std::size_t number = page_number(visit, 1'000'000);
  RepositoryPage found;
  if (visit.signed_in() || visit.backend().anonymous_read) {
    found = TRY(visit.backend().repositories.list(visit.identity, {.search = search,
                                                                   .owner = std::string(owner),
                                                                   .type = kind.type,
                                                                   .untyped_too = false,
                                                                   .order = RepositoryOrder::updated,
                                                                   .descending = true,
                                                                   .skip = (number - 1) * page_size,
                                                                   .limit = page_size}));
  }
  html::Html body, filters;
  for (const Kind& each : kinds)
    filters.put("{}", menu_link(with_state(base, visit, each), each.label, &each == &kind ? "page" : ""));
  body.put(
      R"({}<div class="title">{}<span class="spring"></span><nav class="filters" aria-label="Kind">{}</nav></div><div class="box">)",
      done_notice(visit), heading, filters);
  if (found.items.empty()) {
    if (!search.empty()) {
      body.put(R"(<div class="empty"><h2>Nothing found for “{}”</h2><p>Names and descriptions are searched.</p></div>)",
               search);
    } else if (visit.signed_in()) {
      body.put(
          R"(<div class="empty"><h2>No repositories yet</h2><p>Models, datasets and adapters live here, in Git.</p><p><a class="button primary" href="/-/new">Create a repository</a></p></div>)");
    } else {
      body.put(
          R"(<div class="empty"><h2>Nothing public here</h2><p>Sign in to see what you may see.</p><p><a class="button primary" href="/-/sign-in">Sign in</a></p></div>)");
    }
  } else {
    body.put(R"(<ul class="repositories">)");
    for (const Repository& each : found.items) body.put("{}", row(visit, each, owner.empty()));
    body.put("</ul>");
  }
  body.put("</div>{}", pager(visit, base, number, found.total));
  return page(visit,
              {.title = owner.empty() ? "Repositories" : std::string(owner), .search = owner.empty() ? search : ""},
              body);
}

}  // namespace list_detail

web::Answer get_repositories(Visit& visit) {
  html::Html heading;
  heading.put("<h1>Repositories</h1>");
  return list_detail::list_page(visit, {"/"}, "", heading);
}

web::Answer get_account(Visit& visit) {
  auto account = visit.backend().accounts.find(visit.call.parameter("owner"));
  if (!visit.signed_in() && (account || account.error().fault == ServiceFault::missing)) {
    // Which names exist is not disclosed: an account shows itself to everybody by what it has made public.
    const auto open = TRY(account && visit.backend().anonymous_read
                              ? visit.backend().repositories.list(visit.identity, {.owner = account->name, .limit = 1})
                              : Repositories::Expected<RepositoryPage>(RepositoryPage{}));
    if (open.total == 0) return unauthorized("sign in first");
  }
  if (!account && account.error().fault == ServiceFault::missing)
    return web::Failure{.status = 404, .message = "there is no account and no page of that name"};
  if (!account) return to_failure(account.error());
  if (account->name != visit.call.parameter("owner")) return go_to(visit, link_to_account(account->name));
  html::Html heading;
  heading.put("<h1>{}</h1>", account->name);
  if (account->kind == AccountKind::organization) heading.put(R"(<span class="badge">Organisation</span>)");
  if (!account->full_name.empty()) heading.put(R"(<span class="quiet">{}</span>)", account->full_name);
  return list_detail::list_page(visit, link_to_account(account->name), account->name, heading);
}

}  // namespace stackgate::datastore::pages
