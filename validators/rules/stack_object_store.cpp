#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "services/kit/grammar/characters.hpp"
#include "services/kit/grammar/host.hpp"
#include "services/kit/grammar/url.hpp"
#include "validators/rules/common.hpp"
#include "validators/rules/stack_parts.hpp"

namespace stackgate::validate {
namespace object_store {

/// "https://minio.storage:9000/x" → "minio.storage:9000".
std::string host_port_of_url(std::string_view text) {
  const auto url = grammar::parse_url(text);
  if (!url || url->has_user_info) return {};
  const bool tls = grammar::to_lower(url->scheme) == "https";
  return fmt::format("{}{}{}:{}", url->v6 ? "[" : "", url->host, url->v6 ? "]" : "",
                     url->port.value_or(tls ? 443 : 80));
}

/// Stores of the large clouds: they speak TLS at its own port.
constexpr std::array<std::string_view, 6> public_stores{
    ".amazonaws.com",    ".amazonaws.com.cn",         ".googleapis.com",
    ".core.windows.net", ".r2.cloudflarestorage.com", ".digitaloceanspaces.com"};
constexpr std::size_t longest_host = 253;

/// "s3.amazonaws.com" → what to write, where the missing port is surely or probably 443; else empty.
std::string with_tls_port(std::string_view host, const Field& store) {
  if (host.size() > longest_host || host.find(':') != std::string_view::npos || grammar::check_host(host)) return {};
  std::string name = grammar::to_lower(host);
  if (name.ends_with('.')) name.pop_back();
  const bool is_public =
      std::ranges::any_of(public_stores, [&](std::string_view suffix) { return name.ends_with(suffix); });
  const auto ssl = store["ssl"].flag();
  if (!is_public && !ssl.value_or(false)) return {};
  return fmt::format("write the port behind the host, for example \"{}:443\"{}", host,
                     ssl.value_or(true) ? "" : ", and ssl: true");
}

void check_address(Context& context, const Field& store) {
  const Field endpoint = store["endpoint"];
  const auto text = endpoint.text();
  if (!text || text->empty()) return;
  if (text->find("://") != std::string_view::npos) {
    const std::string better = host_port_of_url(*text);
    context.report(rule::object_store_endpoint, endpoint, "must be host:port, not a URL; ssl says whether it is TLS",
                   better.empty() ? "write the host and the port alone, for example \"minio.storage:9000\""
                                  : fmt::format("write \"{}\"", better));
    return;
  }
  const auto parts = grammar::parse_host_port(*text);
  if (!parts) {
    const std::string better = with_tls_port(*text, store);
    context.report(rule::object_store_endpoint, endpoint, parts.error().problem,
                   better.empty() ? parts.error().fix : better);
    return;
  }
  const auto ssl = store["ssl"].flag();
  if (!ssl) return;
  if (parts->port == 443 && !*ssl)
    context.report(rule::object_store_tls_port, store["ssl"] ? store["ssl"] : endpoint,
                   "port 443 speaks TLS, but ssl is false", "write ssl: true, or another port");
  if (parts->port == 80 && *ssl)
    context.report(rule::object_store_tls_port, store["ssl"] ? store["ssl"] : endpoint,
                   "port 80 speaks plain HTTP, but ssl is true", "write port 443 in endpoint, or ssl: false");
}

void check_region(Context& context, const Field& region) {
  const auto text = region.text();
  if (!text || text->empty()) return;
  const auto good = [](char c) { return grammar::is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; };
  const auto bad = std::ranges::find_if_not(*text, good);
  if (bad == text->end()) return;
  context.report(rule::object_store_region, region,
                 fmt::format("a region must not contain {}",
                             grammar::place_character(*text, static_cast<std::size_t>(bad - text->begin()))),
                 "write the region's code, for example \"us-east-1\"; most private stores take any such word");
}

}  // namespace object_store

std::optional<grammar::Problem> check_bucket_name(std::string_view text) {
  if (text.size() < 3 || text.size() > 63)
    return grammar::Problem{
        fmt::format("a bucket name has 3 to 63 characters, this has {}", grammar::count_characters(text)),
        "write the name of the bucket, for example \"large-files\""};
  std::string better = grammar::to_lower(text);
  std::ranges::replace(better, '_', '-');
  const auto good = [](char c) { return grammar::is_lower_alphanumeric(c) || c == '-' || c == '.'; };
  const std::string suggestion = std::ranges::all_of(better, good) && grammar::is_lower_alphanumeric(better.front()) &&
                                         grammar::is_lower_alphanumeric(better.back())
                                     ? fmt::format("write \"{}\", if the bucket is called that", better)
                                     : "use lower-case letters, digits, '-' and '.' only";
  if (const auto bad = std::ranges::find_if_not(text, good); bad != text.end())
    return grammar::Problem{fmt::format("a bucket name must not contain {}",
                                        grammar::place_character(text, static_cast<std::size_t>(bad - text.begin()))),
                            suggestion};
  if (!grammar::is_lower_alphanumeric(text.front()) || !grammar::is_lower_alphanumeric(text.back()))
    return grammar::Problem{"a bucket name begins and ends with a letter or digit", "remove the '-' or '.' at its end"};
  if (text.find("..") != std::string_view::npos)
    return grammar::Problem{"a bucket name must not contain two dots in a row", "write a single dot or '-'"};
  if (grammar::parse_ipv4(text))
    return grammar::Problem{"a bucket name must not look like an IP address",
                            "write the name of the bucket; the address belongs in endpoint"};
  return std::nullopt;
}

void check_object_store(Context& context, Field store) {
  if (!store) return;
  object_store::check_address(context, store);
  const Field bucket = store["bucketName"];
  if (const auto text = bucket.text(); text && !text->empty())
    if (const auto bad = check_bucket_name(*text))
      context.report(rule::object_store_bucket, bucket, bad->problem, bad->fix);
  object_store::check_region(context, store["region"]);
  check_object_name(context, store["credentials"]["secretName"]);
  check_secret_key(context, store["credentials"]["passwordKey"]);
}

}  // namespace stackgate::validate
