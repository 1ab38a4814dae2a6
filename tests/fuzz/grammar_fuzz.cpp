// Any bytes into every grammar: no crash, problems are complete, and what one grammar takes its parts must bear out.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "services/kit/grammar/characters.hpp"
#include "services/kit/grammar/duration.hpp"
#include "services/kit/grammar/host.hpp"
#include "services/kit/grammar/image.hpp"
#include "services/kit/grammar/integer_text.hpp"
#include "services/kit/grammar/names.hpp"
#include "services/kit/grammar/path_names.hpp"
#include "services/kit/grammar/quantity.hpp"
#include "services/kit/grammar/url.hpp"

namespace {

using stackgate::validate::grammar::Problem;

void demand(bool held) {
  if (!held) std::abort();
}

void complete(const Problem& problem) {
  demand(!problem.problem.empty() && !problem.fix.empty());
  demand(problem.problem.back() != '.' && problem.fix.back() != '.');
  demand(problem.problem.size() < 600 && problem.fix.size() < 600);
}

void look(const std::optional<Problem>& problem) {
  if (problem) complete(*problem);
}

template <class T>
void look(const std::expected<T, Problem>& parsed) {
  if (!parsed) complete(parsed.error());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace g = stackgate::validate::grammar;
  const std::string_view text(reinterpret_cast<const char*>(data), size);

  const auto quantity = g::parse_quantity(text);
  look(quantity);
  if (quantity) {
    demand(*quantity == *quantity && (quantity->sign() == 0) == (*quantity == g::Quantity{}));
    if (const auto whole = quantity->to_integer()) demand(g::Quantity::from_integer(*whole) == *quantity);
  }
  look(g::parse_prometheus_duration(text));
  look(g::parse_go_duration(text));
  for (const auto check :
       {g::check_dns_label, g::check_dns1035_label, g::check_dns_subdomain, g::check_ingress_host, g::check_label_key,
        g::check_label_value, g::check_annotation_key, g::check_taint_key, g::check_env_name, g::check_config_key,
        g::check_resource_name, g::check_host, g::check_image_repository, g::check_image_tag,
        g::check_relative_sub_path, g::check_mount_path, g::check_repository_path, g::check_revision})
    look(check(text));
  if (!g::check_dns1035_label(text)) demand(!g::check_dns_label(text));
  if (!g::check_dns_label(text)) demand(!g::check_dns_subdomain(text) && !g::check_label_key(text));
  if (!g::check_label_key(text)) demand(!g::check_annotation_key(text));
  look(g::parse_ipv4(text));
  look(g::parse_ipv6(text));
  look(g::parse_cidr(text));
  look(g::parse_host_port(text));
  for (const auto& token : g::check_no_proxy(text)) {
    complete(token.problem);
    demand(token.offset + token.length <= text.size());
  }
  const auto url = g::parse_url(text);
  look(url);
  if (g::parse_http_url(text)) demand(url && !url->has_user_info && !url->host.empty());
  look(g::parse_http_url(text));
  const auto image = g::parse_image(text);
  look(image);
  if (image) demand(!image->repository.empty() && (image->tag.empty() || !g::check_image_tag(image->tag)));
  look(g::parse_integer(text));
  const auto positive = g::parse_positive_integer(text);
  look(positive);
  if (positive) demand(*positive > 0 && quantity && quantity->to_integer() == *positive);
  demand(g::count_characters(text) <= text.size());
  return 0;
}
