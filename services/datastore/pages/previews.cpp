#include "services/datastore/pages/previews.hpp"

#include "services/datastore/pages/content.hpp"
#include "services/datastore/pages/markdown.hpp"
#include "services/datastore/pages/table_preview.hpp"
#include "services/kit/base/ascii.hpp"
#include "services/kit/html/words.hpp"

namespace stackgate::datastore::pages {
namespace previews_detail {

constexpr std::uint64_t most_text = 256 * 1024, most_rows_bytes = 512 * 1024, most_picture = 20'000'000;

enum class Way { text, json_lines, csv, safetensors, markdown };

Way way_of(std::string_view path) {
  const std::string extension = extension_of(path);
  if (extension == "jsonl" || extension == "ndjson") return Way::json_lines;
  if (extension == "csv" || extension == "tsv") return Way::csv;
  if (extension == "safetensors") return Way::safetensors;
  if (extension == "md" || extension == "markdown") return Way::markdown;
  return Way::text;
}

html::Html note(std::string_view text) { return html::piece(R"(<p class="empty">{}</p>)", text); }

html::Html cell(const Cell& from) {
  const std::string_view more = from.cut ? "…" : "";
  switch (from.kind) {
    case Cell::Kind::number:
      return html::piece(R"(<td class="number">{}{}</td>)", from.text, more);
    case Cell::Kind::text:
      return html::piece("<td>{}{}</td>", from.text, more);
    case Cell::Kind::none:
      break;
  }
  return html::piece(R"(<td class="none">–</td>)");
}

html::Html table(const Table& from) {
  html::Html out, heads, rows, notes;
  for (const std::string& problem : from.problems) notes.put(R"(<p class="notice bad">{}</p>)", problem);
  if (from.rows.empty() && from.columns.empty())
    return out.put(R"(<div class="pad">{}</div>)", notes).put(R"(<p class="empty">There are no rows.</p>)");
  for (const std::string& column : from.columns) heads.put(R"(<th scope="col">{}</th>)", column);
  for (std::size_t i = 0; i < from.rows.size(); ++i) {
    rows.put(R"(<tr><td class="row">{}</td>)", i + 1);
    for (const Cell& each : from.rows[i]) rows.put("{}", cell(each));
    for (std::size_t missing = from.rows[i].size(); missing < from.columns.size(); ++missing) rows.put("{}", cell({}));
    rows.put("</tr>");
  }
  if (!notes.empty()) out.put(R"(<div class="pad">{}</div>)", notes);
  out.put(
      R"(<div class="wrap" tabindex="0" role="region" aria-label="Rows"><table class="data"><thead><tr><th scope="col"><span class="away">Row</span></th>{}</tr></thead><tbody>{}</tbody></table></div>)",
      heads, rows);
  if (from.more_rows || from.more_columns)
    out.put(R"(<p class="pad quiet">The first {}{} are shown.</p>)", html::counted(from.rows.size(), "row"),
            from.more_columns ? " and " + html::counted(from.columns.size(), "column") : "");
  return out;
}

html::Html lines(const Head& head) {
  html::Html out, inside;
  std::string_view rest = head.bytes;
  for (std::size_t number = 1; !rest.empty(); ++number) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    inside.put(R"(<span id="L{}">{}</span>)", number, line);
  }
  out.put(R"(<pre class="code" tabindex="0" aria-label="Content">{}</pre>)", inside);
  if (!head.whole())
    out.put(R"(<p class="pad quiet">The first {} of {} are shown; download the file to see the rest.</p>)",
            html::size_words(head.bytes.size()), html::size_words(head.size));
  return out;
}

}  // namespace previews_detail

bool has_rich_preview(std::string_view path) {
  using previews_detail::Way;
  const Way way = previews_detail::way_of(path);
  return way == Way::json_lines || way == Way::csv || way == Way::markdown;
}

html::Html preview_of(const Visit& visit, const Place& place, const git::Entry& entry, bool plain) {
  using namespace previews_detail;
  const Way way = plain ? Way::text : way_of(entry.path);
  if (way == Way::safetensors) return safetensors_preview(visit, place, entry);
  const bool rows = way == Way::json_lines || way == Way::csv;
  const auto head = read_head(visit, place, entry, rows ? most_rows_bytes : most_text);
  if (!head) return note(head.error().message);
  if (head->size == 0) return note("This file is empty.");
  if (picture_type(head->bytes)) {
    if (head->size > most_picture) return note("This picture is too large to show; download it.");
    html::Html out;
    return out.put(R"(<div class="picture"><img src="{}" alt="{}"></div>)",
                   link_to(place.repository, "raw", place.revision, entry.path), file_name(entry.path));
  }
  if (is_binary(head->bytes)) return note("This file is binary; download it to see what is in it.");
  if (way == Way::json_lines) return table(read_json_lines(head->bytes, head->whole()));
  if (way == Way::csv) return table(read_csv(head->bytes, head->whole()));
  if (way == Way::markdown && head->whole()) return rendered_document(place, entry.path, head->bytes);
  return lines(*head);
}

html::Html rendered_document(const Place& place, std::string_view path, std::string_view text) {
  html::Html front, rendered;
  const std::string_view card = take_front_matter(text);
  if (!card.empty())
    front.put(R"(<details class="front"><summary>Metadata</summary><pre tabindex="0">{}</pre></details>)", card);
  const MarkdownLinks links{
      .page =
          [&](std::string_view to) {
            return link_to(place.repository, to.empty() ? "tree" : "blob", place.revision, to);
          },
      .bytes = [&](std::string_view to) { return link_to(place.repository, "raw", place.revision, to); }};
  if (render_markdown(text, path, links, rendered))
    return html::piece(R"({}<div class="prose">{}</div>)", front, rendered);
  return html::piece(R"({}<div class="prose"><pre tabindex="0">{}</pre></div>)", front, text);
}

html::Html readme_of(const Visit& visit, const Place& place, const std::vector<git::Entry>& entries) {
  const git::Entry* found = nullptr;
  bool is_markdown = false;
  for (const git::Entry& each : entries) {
    if (each.kind != git::EntryKind::file && each.kind != git::EntryKind::executable) continue;
    const std::string name = ascii::to_lower(file_name(each.path));
    if (name == "readme.md" || name == "readme.markdown") {
      found = &each;
      is_markdown = true;
      break;
    }
    if (found == nullptr && (name == "readme" || name == "readme.txt" || name == "readme.rst")) found = &each;
  }
  if (found == nullptr) return {};
  const auto head = read_head(visit, place, *found, 256 * 1024);
  if (!head || head->bytes.empty() || is_binary(head->bytes)) return {};
  html::Html inside;
  if (is_markdown)
    inside = rendered_document(place, found->path, head->bytes);
  else
    inside.put(R"(<div class="prose"><pre tabindex="0">{}</pre></div>)", head->bytes);
  html::Html cut;
  if (!head->whole()) cut.put(R"(<p class="pad quiet">Only the beginning is shown.</p>)");
  return html::piece(
      R"(<section class="box" aria-label="Readme"><div class="box-head"><a class="mono" href="{}">{}</a></div>{}{}</section>)",
      link_to(place.repository, "blob", place.revision, found->path), file_name(found->path), inside, cut);
}

}  // namespace stackgate::datastore::pages
