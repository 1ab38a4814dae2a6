#include <fmt/format.h>

#include "services/kit/grammar/host.hpp"
#include "services/kit/grammar/url.hpp"
#include "validators/rules/common.hpp"
#include "validators/rules/kinds.hpp"
#include "validators/rules/stack_parts.hpp"

namespace stackgate::validate {
namespace guardrail {

/// "llm", "llm.team", "llm.team.svc.cluster.local": names that only the cluster's DNS knows. A name such as
/// "example.com" looks like "service.namespace"; of two labels only those count that end in no known top-level domain,
/// which nobody can list, so two labels are taken for the outside.
bool is_inside_cluster(const grammar::Url& url) {
  if (url.v6 || grammar::parse_ipv4(url.host)) return false;
  return url.host.find('.') == std::string_view::npos || url.host.ends_with(".svc") ||
         url.host.find(".svc.") != std::string_view::npos || url.host.ends_with(".local");
}

void check_endpoint_and_key(Context& context, const Field& object, const Field& endpoint) {
  const Field base_url = endpoint["baseURL"];
  const Field secret = endpoint["apiKeySecret"];
  const Field key = endpoint["apiKeyKey"];
  check_service_endpoint(context, object, base_url);
  check_endpoint_suffix(context, rule::guardrail_base_url, base_url, "/v1", "the base URL");
  check_object_name(context, secret);
  if (key) check_secret_key(context, key);
  // The API server fills in the default, so that alone says nothing.
  const auto* preset = key.node() == nullptr ? nullptr : key.node()->default_value;
  const bool chosen = key && (preset == nullptr || !json::equal(*key.value(), *preset));
  if (chosen && !secret)
    context.report(rule::guardrail_key_without_secret, key,
                   "names an entry of a Secret, but apiKeySecret names no Secret",
                   "add apiKeySecret, or remove apiKeyKey");
  const auto url = grammar::parse_http_url(base_url.text().value_or(""));
  if (secret && url && (url->scheme == "http" || url->scheme == "HTTP") && !is_inside_cluster(*url))
    context.report(rule::guardrail_key_over_http, base_url, "the API key would be sent without encryption",
                   "write https://");
}

void check_store(Context& context, const Field& store) {
  if (!store) return;
  const Field pvc = store["pvc"];
  const Field config_map = store["configMap"];
  const bool misspelt = !pvc && !config_map && (store.has_misspelt("pvc") || store.has_misspelt("configMap"));
  if (static_cast<bool>(pvc) == static_cast<bool>(config_map) && !misspelt)
    context.report(rule::configstore_exactly_one, store,
                   pvc ? "both pvc and configMap are given" : "neither pvc nor configMap is given",
                   pvc ? "keep one of them" : "add configMap: {name: …}, or pvc for production");
  check_claim(context, pvc);
  check_object_name(context, config_map["name"]);
}

}  // namespace guardrail

void check_stack_guardrail(Context& context, Field object) {
  const Field spec = object["spec"];
  guardrail::check_endpoint_and_key(context, object, spec["nimEndpoint"]);
  guardrail::check_store(context, spec["configStore"]);
  check_volumes(context, spec);
}

}  // namespace stackgate::validate
