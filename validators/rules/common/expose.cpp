// Service, Ingress and HTTPRoute.
// Source: k8s.io/kubernetes/pkg/apis/networking/validation; gateway.networking.k8s.io/v1 HTTPRoute.
#include <fmt/format.h>

#include "services/kit/grammar/host.hpp"
#include "services/kit/grammar/names.hpp"
#include "services/kit/grammar/url.hpp"
#include "validators/rules/common.hpp"
#include "validators/rules/common/single_values.hpp"

namespace stackgate::validate {
namespace {

std::optional<grammar::Problem> host_name_problem(std::string_view text) {
  // Asked only of what looks like one: a refusal is worded, which costs more than all else here.
  const bool digits_and_dots = text.find_first_not_of("0123456789.") == std::string_view::npos;
  if ((digits_and_dots && grammar::parse_ipv4(text)) ||
      (text.find(':') != std::string_view::npos && grammar::parse_ipv6(text)))
    return grammar::Problem{"is an address; only names can be told apart here", "write a host name, or leave it out"};
  auto problem = grammar::check_ingress_host(text);
  if (problem && text.find("://") != std::string_view::npos)
    if (const auto url = grammar::parse_url(text);
        url && !url->has_user_info && !grammar::check_ingress_host(url->host))
      return grammar::Problem{"is a URL; the host stands here alone", fmt::format("write \"{}\"", url->host)};
  return problem;
}

std::optional<grammar::Problem> ingress_path_problem(std::string_view path) {
  if (!path.starts_with('/')) return grammar::Problem{"must begin with '/'", fmt::format("write /{}", path)};
  if (path.find_first_of(" \t\r\n") != std::string_view::npos)
    return grammar::Problem{"must not contain a space", "write %20 for it, or leave it out"};
  for (const std::string_view part : {"//", "/./", "/../", "%2f", "%2F"})
    if (path.find(part) != std::string_view::npos)
      return grammar::Problem{fmt::format("must not contain \"{}\"", part), "write the path in its plain form"};
  for (const std::string_view end : {"/..", "/."})
    if (path.ends_with(end))
      return grammar::Problem{fmt::format("must not end in \"{}\"", end), "write the path in its plain form"};
  return std::nullopt;
}

void check_ingress(Context& context, const Field& expose, const Field& ingress) {
  if (ingress.absent()) return;
  check_object_name(context, ingress["className"]);
  check_text(context, rule::ingress_host, ingress["host"], host_name_problem);
  check_text(context, rule::ingress_path, ingress["path"], ingress_path_problem);
  const Field tls = ingress["tlsSecretName"];
  check_object_name(context, tls);
  check_annotations(context, ingress["annotations"]);
  if (!ingress["enabled"].flag().value_or(false)) return;
  if (tls.present() && ingress["host"].absent())
    context.report(rule::ingress_tls_without_host, tls, "a certificate is for a host, but no host is given",
                   "add host with the name in the certificate");
  if (expose["service"]["type"].text() == "LoadBalancer")
    context.report(rule::two_entry_points, expose["service"]["type"],
                   "a LoadBalancer opens a second way in beside the Ingress", "write type: ClusterIP");
}

/// gateway.networking.k8s.io/v1, CommonRouteSpec: of several references to one Gateway each names another listener.
void check_parents_differ(Context& context, const Field& parents) {
  constexpr std::size_t most_parents = 32;
  if (parents.size() > most_parents) return;  // the schema says so
  const auto part = [](const Field& parent, const char* name) { return parent[name].text().value_or(""); };
  for (std::size_t i = 1; i < parents.size(); ++i) {
    const Field later = parents.at(i);
    for (std::size_t j = 0; j < i; ++j) {
      const Field earlier = parents.at(j);
      if (later["name"].absent() || part(later, "name") != part(earlier, "name") ||
          part(later, "namespace") != part(earlier, "namespace"))
        continue;
      const std::string_view section = part(later, "sectionName"), other = part(earlier, "sectionName");
      if (!section.empty() && !other.empty() && section != other) continue;
      context.report(rule::route_parent_twice, later, fmt::format("names the same Gateway as item {}", j),
                     "remove one of them, or give each the sectionName of another listener");
      break;
    }
  }
}

void check_route(Context& context, const Field& route) {
  if (route.absent()) return;
  const Field parents = route["parentRefs"];
  for (const Field parent : parents.items()) {
    check_object_name(context, parent["name"]);
    check_text(context, rule::object_name, parent["namespace"], grammar::check_dns_label);
    check_object_name(context, parent["sectionName"]);
  }
  check_parents_differ(context, parents);
  for (const Field host : route["hostnames"].items()) check_text(context, rule::ingress_host, host, host_name_problem);
  if (route["enabled"].flag().value_or(false) && parents.size() == 0)
    context.report(rule::route_parent_missing, parents, "a route that belongs to no Gateway receives nothing",
                   "add parentRefs: [{name: <gateway>}]");
}

}  // namespace

void check_expose(Context& context, Field expose) {
  if (expose.absent()) return;
  const Field ingress = expose["ingress"];
  const Field route = expose["httpRoute"];
  if (ingress["enabled"].flag().value_or(false) && route["enabled"].flag().value_or(false))
    context.report(rule::ingress_and_route, route["enabled"], "an Ingress and an HTTPRoute are both enabled",
                   "set enabled: false in one of expose.ingress and expose.httpRoute");
  check_ingress(context, expose, ingress);
  check_route(context, route);
}

}  // namespace stackgate::validate
