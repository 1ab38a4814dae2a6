#include "reconcile/plan/datastore_client.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "services/kit/grammar/url.hpp"

namespace stackgate::reconcile {
namespace datastore_client {

struct Variable {
  std::string_view name, key;
};
constexpr std::array<Variable, 2> variables{
    {{"DATASTORE_USERNAME", "GIT_ADMIN_USERNAME"}, {"DATASTORE_PASSWORD", "GIT_ADMIN_PASSWORD"}}};

bool is_one(std::string_view name) { return std::ranges::find(variables, name, &Variable::name) != variables.end(); }

}  // namespace datastore_client

std::string_view service_named(std::string_view url, std::string_view ns) {
  const auto parsed = validate::grammar::parse_http_url(url);
  if (!parsed || parsed->v6) return {};
  const std::string_view host = parsed->host, name = host.substr(0, host.find('.'));
  std::string_view rest = host.substr(name.size());
  if (rest.empty()) return name;
  rest.remove_prefix(1);
  if (rest == ns) return name;
  const std::string services = std::string(ns) + ".svc";
  return rest == services || rest.starts_with(services + ".") ? name : std::string_view();
}

void sign_in_to_datastore(const parts::Scope& scope, parts::Workload& workload) {
  const std::string_view secret = scope.planning.observed.datastore_admin;
  if (secret.empty()) return;
  const auto theirs = scope.spec["env"].items();
  if (std::ranges::any_of(
          theirs, [](const parts::Field& each) { return datastore_client::is_one(each["name"].text().value_or("")); }))
    return;
  for (const auto& [name, key] : datastore_client::variables)
    workload.main.env.push_back(pods::env_from_secret(name, secret, key));
}

}  // namespace stackgate::reconcile
