#include "services/datastore/pages/content.hpp"
#include "services/datastore/pages/handlers.hpp"
#include "services/datastore/pages/place.hpp"
#include "services/datastore/pages/previews.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/html/words.hpp"

namespace stackgate::datastore::pages {
namespace blob_detail {

/// Where a symbolic link leads; shown, never followed.
html::Html link_target(const Place& place, const git::Entry& entry) {
  const auto target = place.git->blob(entry.oid, 4096);
  return html::piece(R"(<p class="empty">A symbolic link to <code>{}</code></p>)", target ? *target : "?");
}

html::Html file_bar(const Place& place, const git::Entry& entry, bool plain) {
  const html::Link raw = link_to(place.repository, "raw", place.revision, entry.path);
  const html::Link self = link_to(place.repository, "blob", place.revision, entry.path);
  html::Html facts, other;
  facts.put("<span>{}</span>", html::size_words(entry.lfs ? entry.lfs->size : entry.size));
  if (entry.kind == git::EntryKind::executable) facts.put(R"(<span class="badge">executable</span>)");
  if (entry.lfs) facts.put(R"(<span class="badge lfs">LFS</span>)");
  if (has_rich_preview(entry.path)) {
    if (plain)
      other.put(R"(<a class="button" href="{}">Preview</a>)", self);
    else
      other.put(R"(<a class="button" href="{}">Source</a>)", with_query(self, "plain", "1"));
  }
  return html::piece(
      R"(<div class="box-head">{}<span class="spring"></span>{}<a class="button" href="{}">History</a><a class="button" href="{}">Raw</a><a class="button" href="{}">Download</a></div>)",
      facts, other, link_to(place.repository, "commits", place.revision, entry.path), raw,
      with_query(raw, "download", "1"));
}

html::Html large_facts(const git::Entry& entry) {
  if (!entry.lfs) return {};
  return html::piece(
      R"(<dl class="facts-list"><dt>Stored in</dt><dd>Git LFS</dd><dt>SHA-256</dt><dd class="mono">{}</dd><dt>Size</dt><dd>{} ({} bytes)</dd></dl>)",
      entry.lfs->oid, html::size_words(entry.lfs->size), html::grouped(entry.lfs->size));
}

}  // namespace blob_detail

web::Answer get_blob(Visit& visit) {
  using namespace blob_detail;
  auto place = TRY(enter_revision(visit));
  if (place.commit.empty() || place.path.empty())
    return go_to(visit, link_to(place.repository, "tree", place.revision));
  const auto entry = TRY(place.git->entry(place.commit, place.path));
  if (entry.kind == git::EntryKind::folder)
    return go_to(visit, link_to(place.repository, "tree", place.revision, place.path));
  if (entry.kind == git::EntryKind::submodule)
    return web::Failure{.status = 404, .message = "this is another repository (a submodule), not a file"};
  const bool plain = visit.call.query().get("plain").value_or("") == "1";
  html::Html body;
  body.put(R"({}<div class="bar">{}{}</div><section class="box" aria-label="File">{}{}{}</section>)",
           repository_head(place, Tab::files), revision_switcher(place, "blob"), crumbs(place, true),
           file_bar(place, entry, plain), large_facts(entry),
           entry.kind == git::EntryKind::symlink ? link_target(place, entry) : preview_of(visit, place, entry, plain));
  return page(visit, {.title = place.path + " · " + place.repository.full_name()}, body);
}

}  // namespace stackgate::datastore::pages
