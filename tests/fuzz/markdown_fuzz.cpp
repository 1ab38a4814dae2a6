// Markdown: whatever is written, no element comes out that pages do not have, and no link that leads elsewhere.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "services/datastore/pages/markdown.hpp"

namespace pages = stackgate::datastore::pages;

namespace {

/// Names of elements that cmark writes; anything else came from the input.
bool is_known_element(std::string_view name) {
  for (const std::string_view known :
       {"a",     "b",  "blockquote", "br", "code", "del",    "em",    "h2",    "h3", "h4", "h5",    "h6", "hr", "img",
        "input", "li", "ol",         "p",  "pre",  "strong", "table", "tbody", "td", "th", "thead", "tr", "ul"})
    if (name == known) return true;
  return false;
}

void check_address(std::string_view tag, std::string_view attribute, bool picture) {
  const auto at = tag.find(attribute);
  if (at == std::string_view::npos) return;
  std::string_view address = tag.substr(at + attribute.size());
  address = address.substr(0, address.find('"'));
  if (address.empty() || address.starts_with("/PAGE/") || address.starts_with("/RAW/")) return;
  if (picture) std::abort();
  std::string lower(address.substr(0, 8));
  for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  if (address.starts_with('#') || lower.starts_with("http://") || lower.starts_with("https://") ||
      lower.starts_with("mailto:"))
    return;
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const pages::MarkdownLinks links{.page = [](std::string_view) { return pages::Link{"/PAGE/"}; },
                                   .bytes = [](std::string_view) { return pages::Link{"/RAW/"}; }};
  (void)pages::take_front_matter(text);
  pages::Html html;
  if (!pages::render_markdown(text, "docs/README.md", links, html)) return 0;
  const std::string& out = html.str();
  for (std::size_t at = out.find('<'); at != std::string::npos; at = out.find('<', at + 1)) {
    const std::string_view rest = std::string_view(out).substr(at + 1);
    if (rest.starts_with("!-- raw HTML omitted -->")) continue;
    std::string_view tag = rest.substr(0, rest.find('>'));
    if (tag.starts_with('/')) tag.remove_prefix(1);
    const std::string_view name = tag.substr(0, tag.find_first_of(" /"));
    if (!is_known_element(name)) std::abort();
    if (name == "a") check_address(tag, "href=\"", false);
    if (name == "img") check_address(tag, "src=\"", true);
  }
  return 0;
}
