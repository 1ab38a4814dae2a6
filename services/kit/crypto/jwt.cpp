#include "services/kit/crypto/jwt.hpp"

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "services/kit/base/base64.hpp"
#include "services/kit/crypto/digest.hpp"
#include "services/kit/json/parse.hpp"

namespace stackgate::crypto {
namespace jwt_detail {

constexpr std::size_t largest_token = 8 * 1024;
constexpr double latest_time = 253'402'300'799;  // the last second of the year 9999

using Refusal = std::unexpected<std::string>;

std::string_view view_of(const Sha256& bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

// The header must say HS256 and nothing that asks more of the reader: "crit" names extensions that we do not have
// (RFC 7515 4.1.11), and keys inside the token ("jwk", "jku", "x5u", …) are never looked at.
std::optional<std::string> header_fault(std::string_view encoded) {
  const std::optional<std::string> text = base64::decode_url(encoded);
  if (!text) return "the header is not base64url";
  json::Document document;
  const auto root = json::parse(*text, document, {.max_depth = 8, .max_bytes = largest_token});
  if (!root) return "the header is not JSON: " + root.error().message;
  if (!root->is_object()) return "the header is no JSON object";
  const json::Value* algorithm = root->find("alg");
  if (algorithm == nullptr || algorithm->string() != "HS256") return "the algorithm is not HS256";
  if (root->find("crit") != nullptr) return "the header has critical extensions";
  return std::nullopt;
}

// A copy that owns its strings: what the parser gives are views into the text.
json::Value own(const json::Value& value, json::Arena& arena) {
  if (value.is_string()) return json::Value::make_string(arena.copy(value.string()), value.offset());
  if (value.is_array()) {
    std::vector<json::Value> items;
    for (const json::Value& item : value.items()) items.push_back(own(item, arena));
    return json::Value::make_array(arena.copy(std::span<const json::Value>(items)), value.offset());
  }
  if (value.is_object()) {
    std::vector<json::Member> members;
    for (const json::Member& m : value.members())
      members.push_back({.key = arena.copy(m.key), .key_offset = m.key_offset, .value = own(m.value, arena)});
    return json::Value::make_object(arena.copy(std::span<const json::Member>(members)), value.offset());
  }
  return value;
}

std::optional<std::string> time_fault(const json::Value& claims, std::string_view name, std::optional<double>& out) {
  const json::Value* value = claims.find(name);
  if (value == nullptr) return std::nullopt;
  // In this form NaN would be refused as well.
  if (!value->is_number() || !(value->number() >= 0 && value->number() <= latest_time))
    return std::string(name) + " is no time";
  out = value->number();
  return std::nullopt;
}

std::optional<std::string> validity_fault(const json::Value& claims, double now, double leeway) {
  std::optional<double> expires, not_before, issued;
  for (const auto& [name, into] :
       {std::pair{"exp", &expires}, std::pair{"nbf", &not_before}, std::pair{"iat", &issued}})
    if (auto fault = time_fault(claims, name, *into)) return fault;
  if (!expires) return "the token has no exp";
  if (now >= *expires + leeway) return "the token has expired";
  if (not_before && now < *not_before - leeway) return "the token is not valid yet";
  return std::nullopt;
}

}  // namespace jwt_detail

std::string sign_jwt(std::string_view key, std::string_view claims) {
  static const std::string header = base64::encode_url(R"({"alg":"HS256","typ":"JWT"})");
  std::string token = header + "." + base64::encode_url(claims);
  const Sha256 signature = hmac_sha256(key, token);
  token += '.';
  token += base64::encode_url(jwt_detail::view_of(signature));
  return token;
}

std::expected<json::Document, std::string> verify_jwt(std::string_view key, std::string_view token,
                                                      std::chrono::system_clock::time_point now,
                                                      std::chrono::seconds leeway) {
  using jwt_detail::Refusal;
  // An empty HMAC key is one that everybody knows.
  if (key.empty()) return Refusal("no key is configured");
  if (token.size() > jwt_detail::largest_token) return Refusal("the token is longer than 8 KiB");
  const std::size_t first = token.find('.');
  const std::size_t last = token.rfind('.');
  if (first == std::string_view::npos || first == last || token.find('.', first + 1) != last)
    return Refusal("the token has not three parts");
  if (auto fault = jwt_detail::header_fault(token.substr(0, first))) return Refusal(std::move(*fault));

  const std::optional<std::string> signature = base64::decode_url(token.substr(last + 1));
  const Sha256 right = hmac_sha256(key, token.substr(0, last));
  if (!signature || !equal_in_constant_time(*signature, jwt_detail::view_of(right)))
    return Refusal("the signature does not match");

  const std::optional<std::string> text = base64::decode_url(token.substr(first + 1, last - first - 1));
  if (!text) return Refusal("the claims are not base64url");
  json::Document parsed;
  const auto claims = json::parse(*text, parsed, {.max_depth = 32, .max_bytes = jwt_detail::largest_token});
  if (!claims) return Refusal("the claims are not JSON: " + claims.error().message);
  if (!claims->is_object()) return Refusal("the claims are no JSON object");
  const double seconds = std::chrono::duration<double>(now.time_since_epoch()).count();
  if (auto fault = jwt_detail::validity_fault(*claims, seconds, static_cast<double>(leeway.count())))
    return Refusal(std::move(*fault));
  json::Document out;
  out.root = jwt_detail::own(*claims, out.arena);
  return out;
}

}  // namespace stackgate::crypto
