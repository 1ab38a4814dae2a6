#include "services/kit/web/conditional.hpp"

#include <fmt/format.h>

#include "services/kit/base/time.hpp"
#include "services/kit/http/text.hpp"

namespace stackgate::web {
namespace conditional_detail {

bool is_etag_char(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte == 0x21 || (byte >= 0x23 && byte != 0x7f);
}

// Without W/, if it is an entity tag at all.
std::string_view opaque_part(std::string_view etag) { return etag.starts_with("W/") ? etag.substr(2) : etag; }

bool equal_tags(std::string_view a, std::string_view b, bool weak_comparison) {
  if (!weak_comparison && (a.starts_with("W/") || b.starts_with("W/"))) return false;
  return opaque_part(a) == opaque_part(b);
}

// Cuts one entity tag off the front; empty when there is none.
std::string_view take_etag(std::string_view& text) {
  std::size_t i = text.starts_with("W/") ? 2 : 0;
  if (i >= text.size() || text[i] != '"') return {};
  for (++i; i < text.size() && text[i] != '"'; ++i) {
    if (!is_etag_char(text[i])) return {};
  }
  if (i == text.size()) return {};
  const std::string_view tag = text.substr(0, i + 1);
  text.remove_prefix(i + 1);
  return tag;
}

bool is_later(const std::optional<std::chrono::sys_seconds>& modified, std::chrono::sys_seconds than) {
  return !modified || *modified > than;
}

}  // namespace conditional_detail

bool etag_listed(std::string_view list, std::string_view etag, bool weak_comparison) {
  std::string_view rest = http::trim(list);
  if (rest == "*") return true;
  bool found = false;
  while (!rest.empty()) {
    if (rest.front() == ',') {  // empty elements are to be accepted (RFC 9110, 5.6.1.2)
      rest = http::trim(rest.substr(1));
      continue;
    }
    const std::string_view tag = conditional_detail::take_etag(rest);
    if (tag.empty()) return false;
    found = found || (!etag.empty() && conditional_detail::equal_tags(tag, etag, weak_comparison));
    rest = http::trim(rest);
    if (!rest.empty() && rest.front() != ',') return false;
  }
  return found;
}

Precondition check_preconditions(const http::Request& request, const Validators& current, bool exists) {
  // Several header lines of one name are one list; clients send one, so the first has to do.
  const std::string_view match = request.header("if-match");
  if (!match.empty()) {
    const bool holds = exists && (http::trim(match) == "*" || etag_listed(match, current.etag, false));
    if (!holds) return Precondition::failed;
  } else if (const auto since = from_http_date(http::trim(request.header("if-unmodified-since")))) {
    if (exists && current.modified && conditional_detail::is_later(current.modified, *since))
      return Precondition::failed;
  }
  const bool reads = request.method == "GET" || request.method == "HEAD";
  const std::string_view none = request.header("if-none-match");
  if (!none.empty()) {
    if (exists && (http::trim(none) == "*" || etag_listed(none, current.etag, true)))
      return reads ? Precondition::not_modified : Precondition::failed;
  } else if (reads && exists) {
    const auto since = from_http_date(http::trim(request.header("if-modified-since")));
    if (since && !conditional_detail::is_later(current.modified, *since)) return Precondition::not_modified;
  }
  return Precondition::proceed;
}

bool range_still_holds(const http::Request& request, const Validators& current, std::chrono::sys_seconds now) {
  const std::string_view condition = http::trim(request.header("if-range"));
  if (condition.empty()) return true;
  if (condition.starts_with('"') || condition.starts_with("W/"))
    return !current.etag.empty() && conditional_detail::equal_tags(condition, current.etag, false);
  const auto date = from_http_date(condition);
  return date && current.modified && *date == *current.modified && now - *current.modified > std::chrono::seconds(60);
}

std::string make_etag(std::string_view opaque, bool weak) {
  std::string out = weak ? "W/\"" : "\"";
  for (const char c : opaque) {
    if (conditional_detail::is_etag_char(c)) out += c;
  }
  return out + '"';
}

}  // namespace stackgate::web
