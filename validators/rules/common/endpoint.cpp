#include <fmt/format.h>

#include "services/kit/grammar/host.hpp"
#include "services/kit/grammar/url.hpp"
#include "validators/rules/common.hpp"

namespace stackgate::validate {
namespace {

bool is_http_scheme(std::string_view scheme) {
  const auto same = [scheme](std::string_view word) {
    return scheme.size() == word.size() &&
           std::equal(scheme.begin(), scheme.end(), word.begin(), [](char a, char b) { return (a | 0x20) == b; });
  };
  return same("http") || same("https");
}

}  // namespace

void check_endpoint(Context& context, Field url) {
  if (url.absent() || !url.value()->is_string()) return;
  const std::string_view text = url.value()->string();
  auto parsed = grammar::parse_url(text);
  if (!parsed) {
    context.report(rule::endpoint_url, url, std::move(parsed.error().problem), std::move(parsed.error().fix));
    return;
  }
  if (parsed->has_user_info) {
    context.report(rule::url_user_info, url,
                   "the URL carries a user or password, which everyone who may read this sees",
                   "take out what stands before the @ and keep it in a Secret");
    return;
  }
  if (!is_http_scheme(parsed->scheme)) {
    context.report(rule::endpoint_url, url, fmt::format("the scheme must be http or https, not \"{}\"", parsed->scheme),
                   "write http://host:port or https://host:port");
    return;
  }
  if (parsed->v6) return;  // parse_url has checked the address
  if (auto bad = grammar::check_host(parsed->host))
    context.report(rule::endpoint_url, url, "the URL's host " + bad->problem, std::move(bad->fix));
}

}  // namespace stackgate::validate
