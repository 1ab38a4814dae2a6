#include <optional>
#include <string>

#include <fmt/format.h>

#include "services/kit/grammar/characters.hpp"
#include "services/kit/grammar/host.hpp"
#include "services/kit/grammar/url.hpp"
#include "validators/rules/common.hpp"
#include "validators/rules/stack_parts.hpp"

namespace stackgate::validate {
namespace endpoint_rules {

constexpr std::string_view dataset_suffix = "/v1/hf";
constexpr std::size_t longest_suggestion = 200;

std::string_view without_final_slash(std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  return path;
}

/// The URL up to its path. Empty when the URL is in any way faulty: another rule says so.
std::string origin_of(std::string_view text, const grammar::Url& url) {
  const std::size_t path_at = static_cast<std::size_t>(url.path.data() - text.data());
  return std::string(text.substr(0, url.path.empty() ? text.find_first_of("?#") : path_at));
}

bool is_loopback(const grammar::Url& url) {
  const std::string host = grammar::to_lower(url.host);
  if (url.v6) {
    const auto address = grammar::parse_ipv6(host);
    if (!address) return false;
    for (std::size_t i = 0; i + 1 < address->size(); ++i)
      if ((*address)[i] != 0) return false;
    return address->back() <= 1;  // ::1, and :: which connects to the host itself
  }
  if (const auto address = grammar::parse_ipv4(host)) return (*address)[0] == 127 || *address == grammar::Ipv4{};
  const std::string_view name = host.ends_with('.') ? std::string_view(host).substr(0, host.size() - 1) : host;
  return name == "localhost" || name.ends_with(".localhost");
}

bool is_own_service(const Context& context, const Field& object, const grammar::Url& url) {
  const auto name = object["metadata"]["name"].text();
  if (!name || name->empty() || url.v6) return false;
  const std::string host = grammar::to_lower(url.host);
  std::string_view rest = host;
  if (!rest.starts_with(*name)) return false;
  rest.remove_prefix(name->size());
  if (rest.empty()) return true;
  if (!rest.starts_with('.')) return false;
  rest.remove_prefix(1);
  const std::string_view ns = object["metadata"]["namespace"].text().value_or(context.request.ns);
  if (ns.empty() || !rest.starts_with(ns)) return false;
  rest.remove_prefix(ns.size());
  return rest.empty() || rest == ".svc" || rest.starts_with(".svc.");
}

void check_place(Context& context, const Field& object, const Field& endpoint, std::string_view text,
                 const grammar::Url& url) {
  if (!url.query.empty() || !url.fragment.empty())
    context.report(
        rule::endpoint_query, endpoint,
        fmt::format("an endpoint has no {}: paths are appended to it", url.query.empty() ? "'#' part" : "'?' part"),
        fmt::format("write the URL up to its path: \"{}\"", origin_of(text, url) + std::string(url.path)));
  if (is_loopback(url))
    context.report(rule::endpoint_loopback, endpoint, fmt::format("inside a pod, {} is the pod itself", url.host),
                   "write the name of a Service, for example \"http://name.namespace:8000\"");
  else if (is_own_service(context, object, url))
    context.report(rule::endpoint_own_service, endpoint,
                   fmt::format("\"{}\" is the Service of this resource itself", url.host),
                   "write the address of the service that shall be called");
}

std::optional<grammar::Url> parse(const Field& endpoint) {
  const auto text = endpoint.text();
  if (!text) return std::nullopt;
  const auto url = grammar::parse_http_url(*text);
  return url ? std::optional(*url) : std::nullopt;
}

}  // namespace endpoint_rules

void check_service_endpoint(Context& context, Field object, Field endpoint) {
  check_endpoint(context, endpoint);
  if (const auto url = endpoint_rules::parse(endpoint))
    endpoint_rules::check_place(context, object, endpoint, *endpoint.text(), *url);
}

void check_vector_database_endpoint(Context& context, Field object, Field endpoint) {
  const auto text = endpoint.text();
  if (!text) return;
  const std::string start = grammar::to_lower(text->substr(0, 13));
  if (!start.starts_with("postgresql://") && !start.starts_with("postgres://"))
    return check_service_endpoint(context, object, endpoint);
  const auto url = grammar::parse_url(*text);
  if (!url) return context.report(rule::vector_db_endpoint, endpoint, url.error().problem, url.error().fix);
  if (url->has_user_info)
    return context.report(rule::url_user_info, endpoint, "a URL must not carry a user or password",
                          "write the URL without the part before '@'");
  if (const auto bad = grammar::check_host(url->v6 ? fmt::format("[{}]", url->host) : std::string(url->host)))
    return context.report(rule::vector_db_endpoint, endpoint, bad->problem, bad->fix);
  endpoint_rules::check_place(context, object, endpoint, *text, *url);
}

void check_datastore_root(Context& context, Field endpoint) {
  using namespace endpoint_rules;
  const auto url = parse(endpoint);
  if (!url) return;
  const std::string_view path = without_final_slash(url->path);
  if (!path.ends_with(dataset_suffix)) return;
  context.report(rule::datastore_endpoint_suffix, endpoint,
                 "the datastore is called at its root here, not below /v1/hf",
                 fmt::format("write \"{}{}\"", origin_of(*endpoint.text(), *url),
                             path.substr(0, path.size() - dataset_suffix.size())));
}

void check_endpoints_differ(Context& context, Field datastore, Field entitystore) {
  using namespace endpoint_rules;
  const auto one = parse(datastore);
  const auto two = parse(entitystore);
  if (!one || !two) return;
  std::string_view path = without_final_slash(one->path);
  if (path.ends_with(dataset_suffix)) path.remove_suffix(dataset_suffix.size());
  if (grammar::to_lower(one->host) != grammar::to_lower(two->host) || one->port != two->port ||
      one->scheme != two->scheme || path != without_final_slash(two->path))
    return;
  context.report(rule::endpoints_identical, entitystore,
                 fmt::format("is the same address as {}", to_string(datastore.path())),
                 "write the entitystore's own address, for example \"http://entitystore:8000\"");
}

void check_endpoint_suffix(Context& context, const Rule& rule, Field endpoint, std::string_view suffix,
                           std::string_view what) {
  using namespace endpoint_rules;
  const auto url = parse(endpoint);
  if (!url) return;
  const std::string_view path = without_final_slash(url->path);
  const bool right = path.ends_with(suffix);
  if (right && url->path.size() - path.size() <= 1) return;
  // "/v1//": cut; "/V1": lower case; "/v1/chat/completions" for "/v1": cut; "/v1" for "/v1/hf": complete; else append.
  const std::string lower = grammar::to_lower(path);
  std::string better(path);
  if (const std::size_t at = (lower + '/').find(std::string(suffix) + '/'); !right && at != std::string::npos)
    better.replace(at, better.size() - at, suffix);
  else if (!right && suffix.starts_with("/v1/") && lower.ends_with("/v1"))
    better.replace(better.size() - 3, 3, suffix);
  else if (!right)
    better += suffix;
  const bool other_case = !right && lower.ends_with(suffix);
  const std::string suggestion = origin_of(*endpoint.text(), *url) + better;
  context.report(rule, endpoint,
                 right ? fmt::format("{} must end in {}, with no more than one '/' behind it", what, suffix)
                       : fmt::format("{} must end in {}", what, suffix),
                 suggestion.size() > longest_suggestion ? fmt::format("let its path end in {}", suffix)
                 : other_case ? fmt::format("write {} in lower case: \"{}\"", suffix, suggestion)
                              : fmt::format("write \"{}\"", suggestion));
}

}  // namespace stackgate::validate
