#include "services/datastore/pages/markdown.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <vector>

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm.h>

#include "services/datastore/pages/links.hpp"
#include "services/datastore/repositories/front_matter.hpp"
#include "services/kit/base/ascii.hpp"
#include "services/kit/base/freed.hpp"

namespace stackgate::datastore::pages {

namespace markdown_detail {

using Parser = std::unique_ptr<cmark_parser, Freed<cmark_parser_free>>;
using Tree = std::unique_ptr<cmark_node, Freed<cmark_node_free>>;
using Iterator = std::unique_ptr<cmark_iter, Freed<cmark_iter_free>>;
struct FreeText {
  void operator()(char* text) const { cmark_get_default_mem_allocator()->free(text); }
};
using Text = std::unique_ptr<char, FreeText>;

constexpr std::array<const char*, 4> extensions = {"table", "strikethrough", "autolink", "tasklist"};
constexpr int options = CMARK_OPT_VALIDATE_UTF8 | CMARK_OPT_GITHUB_PRE_LANG;  // raw HTML is off by default

void register_extensions() {
  static std::once_flag once;
  std::call_once(once, cmark_gfm_core_extensions_ensure_registered);
}

/// While it reads inline text, the library notes the extensions' marks in a table of the whole process, and takes them
/// out again: one document at a time.
Tree parse(cmark_parser* parser, std::string_view text) {
  static std::mutex one_at_a_time;
  const std::scoped_lock lock(one_at_a_time);
  cmark_parser_feed(parser, text.data(), text.size());
  return Tree(cmark_parser_finish(parser));
}

/// Some inputs take time that grows with the square of their length: many openings without an end. The parser has no
/// limit of its own, so lines that are made of them are not rendered.
bool is_hostile(std::string_view text) {
  std::size_t brackets = 0, marks = 0, ticks = 0;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    std::size_t depth = 0;  // of quotes and lists that open on this line
    for (const char c : line) {
      if (c == '>' || c == '-' || c == '*' || c == '+')
        ++depth;
      else if (c != ' ' && c != '\t')
        break;
    }
    if (depth > 60 && line.find_first_not_of("-*+ \t") != std::string_view::npos) return true;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) {
      brackets = marks = ticks = 0;  // inline text ends with its paragraph
      continue;
    }
    for (const char c : line) {
      brackets += c == '[' || c == '<' || c == '(';
      marks += c == '*' || c == '_' || c == '~' || c == '|' || c == ':';
      ticks += c == '`';
    }
    if (brackets > 4000 || marks > 12'000 || ticks > 12'000) return true;
  }
  return false;
}

struct Rewriter {
  std::string_view document;
  const MarkdownLinks& links;

  static bool has_scheme(std::string_view url) {
    const auto colon = url.find(':');
    return colon != std::string_view::npos && colon < url.find_first_of("/?#");
  }
  static bool is_remote(std::string_view url) {
    const std::string lower = ascii::to_lower(url.substr(0, 8));
    return lower.starts_with("https://") || lower.starts_with("http://");
  }

  std::string target_of_link(std::string_view url) const {
    if (is_remote(url) || ascii::to_lower(url.substr(0, 7)) == "mailto:") return std::string(url);
    if (url.starts_with('#')) return std::string(url);
    if (has_scheme(url) || url.starts_with("//") || url.empty()) return {};
    Target target;
    if (!resolve_target(document, url, target)) return {};
    std::string out = links.page(target.path).text;
    if (!target.fragment.empty()) out.append("#").append(target.fragment);
    return out;
  }
  std::string target_of_picture(std::string_view url) const {
    Target target;
    if (has_scheme(url) || url.starts_with("//") || !resolve_target(document, url, target) || target.path.empty())
      return {};
    return links.bytes(target.path).text;
  }

  void link(cmark_node* node) const {
    const char* url = cmark_node_get_url(node);
    cmark_node_set_url(node, target_of_link(url == nullptr ? "" : url).c_str());
  }
  /// A picture from elsewhere would tell its server who reads this page.
  void picture(cmark_node* node) const {
    const char* raw = cmark_node_get_url(node);
    const std::string url = raw == nullptr ? "" : raw;
    if (const std::string own = target_of_picture(url); !own.empty()) {
      cmark_node_set_url(node, own.c_str());
      return;
    }
    cmark_node* const parent = cmark_node_parent(node);
    const bool linked = parent != nullptr && cmark_node_get_type(parent) == CMARK_NODE_LINK;
    if (is_remote(url) && !linked) {
      cmark_node* const replacement = cmark_node_new(CMARK_NODE_LINK);
      cmark_node_set_url(replacement, url.c_str());
      if (cmark_node_first_child(node) == nullptr) {
        cmark_node* const text = cmark_node_new(CMARK_NODE_TEXT);
        cmark_node_set_literal(text, url.c_str());
        cmark_node_append_child(replacement, text);
      }
      while (cmark_node* child = cmark_node_first_child(node)) cmark_node_append_child(replacement, child);
      cmark_node_insert_before(node, replacement);
    } else {
      while (cmark_node* child = cmark_node_first_child(node)) cmark_node_insert_before(node, child);
    }
    cmark_node_unlink(node);
    cmark_node_free(node);
  }
};

}  // namespace markdown_detail

std::string_view take_front_matter(std::string_view& text) { return datastore::take_front_matter(text).value_or(""); }

bool render_markdown(std::string_view text, std::string_view document, const MarkdownLinks& links, html::Html& out) {
  using namespace markdown_detail;
  if (text.size() > largest_markdown || is_hostile(text)) return false;
  register_extensions();
  const Parser parser(cmark_parser_new(options));
  for (const char* name : extensions)
    if (cmark_syntax_extension* extension = cmark_find_syntax_extension(name))
      cmark_parser_attach_syntax_extension(parser.get(), extension);
  const Tree tree = parse(parser.get(), text);
  if (!tree) return false;
  std::vector<cmark_node*> pictures;
  const Rewriter rewriter{document, links};
  {
    const Iterator walk(cmark_iter_new(tree.get()));
    while (cmark_iter_next(walk.get()) != CMARK_EVENT_DONE) {
      cmark_node* const node = cmark_iter_get_node(walk.get());
      const cmark_node_type type = cmark_node_get_type(node);
      if (cmark_iter_get_event_type(walk.get()) == CMARK_EVENT_ENTER && type == CMARK_NODE_LINK) rewriter.link(node);
      // The page itself has the one heading of the first level.
      if (cmark_iter_get_event_type(walk.get()) == CMARK_EVENT_ENTER && type == CMARK_NODE_HEADING)
        cmark_node_set_heading_level(node, std::min(cmark_node_get_heading_level(node) + 1, 6));
      if (cmark_iter_get_event_type(walk.get()) == CMARK_EVENT_EXIT && type == CMARK_NODE_IMAGE)
        pictures.push_back(node);
    }
  }
  for (cmark_node* node : pictures) rewriter.picture(node);  // inner ones first: they are left first
  const Text rendered(cmark_render_html(tree.get(), options, cmark_parser_get_syntax_extensions(parser.get())));
  out.put_rendered(rendered.get());
  return true;
}

}  // namespace stackgate::datastore::pages
