#include "services/kit/objects/sigv4.hpp"

#include <algorithm>

#include "services/kit/base/percent.hpp"
#include "services/kit/base/time.hpp"
#include "services/kit/crypto/digest.hpp"

namespace stackgate::objects::sigv4 {
namespace sigv4_detail {

constexpr std::string_view algorithm = "AWS4-HMAC-SHA256";

std::string_view view_of(const std::array<unsigned char, 32>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string day_of(Time now) { return amz_date(now).substr(0, 8); }

std::string scope_of(const Credentials& credentials, std::string_view date) {
  std::string scope(date.substr(0, 8));
  return scope.append("/").append(credentials.region).append("/s3/aws4_request");
}

// A value as it is signed: outer blanks off, inner runs of blanks as one.
void append_trimmed(std::string& out, std::string_view value) {
  bool pending = false;
  const std::size_t start = out.size();
  for (const char c : value) {
    if (c == ' ' || c == '\t') {
      pending = out.size() > start;
      continue;
    }
    if (pending) out += ' ';
    pending = false;
    out += c;
  }
}

struct Pair {
  std::string name;
  std::string value;
  auto operator<=>(const Pair&) const = default;
};

void append_pairs(std::string& out, const std::vector<Pair>& pairs) {
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (i > 0) out += '&';
    out.append(pairs[i].name).append("=").append(pairs[i].value);
  }
}

std::vector<Pair> encoded(const Fields& query) {
  std::vector<Pair> pairs;
  pairs.reserve(query.size() + 7);
  for (const auto& [name, value] : query) {
    Pair& pair = pairs.emplace_back();
    append_encoded(pair.name, name, false);
    append_encoded(pair.value, value, false);
  }
  return pairs;
}

Fields sorted(Fields headers) {
  std::ranges::stable_sort(headers, {}, &Fields::value_type::first);
  return headers;
}

std::string names_of(const Fields& headers) {
  std::string names;
  for (const auto& [name, value] : headers) {
    if (!names.empty()) names += ';';
    names += name;
  }
  return names;
}

// `query`: encoded, in the order they are sent; `headers`: sorted.
std::string signature_of(const Credentials& credentials, const SigningKey& key, const Request& request,
                         std::vector<Pair> query, const Fields& headers, std::string_view names,
                         std::string_view payload_hash, std::string_view date) {
  std::ranges::sort(query);
  std::string canonical;
  canonical.reserve(1'024);
  canonical.append(request.method).append("\n");
  append_encoded(canonical, request.path, true);
  canonical += '\n';
  append_pairs(canonical, query);
  canonical += '\n';
  for (const auto& [name, value] : headers) {
    canonical.append(name).append(":");
    append_trimmed(canonical, value);
    canonical += '\n';
  }
  canonical.append("\n").append(names).append("\n").append(payload_hash);

  std::string to_sign(algorithm);
  to_sign.append("\n").append(date).append("\n").append(scope_of(credentials, date)).append("\n");
  to_sign += crypto::to_hex(crypto::sha256(canonical));
  return crypto::to_hex(crypto::hmac_sha256(view_of(key.bytes), to_sign));
}

}  // namespace sigv4_detail

using namespace sigv4_detail;

void append_encoded(std::string& out, std::string_view text, bool keep_slash) {
  append_percent_encoded(out, text, keep_slash ? "/" : "");
}

std::string amz_date(Time now) {
  std::string out = to_rfc3339(now);
  std::erase_if(out, [](char c) { return c == '-' || c == ':'; });
  return out;
}

SigningKey derive_key(const Credentials& credentials, Time now) {
  SigningKey key{.date = day_of(now)};
  key.bytes = crypto::hmac_sha256("AWS4" + credentials.secret_key, key.date);
  for (const std::string_view step :
       {std::string_view(credentials.region), std::string_view("s3"), std::string_view("aws4_request")})
    key.bytes = crypto::hmac_sha256(view_of(key.bytes), step);
  return key;
}

Fields sign_headers(const Credentials& credentials, const SigningKey& key, const Request& request,
                    std::string_view payload_hash, Time now) {
  const std::string date = amz_date(now);
  Fields added = {{"x-amz-content-sha256", std::string(payload_hash)}, {"x-amz-date", date}};
  if (!credentials.session_token.empty()) added.emplace_back("x-amz-security-token", credentials.session_token);
  Fields headers = request.headers;
  headers.insert(headers.end(), added.begin(), added.end());
  headers = sorted(std::move(headers));
  const std::string names = names_of(headers);
  std::string authorization(algorithm);
  authorization.append(" Credential=").append(credentials.access_key).append("/").append(scope_of(credentials, date));
  authorization.append(", SignedHeaders=").append(names).append(", Signature=");
  authorization += signature_of(credentials, key, request, encoded(request.query), headers, names, payload_hash, date);
  added.emplace_back("authorization", std::move(authorization));
  return added;
}

std::string presign(const Credentials& credentials, const SigningKey& key, const Request& request, Time now,
                    std::chrono::seconds valid) {
  const std::string date = amz_date(now);
  const Fields headers = sorted(request.headers);
  const std::string names = names_of(headers);
  std::vector<Pair> query = encoded(request.query);
  const auto add = [&query](const char* name, std::string_view value) {
    Pair& pair = query.emplace_back();
    pair.name = name;
    append_encoded(pair.value, value, false);
  };
  add("X-Amz-Algorithm", algorithm);
  add("X-Amz-Credential", credentials.access_key + "/" + scope_of(credentials, date));
  add("X-Amz-Date", date);
  add("X-Amz-Expires", std::to_string(valid.count()));
  add("X-Amz-SignedHeaders", names);
  if (!credentials.session_token.empty()) add("X-Amz-Security-Token", credentials.session_token);

  const auto body = std::ranges::find(headers, "x-amz-content-sha256", &Fields::value_type::first);
  const std::string_view payload_hash = body == headers.end() ? unsigned_payload : std::string_view(body->second);
  std::string url;
  url.reserve(512);
  append_encoded(url, request.path, true);
  url += '?';
  append_pairs(url, query);
  const std::string signature =
      signature_of(credentials, key, request, std::move(query), headers, names, payload_hash, date);
  return url.append("&X-Amz-Signature=").append(signature);
}

std::string target_of(const Request& request) {
  std::string out;
  append_encoded(out, request.path, true);
  if (request.query.empty()) return out;
  out += '?';
  append_pairs(out, encoded(request.query));
  return out;
}

}  // namespace stackgate::objects::sigv4
