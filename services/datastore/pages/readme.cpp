#include "services/datastore/pages/readme.hpp"

#include "services/datastore/accounts/names.hpp"
#include "services/datastore/pages/content.hpp"
#include "services/datastore/pages/markdown.hpp"

namespace stackgate::datastore::pages {

Html rendered_document(const Place& place, std::string_view path, std::string_view text) {
  Html out, front, rendered;
  const std::string_view card = take_front_matter(text);
  if (!card.empty())
    front.put(R"(<details class="front"><summary>Metadata</summary><pre tabindex="0">{}</pre></details>)", card);
  const MarkdownLinks links{
      .page =
          [&](std::string_view to) {
            return link_to(place.repository, to.empty() ? "tree" : "blob", place.revision, to);
          },
      .bytes = [&](std::string_view to) { return link_to(place.repository, "raw", place.revision, to); }};
  if (render_markdown(text, path, links, rendered)) return out.put(R"({}<div class="prose">{}</div>)", front, rendered);
  return out.put(R"({}<div class="prose"><pre tabindex="0">{}</pre></div>)", front, text);
}

Html readme_of(const Visit& visit, const Place& place, const std::vector<git::Entry>& entries) {
  const git::Entry* found = nullptr;
  bool is_markdown = false;
  for (const git::Entry& each : entries) {
    if (each.kind != git::EntryKind::file && each.kind != git::EntryKind::executable) continue;
    const std::string name = lower_case(file_name(each.path));
    if (name == "readme.md" || name == "readme.markdown") {
      found = &each;
      is_markdown = true;
      break;
    }
    if (found == nullptr && (name == "readme" || name == "readme.txt" || name == "readme.rst")) found = &each;
  }
  Html out;
  if (found == nullptr) return out;
  const auto head = read_head(visit, place, *found, 256 * 1024);
  if (!head || head->bytes.empty() || is_binary(head->bytes)) return out;
  Html inside;
  if (is_markdown)
    inside = rendered_document(place, found->path, head->bytes);
  else
    inside.put(R"(<div class="prose"><pre tabindex="0">{}</pre></div>)", head->bytes);
  Html cut;
  if (!head->whole()) cut.put(R"(<p class="pad quiet">Only the beginning is shown.</p>)");
  return out.put(
      R"(<section class="box" aria-label="Readme"><div class="box-head"><a class="mono" href="{}">{}</a></div>{}{}</section>)",
      link_to(place.repository, "blob", place.revision, found->path), file_name(found->path), inside, cut);
}

}  // namespace stackgate::datastore::pages
