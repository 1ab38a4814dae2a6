#include "services/kit/crypto/signed_query.hpp"

#include <cstdint>
#include <optional>

#include "services/kit/base/base64.hpp"
#include "services/kit/base/number.hpp"
#include "services/kit/base/percent.hpp"
#include "services/kit/crypto/digest.hpp"

namespace stackgate::crypto {
namespace signed_query_detail {

using Pairs = std::vector<std::pair<std::string, std::string>>;
constexpr std::string_view signature_mark = "&signature=";
constexpr std::size_t largest_query = 4 * 1024;

// The first line keeps these signatures apart from whatever else the same key signs. None of the three fields can hold
// a line break: a request line has none, and append_percent_encoded() writes none.
std::string signature_of(std::string_view key, std::string_view method, std::string_view path, std::string_view query) {
  std::string text = "stackgate signed query 1\n";
  text.append(method).append("\n").append(path).append("\n").append(query);
  const Sha256 mac = hmac_sha256(key, text);
  return base64::encode_url({reinterpret_cast<const char*>(mac.data()), mac.size()});
}

std::optional<Pairs> parse_pairs(std::string_view query) {
  Pairs out;
  while (!query.empty()) {
    const std::size_t end = query.find('&');
    const std::string_view pair = query.substr(0, end);
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    auto value = percent_decoded(pair.substr(equals + 1));
    if (!value) return std::nullopt;
    out.emplace_back(pair.substr(0, equals), std::move(*value));
    query.remove_prefix(end == std::string_view::npos ? query.size() : end + 1);
  }
  return out;
}

}  // namespace signed_query_detail

std::string sign_query(std::string_view key, const SignedUrl& url, std::chrono::system_clock::time_point expires) {
  using namespace signed_query_detail;
  std::string query;
  for (const auto& [name, value] : url.extras) {
    append_percent_encoded(query, name);
    query += '=';
    append_percent_encoded(query, value);
    query += '&';
  }
  query +=
      "expires=" + std::to_string(std::chrono::duration_cast<std::chrono::seconds>(expires.time_since_epoch()).count());
  const std::string signature = signature_of(key, url.method, url.path, query);
  return query.append(signature_mark).append(signature);
}

std::expected<std::vector<std::pair<std::string, std::string>>, std::string> verify_query(
    std::string_view key, std::string_view method, std::string_view path, std::string_view query,
    std::chrono::system_clock::time_point now) {
  using namespace signed_query_detail;
  const auto invalid = std::unexpected(std::string("the link's signature is not valid"));
  const std::size_t mark = query.rfind(signature_mark);
  if (mark == std::string_view::npos) return std::unexpected(std::string("the link has no signature"));
  if (key.empty() || query.size() > largest_query) return invalid;
  const std::string_view covered = query.substr(0, mark);
  if (!equal_in_constant_time(query.substr(mark + signature_mark.size()), signature_of(key, method, path, covered)))
    return invalid;
  std::optional<Pairs> pairs = parse_pairs(covered);
  if (!pairs || pairs->empty() || pairs->back().first != "expires") return invalid;
  const auto expires = to_number<std::int64_t>(pairs->back().second);
  if (!expires) return invalid;
  if (std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count() >= *expires)
    return std::unexpected(std::string("the link has expired"));
  pairs->pop_back();
  return std::move(*pairs);
}

}  // namespace stackgate::crypto
