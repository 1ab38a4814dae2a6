#include "services/kit/http_client/url.hpp"

#include <algorithm>
#include <memory>

#include <curl/curl.h>

#include "services/kit/base/ascii.hpp"
#include "services/kit/base/freed.hpp"
#include "services/kit/base/replace_all.hpp"

namespace stackgate::http_client {
namespace url_detail {

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

using Url = std::unique_ptr<CURLU, Freed<curl_url_cleanup>>;

std::string part_of(CURLU* url, CURLUPart part) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, CURLU_DEFAULT_PORT) != CURLUE_OK) return {};
  std::string out = text;
  curl_free(text);
  return out;
}

}  // namespace url_detail

std::string without_secrets(std::string_view url) {
  const auto parts = url_detail::split(url);
  std::string out = std::string(parts.scheme) + std::string(parts.rest);
  if (!parts.query.empty()) out += "?…";
  return out;
}

std::string scrub(std::string text, std::string_view url) {
  const auto parts = url_detail::split(url);
  for (std::string_view secret : {parts.user, parts.query}) {
    if (secret.size() >= 2) text = replace_all(text, secret, "…");
  }
  return text;
}

std::optional<Redirect> redirect_of(const std::string& from, const std::string& location) {
  using namespace url_detail;
  const Url base(curl_url()), target(curl_url());
  if (curl_url_set(base.get(), CURLUPART_URL, from.c_str(), 0) != CURLUE_OK ||
      curl_url_set(target.get(), CURLUPART_URL, from.c_str(), 0) != CURLUE_OK ||
      curl_url_set(target.get(), CURLUPART_URL, location.c_str(), 0) != CURLUE_OK)
    return std::nullopt;
  Redirect out{.url = {}, .same_origin = true};
  for (const CURLUPart part : {CURLUPART_SCHEME, CURLUPART_HOST, CURLUPART_PORT})
    out.same_origin =
        out.same_origin && ascii::equal_ignoring_case(part_of(base.get(), part), part_of(target.get(), part));
  const std::string scheme = part_of(target.get(), CURLUPART_SCHEME);
  if (!ascii::equal_ignoring_case(scheme, "http") && !ascii::equal_ignoring_case(scheme, "https")) return std::nullopt;
  char* whole = nullptr;
  if (curl_url_get(target.get(), CURLUPART_URL, &whole, 0) != CURLUE_OK) return std::nullopt;
  out.url = whole;
  curl_free(whole);
  return out;
}

std::optional<std::string> same_origin(const std::string& from, const std::string& location) {
  auto target = redirect_of(from, location);
  if (!target || !target->same_origin) return std::nullopt;
  return std::move(target->url);
}

}  // namespace stackgate::http_client
