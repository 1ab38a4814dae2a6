#include <algorithm>

#include "services/datastore/git/write.hpp"
#include "services/datastore/pages/handlers.hpp"
#include "services/datastore/pages/place.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::datastore::pages {
namespace settings_detail {

html::Html branch_options(const Place& place) {
  auto branches = references_of(place).value_or(References{}).branches;
  const std::string& usual = place.repository.default_branch;
  if (std::ranges::find(branches, usual) == branches.end()) branches.push_back(usual);
  return select_options(branches, usual);
}

web::Answer settings_page(Visit& visit, const Place& place, std::string_view problem, int status) {
  const Repository& repository = place.repository;
  const html::Link base = link_to(repository, "settings");
  html::Html body;
  body.put(
      R"({}{}{}<form class="form" method="post" action="{}">{}
<div class="field"><label for="description">Description</label><input id="description" name="description" value="{}" maxlength="2000"></div>
<div class="field"><label for="branch">Default branch</label><select id="branch" name="default_branch">{}</select><p class="hint">What is shown first, and what a clone checks out.</p></div>
<fieldset><legend>Visibility</legend>{}{}</fieldset>
<button class="primary">Save</button></form>)",
      done_notice(visit), problem_notice(problem), repository_head(place, Tab::settings), base, token_field(visit),
      repository.description, branch_options(place),
      choice("checkbox", "private", "1", repository.is_private, "Private",
             "Only you, its stewards and administrators see it."),
      choice("checkbox", "archived", "1", repository.archived, "Archived",
             "Nobody can change it; everybody may go on reading."));
  body.put(R"(<h2 class="section">Rename</h2><form class="form" method="post" action="{}/rename">{}
<div class="pair"><div class="field"><label for="new-name">New name</label><input id="new-name" name="name" value="{}" required maxlength="100" autocapitalize="none" spellcheck="false"></div><div class="field"><button>Rename</button></div></div></form>)",
           base, token_field(visit), repository.name);
  body.put(R"(<h2 class="section">Delete</h2><form class="form" method="post" action="{}/delete">{}
<p>This removes all its files and its history. Write <code>{}</code> to confirm.</p>
<div class="pair"><div class="field"><label class="away" for="confirm">The repository’s full name</label><input id="confirm" name="confirm" data-confirm="{}" required autocomplete="off" autocapitalize="none" spellcheck="false" placeholder="{}"></div><div class="field"><button class="danger">Delete this repository</button></div></div></form>)",
           base, token_field(visit), repository.full_name(), repository.full_name(), repository.full_name());
  return page(visit, {.title = "Settings · " + repository.full_name(), .status = status}, body);
}

struct Sent {
  Place place;
  web::Query form;
};

std::expected<Sent, web::Answer> enter_form(Visit& visit) {
  auto form = TRY(read_form(visit));
  auto place = TRY(enter_revision(visit, Action::administer));
  return Sent{std::move(place), std::move(form)};
}

}  // namespace settings_detail

web::Answer get_settings(Visit& visit) {
  auto place = TRY(enter_revision(visit, Action::administer));
  return settings_detail::settings_page(visit, place, "", 200);
}

web::Answer post_settings(Visit& visit) {
  auto sent = TRY(settings_detail::enter_form(visit));
  auto& [place, form] = sent;
  const std::string branch(form.get("default_branch").value_or(place.repository.default_branch));
  RepositoryChange change{.description = std::string(form.get("description").value_or("")),
                          .is_private = form.get("private").has_value(),
                          .archived = form.get("archived").has_value()};
  if (branch != place.repository.default_branch) {
    if (!place.git->resolve("refs/heads/" + branch))
      return settings_detail::settings_page(visit, place, "There is no branch “" + branch + "”.", 422);
    TRY(git::set_default_branch(visit.backend().repositories.path(place.repository), branch));
    change.default_branch = branch;
  }
  const auto done = visit.backend().repositories.update(place.repository.id, change);
  if (!done) return settings_detail::settings_page(visit, place, done.error().message, to_failure(done.error()).status);
  return go_to(visit, with_query(link_to(*done, "settings"), "done", "saved"));
}

web::Answer post_rename(Visit& visit) {
  auto sent = TRY(settings_detail::enter_form(visit));
  const std::string name(sent.form.get("name").value_or(""));
  const auto done = visit.backend().repositories.update(sent.place.repository.id, {.name = name});
  if (!done)
    return settings_detail::settings_page(visit, sent.place, done.error().message, to_failure(done.error()).status);
  log::info("repository renamed",
            {{"repository", sent.place.repository.full_name()}, {"to", name}, {"by", visit.identity.name}});
  return go_to(visit, with_query(link_to(*done, "settings"), "done", "renamed"));
}

web::Answer post_delete(Visit& visit) {
  auto form = TRY(read_form(visit));
  const auto place = TRY(enter_repository(visit, Action::administer));  // a broken folder can be deleted, too
  const Repository& repository = place.repository;
  if (form.get("confirm").value_or("") != repository.full_name())
    return web::Failure{.status = 422,
                        .message = "nothing was deleted: write " + repository.full_name() + " to confirm"};
  TRY(visit.backend().repositories.remove(repository.id));
  log::info("repository deleted",
            {{"repository", repository.full_name()}, {"id", repository.id}, {"by", visit.identity.name}});
  return go_to(visit, {"/?done=deleted"});
}

}  // namespace stackgate::datastore::pages
