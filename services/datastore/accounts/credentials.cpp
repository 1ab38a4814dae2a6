#include "services/datastore/accounts/credentials.hpp"

#include <optional>
#include <utility>

#include "services/kit/base/base64.hpp"
#include "services/kit/web/basic_auth.hpp"

namespace stackgate::datastore {
namespace {

using Pair = std::optional<std::pair<std::string, std::string>>;

/// base64(name ":" secret); the secret may hold further colons.
Pair name_and_secret(std::string_view encoded) {
  std::string padded(encoded);
  while (padded.size() % 4 != 0) padded += '=';
  const auto decoded = base64::decode(padded);
  if (!decoded || decoded->contains('\0')) return std::nullopt;
  const auto colon = decoded->find(':');
  if (colon == std::string::npos) return std::nullopt;
  return std::pair(decoded->substr(0, colon), decoded->substr(colon + 1));
}

Credentials of_pair(std::pair<std::string, std::string> pair) {
  using Kind = Credentials::Kind;
  auto& [name, secret] = pair;
  if (looks_like_token(secret)) return {.kind = Kind::token, .name = std::move(name), .secret = std::move(secret)};
  if (looks_like_token(name)) return {.kind = Kind::token, .name = {}, .secret = std::move(name)};
  return {.kind = Kind::password, .name = std::move(name), .secret = std::move(secret)};
}

}  // namespace

bool looks_like_token(std::string_view secret) { return secret.size() == 45 && secret.starts_with(token_mark); }

Credentials read_credentials(std::string_view authorization) {
  using Kind = Credentials::Kind;
  using Scheme = web::Credentials::Scheme;
  web::Credentials shown = web::parse_authorization(authorization);
  switch (shown.scheme) {
    case Scheme::none:
      return {};
    case Scheme::unknown:
      return {.kind = Kind::malformed};
    case Scheme::basic:
      return of_pair({std::move(shown.user), std::move(shown.secret)});
    case Scheme::bearer:
      if (shown.secret.empty()) return {};
      if (!looks_like_token(shown.secret))
        if (auto pair = name_and_secret(shown.secret)) return of_pair(std::move(*pair));
      [[fallthrough]];
    case Scheme::token:
      break;
  }
  if (shown.secret.empty()) return {};
  return {.kind = Kind::token, .secret = std::move(shown.secret)};
}

}  // namespace stackgate::datastore
