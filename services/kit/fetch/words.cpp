#include "services/kit/fetch/words.hpp"

#include <algorithm>

namespace stackgate::fetch {
namespace words_detail {

struct Parts {
  std::string_view scheme, user, rest, query;
};

// The last '@' before the path ends the user: what a lenient parser would take for it.
Parts split(std::string_view url) {
  Parts parts;
  const auto colon = url.find("://");
  if (colon != std::string_view::npos) {
    parts.scheme = url.substr(0, colon + 3);
    url.remove_prefix(colon + 3);
  }
  const auto end = std::min(url.find_first_of("/?#\\"), url.size());
  if (const auto at = url.substr(0, end).rfind('@'); at != std::string_view::npos) {
    parts.user = url.substr(0, at);
    url.remove_prefix(at + 1);
  }
  const auto query = std::min(url.find_first_of("?#"), url.size());
  parts.rest = url.substr(0, query);
  parts.query = url.substr(query);
  return parts;
}

}  // namespace words_detail

std::string without_secrets(std::string_view url) {
  const auto parts = words_detail::split(url);
  std::string out = std::string(parts.scheme) + std::string(parts.rest);
  if (!parts.query.empty()) out += "?…";
  return out;
}

std::string scrub(std::string text, std::string_view url) {
  const auto parts = words_detail::split(url);
  for (std::string_view secret : {parts.user, parts.query}) {
    if (secret.size() < 2) continue;
    for (std::size_t at = 0; (at = text.find(secret, at)) != std::string::npos;) text.replace(at, secret.size(), "…");
  }
  return text;
}

}  // namespace stackgate::fetch
