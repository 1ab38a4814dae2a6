#include "services/datastore/pages/links.hpp"

#include <vector>

#include "services/kit/base/percent.hpp"
#include "services/kit/web/query.hpp"

namespace stackgate::datastore::pages {

html::Link link_to_account(std::string_view owner) { return {"/" + percent_encode(owner)}; }

html::Link link_to(const Repository& repository) {
  return {"/" + percent_encode(repository.owner) + "/" + percent_encode(repository.name)};
}

html::Link link_to(const Repository& repository, std::string_view page, std::string_view revision,
                   std::string_view path) {
  html::Link out = link_to(repository);
  out.text.append("/").append(page);
  if (!revision.empty()) out.text.append("/").append(percent_encode(revision));
  if (!path.empty()) out.text.append("/").append(percent_encode(path, "/"));
  return out;
}

html::Link with_query(html::Link link, std::string_view name, std::string_view value) {
  link.text += link.text.contains('?') ? '&' : '?';
  link.text.append(name).append("=").append(percent_encode(value));
  return link;
}

html::Html menu_link(const html::Link& link, std::string_view label, std::string_view current) {
  if (current.empty()) return html::piece(R"(<a href="{}">{}</a>)", link, label);
  return html::piece(R"(<a href="{}" aria-current="{}">{}</a>)", link, current, label);
}

std::string safe_return_path(std::string_view wanted) {
  if (wanted.empty() || wanted[0] != '/' || wanted.size() > 2000) return "/";
  if (wanted.size() > 1 && (wanted[1] == '/' || wanted[1] == '\\')) return "/";
  for (const char c : wanted)
    if (c <= ' ' || c > '~' || c == '\\' || c == '"' || c == '<' || c == '>') return "/";
  return std::string(wanted);
}

bool resolve_target(std::string_view document, std::string_view target, Target& out) {
  if (const auto hash = target.find('#'); hash != std::string_view::npos) {
    out.fragment = target.substr(hash + 1);
    target = target.substr(0, hash);
  }
  target = target.substr(0, target.find('?'));
  const auto decoded = web::percent_decode(target);
  if (!decoded) return false;
  std::vector<std::string_view> segments;
  const std::string folder(document.substr(0, document.rfind('/') == std::string_view::npos ? 0 : document.rfind('/')));
  const bool from_root = decoded->starts_with('/');
  bool inside = true;
  const auto walk = [&](std::string_view path) {
    while (!path.empty() && inside) {
      const auto slash = path.find('/');
      const std::string_view segment = path.substr(0, slash);
      path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
      if (segment.empty() || segment == ".") continue;
      if (segment != "..") {
        segments.push_back(segment);
      } else if (segments.empty()) {
        inside = false;
      } else {
        segments.pop_back();
      }
    }
  };
  if (!from_root) walk(folder);
  walk(*decoded);
  if (!inside) return false;
  out.path.clear();
  for (const std::string_view segment : segments) {
    if (!out.path.empty()) out.path += '/';
    out.path += segment;
  }
  return true;
}

}  // namespace stackgate::datastore::pages
