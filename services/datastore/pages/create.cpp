#include "services/datastore/pages/handlers.hpp"
#include "services/datastore/pages/links.hpp"
#include "services/datastore/pages/place.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::datastore::pages {
namespace create_detail {

struct Filled {
  std::string owner, name, description, type;
  bool is_private = true, readme = true;
};

/// The account itself and the organisations that it may make repositories in.
std::vector<std::string> owners_for(const Visit& visit) {
  std::vector<std::string> out{visit.identity.name};
  const auto organizations = visit.backend().accounts.list(AccountKind::organization, "", 0, 200, nullptr);
  if (!organizations) return out;
  for (const Account& each : *organizations)
    if (may_create_in(visit.identity, each.id, each.steward_id)) out.push_back(each.name);
  return out;
}

web::Answer form_page(Visit& visit, const Filled& filled, std::string_view problem, int status) {
  html::Html body;
  body.put(
      R"(<div class="title"><h1>New repository</h1></div>{}
<form class="form" method="post" action="/-/new">{}
<div class="pair"><div class="field"><label for="owner">Owner</label><select id="owner" name="owner">{}</select></div><span class="slash">/</span>
<div class="field"><label for="repository">Name</label><input id="repository" name="name" value="{}" required maxlength="100" pattern="[A-Za-z0-9][A-Za-z0-9._\-]*" title="Letters, digits, '-', '_' and '.'" autocapitalize="none" spellcheck="false" autofocus></div></div>
<div class="field"><label for="description">Description</label><input id="description" name="description" value="{}" maxlength="2000"></div>
<fieldset><legend>Kind</legend>{}{}{}{}</fieldset>
<fieldset><legend>Visibility</legend>{}{}</fieldset>
{}
<p><button class="primary">Create repository</button></p></form>)",
      problem_notice(problem), token_field(visit), select_options(owners_for(visit), filled.owner), filled.name,
      filled.description, choice("radio", "type", "", filled.type.empty(), "Any", "Git, LFS and every API"),
      choice("radio", "type", "model", filled.type == "model", "Model", "weights, adapters"),
      choice("radio", "type", "dataset", filled.type == "dataset", "Dataset", "rows to train or evaluate on"),
      choice("radio", "type", "space", filled.type == "space", "Space", ""),
      choice("radio", "visibility", "private", filled.is_private, "Private", "you, its stewards and administrators"),
      choice("radio", "visibility", "public", !filled.is_private, "Public",
             visit.backend().anonymous_read ? "everybody may read it" : "everybody who signs in may read it"),
      choice("checkbox", "readme", "1", filled.readme, "Begin with a README", ""));
  return page(visit, {.title = "New repository", .status = status}, body);
}

}  // namespace create_detail

web::Answer get_new(Visit& visit) {
  TRY(demand_sign_in(visit));
  const auto wanted = visit.call.query().get("owner").value_or(visit.identity.name);
  return create_detail::form_page(visit, {.owner = std::string(wanted)}, "", 200);
}

web::Answer post_new(Visit& visit) {
  using namespace create_detail;
  const auto form = TRY(read_form(visit));
  TRY(demand_sign_in(visit));
  const auto text = [&](std::string_view name) { return std::string(form.get(name).value_or("")); };
  const Filled filled{.owner = text("owner"),
                      .name = text("name"),
                      .description = text("description"),
                      .type = text("type"),
                      .is_private = text("visibility") != "public",
                      .readme = text("readme") == "1"};
  const auto owner = visit.backend().accounts.find(filled.owner);
  if (!owner && owner.error().fault != ServiceFault::missing) return to_failure(owner.error());
  if (!owner || visit.identity.scope == Scope::read || !may_create_in(visit.identity, owner->id, owner->steward_id))
    return form_page(visit, filled, "You may not create repositories for " + filled.owner + ".", 403);
  auto made = visit.backend().repositories.create({.owner_id = owner->id,
                                                   .name = filled.name,
                                                   .type = parse_type(filled.type),
                                                   .description = filled.description,
                                                   .is_private = filled.is_private});
  if (!made) return form_page(visit, filled, made.error().message, to_failure(made.error()).status);
  log::info("repository made", {{"repository", made->full_name()}, {"id", made->id}, {"by", visit.identity.name}});
  if (filled.readme) (void)TRY(commit_readme(visit.backend(), visit.identity, *made));
  return go_to(visit, link_to(*made));
}

}  // namespace stackgate::datastore::pages
