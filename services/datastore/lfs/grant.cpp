#include "services/datastore/lfs/grant.hpp"

#include <algorithm>

#include "services/datastore/clock.hpp"
#include "services/kit/base/ascii.hpp"
#include "services/kit/base/base64.hpp"
#include "services/kit/base/number.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/crypto/jwt.hpp"
#include "services/kit/crypto/signed_query.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::datastore::lfs {

namespace {

std::expected<Operation, std::string> operation_of(const json::Value& claims) {
  const std::string_view word = json::text_at(claims, "Op");
  if (word == "upload") return Operation::upload;
  if (word == "download") return Operation::download;
  return std::unexpected("the claim Op is neither upload nor download");
}

/// A whole number from 0.
std::optional<std::int64_t> count_at(const json::Value& claims, std::string_view name) {
  const json::Value* value = claims.find(name);
  if (value == nullptr || !value->is_integer() || value->integer() < 0) return {};
  return value->integer();
}

}  // namespace

bool Grant::allows(std::int64_t of_repository, Operation wanted, std::string_view of_oid) const {
  return repository == of_repository && oid == of_oid &&
         (operation == wanted || (operation == Operation::upload && wanted == Operation::download));
}

std::optional<std::string_view> bearer_jwt(std::string_view authorization) {
  constexpr std::string_view scheme = "bearer ";
  if (authorization.size() <= scheme.size()) return {};
  if (!ascii::equal_ignoring_case(authorization.substr(0, scheme.size()), scheme)) return {};
  const std::string_view token = authorization.substr(scheme.size());
  if (std::ranges::count(token, '.') != 2) return {};
  return token;
}

std::string sign_grant(std::string_view key, const Grant& grant, std::chrono::system_clock::time_point now) {
  return crypto::sign_jwt(key, json::object_text([&](json::Writer& w) {
                            w.member("RepoID", grant.repository);
                            w.member("UserID", grant.user);
                            w.member("Op", to_string(grant.operation));
                            w.member("Oid", grant.oid);
                            w.member("Size", grant.size);
                            w.member("nbf", unix_seconds(now));
                            w.member("exp", unix_seconds(now + grant_life));
                          }));
}

std::expected<Grant, std::string> read_grant(std::string_view key, std::string_view token,
                                             std::chrono::system_clock::time_point now) {
  const auto claims = TRY(crypto::verify_jwt(key, token, now));
  const auto repository = count_at(claims.root, "RepoID"), user = count_at(claims.root, "UserID"),
             size = count_at(claims.root, "Size");
  const std::string_view oid = json::text_at(claims.root, "Oid");
  if (!repository || !user || !size || claims.root.find("Op") == nullptr || !is_oid(oid))
    return std::unexpected("the claims are not those of a large-file token");
  const auto operation = TRY(operation_of(claims.root));
  return Grant{.repository = *repository,
               .user = *user,
               .operation = operation,
               .oid = std::string(oid),
               .size = static_cast<std::uint64_t>(*size)};
}

std::expected<RepositoryGrant, std::string> read_repository_grant(std::string_view key, std::string_view token,
                                                                  std::chrono::system_clock::time_point now) {
  auto verified = crypto::verify_jwt(key, token, now);
  if (!verified && key.size() == 43)
    if (const auto spelt = base64::decode_url(key)) verified = crypto::verify_jwt(*spelt, token, now);
  const auto claims = TRY(std::move(verified));
  const auto repository = count_at(claims.root, "RepoID"), user = count_at(claims.root, "UserID");
  const json::Value* operation = claims.root.find("Op");
  if (repository.value_or(0) == 0 || user.value_or(0) == 0 || operation == nullptr || !operation->is_string() ||
      claims.root.find("Oid") != nullptr || claims.root.find("Size") != nullptr)
    return std::unexpected("the claims are not those of a repository's token");
  const auto wanted = TRY(operation_of(claims.root));
  return RepositoryGrant{*repository, *user, wanted};
}

std::string sign_url(std::string_view key, std::string_view method, std::string_view path, const Grant& grant,
                     std::chrono::system_clock::time_point now) {
  crypto::SignedUrl url{.method = method, .path = path};
  url.extras = {{"repository", std::to_string(grant.repository)},
                {"user", std::to_string(grant.user)},
                {"size", std::to_string(grant.size)}};
  if (!grant.upload.empty()) {
    url.extras.emplace_back("upload", grant.upload);
    url.extras.emplace_back("parts", std::to_string(grant.parts));
  }
  return crypto::sign_query(key, url, now + url_life);
}

std::expected<Grant, std::string> read_url(std::string_view key, std::string_view method, std::string_view path,
                                           std::string_view query, std::string_view oid,
                                           std::chrono::system_clock::time_point now) {
  const auto extras = TRY(crypto::verify_query(key, method, path, query, now));
  std::optional<std::int64_t> repository, user{0};
  std::optional<std::uint64_t> size;
  std::optional<unsigned> parts{0};
  std::string upload;
  for (const auto& [name, value] : extras) {
    if (name == "repository") repository = to_number<std::int64_t>(value);
    if (name == "user") user = to_number<std::int64_t>(value);
    if (name == "size") size = to_number<std::uint64_t>(value);
    if (name == "upload") upload = value;
    if (name == "parts") parts = to_number<unsigned>(value);
  }
  if (!is_oid(oid) || !repository || !user || !size || !parts)
    return std::unexpected("the URL's query is not one of a large file");
  return Grant{.repository = *repository,
               .user = *user,
               .operation = method == "GET" ? Operation::download : Operation::upload,
               .oid = std::string(oid),
               .size = *size,
               .upload = std::move(upload),
               .parts = *parts};
}

}  // namespace stackgate::datastore::lfs
