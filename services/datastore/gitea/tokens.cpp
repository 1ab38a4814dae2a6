#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "services/datastore/accounts/credentials.hpp"
#include "services/datastore/gitea/handlers.hpp"
#include "services/datastore/gitea/shapes.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/web/body_schema.hpp"

namespace stackgate::datastore::gitea {
namespace {

constexpr std::string_view new_token_schema = R"({
  "type": "object",
  "required": ["name"],
  "properties": {
    "name": {"type": "string", "minLength": 1, "maxLength": 255},
    "scopes": {"type": "array", "maxItems": 50, "items": {"type": "string", "maxLength": 64}},
    "valid_days": {"type": "integer", "minimum": 1, "maximum": 3650}
  }
})";

/// Whose tokens, if the caller showed a password: a token must not beget tokens.
std::expected<Account, web::Failure> owner_of_tokens(Backend& backend, web::Call& call) {
  auto identity = TRY(identify_someone(backend, call));
  if (read_credentials(call.request().header("Authorization")).kind != Credentials::Kind::password)
    return std::unexpected(unauthorized("tokens are managed with name and password (HTTP Basic), not with a token"));
  auto account = backend.accounts.find(call.parameter("username"));
  if (!account) return std::unexpected(to_failure(account.error()));
  if (account->id != identity.account && !identity.admin)
    return std::unexpected(web::Failure{.status = 403, .message = "these tokens belong to another account"});
  if (account->kind != AccountKind::user)
    return std::unexpected(web::Failure{.status = 422, .message = "an organisation has no tokens; use a user's"});
  return std::move(*account);
}

/// Gitea's areas, https://docs.gitea.com/development/oauth2-provider#scopes
constexpr std::array<std::string_view, 9> scope_areas{"activitypub",  "admin",   "issue",      "misc", "notification",
                                                      "organization", "package", "repository", "user"};

/// One of Gitea's words, or ours ("read", "write"); nothing for any other.
std::optional<Scope> scope_of_word(std::string_view word) {
  if (word == "all" || word == "repo" || word == "write") return Scope::write;
  if (word == "read") return Scope::read;
  for (const auto& [prefix, scope] : {std::pair(std::string_view("read:"), Scope::read), {"write:", Scope::write}})
    if (word.starts_with(prefix) && std::ranges::find(scope_areas, word.substr(prefix.size())) != scope_areas.end())
      return scope;
  return std::nullopt;
}

/// A token that may write anything may write here; so may one that names no scopes.
std::expected<Scope, web::Failure> scope_of(const json::Value& body) {
  const json::Value* scopes = body.find("scopes");
  if (scopes == nullptr || !scopes->is_array() || scopes->items().empty()) return Scope::write;
  Scope out = Scope::read;
  for (const json::Value& each : scopes->items()) {
    // A token that sees private repositories after all would be more than was asked for.
    if (each.string() == "public-only")
      return std::unexpected(web::Failure{
          .status = 422,
          .message =
              "scopes: \"public-only\" is not supported: a token here sees what its account sees; make the token "
              "for a user who sees no private repositories, with the scope read"});
    const auto scope = scope_of_word(each.string());
    if (!scope)
      return std::unexpected(web::Failure{
          .status = 422,
          .message =
              fmt::format("scopes: \"{}\" is not a scope of this server; known are all, read, write, and read:AREA "
                          "and write:AREA with an AREA of {}",
                          each.string(), fmt::join(scope_areas, ", "))});
    if (*scope == Scope::write) out = Scope::write;
  }
  return out;
}

web::Answer list_tokens(Backend& backend, web::Call& call) {
  auto account = TRY(owner_of_tokens(backend, call));
  const auto page = TRY(web::read_page(call.query(), web::gitea_pages, default_page, largest_page));
  auto tokens = TRY(backend.accounts.list_tokens(account.id));
  return json_page(call, page, tokens.size(), [&](json::Writer& w) {
    for (std::size_t i = page.offset(); i < std::min(tokens.size(), page.offset() + page.size); ++i)
      Shape{w, {}}.token(tokens[i]);
  });
}

web::Answer create_token(Backend& backend, web::Call& call) {
  static const web::BodySchema schema(new_token_schema);
  auto account = TRY(owner_of_tokens(backend, call));
  auto body = TRY(schema.read(call));
  const json::Value& root = body->root;
  const auto scope = TRY(scope_of(root));
  const json::Value* days = root.find("valid_days");
  const std::chrono::hours valid(days == nullptr ? 0 : days->integer() * 24);
  auto made = backend.accounts.create_token(account.id, json::text_at(root, "name"), scope, valid);
  if (!made) return failure_with(made.error(), 400);
  return json_response(201, [&](json::Writer& w) { Shape{w, {}}.token(made->token, made->secret); },
                       {{"Cache-Control", "no-store"}});
}

web::Answer delete_token(Backend& backend, web::Call& call) {
  auto account = TRY(owner_of_tokens(backend, call));
  TRY(backend.accounts.remove_token(account.id, call.parameter("token")));
  return http::Response{.status = 204};
}

}  // namespace

void add_token_routes(Routes& routes, Backend& backend) {
  add(routes, backend, "GET", "/api/v1/users/{username}/tokens", list_tokens);
  add(routes, backend, "POST", "/api/v1/users/{username}/tokens", create_token);
  add(routes, backend, "DELETE", "/api/v1/users/{username}/tokens/{token}", delete_token);
}

}  // namespace stackgate::datastore::gitea
