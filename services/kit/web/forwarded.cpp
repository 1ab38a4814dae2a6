#include "services/kit/web/forwarded.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include <arpa/inet.h>

#include "services/kit/base/ascii.hpp"
#include "services/kit/crypto/digest.hpp"
#include "services/kit/http/text.hpp"

namespace stackgate::web {
namespace client_share_detail {

// "10.0.0.7", "10.0.0.7:41234", "2001:db8::7", "[2001:db8::7]:41234", all four of which proxies write.
std::string_view host_of(std::string_view address) {
  if (address.starts_with('[')) return address.substr(1, std::min(address.find(']'), address.size()) - 1);
  const auto colon = address.find(':');
  const bool one_colon = colon != std::string_view::npos && address.find(':', colon + 1) == std::string_view::npos;
  return one_colon ? address.substr(0, colon) : address;
}

std::optional<std::string> share_of(std::string_view address) {
  std::string host(host_of(address));
  in_addr four{};
  if (::inet_pton(AF_INET, host.c_str(), &four) == 1) return host;
  in6_addr six{};
  if (::inet_pton(AF_INET6, host.c_str(), &six) != 1) return std::nullopt;
  if (IN6_IS_ADDR_V4MAPPED(&six)) {
    std::array<char, INET_ADDRSTRLEN> text{};
    std::memcpy(&four, &six.s6_addr[12], sizeof four);
    return ::inet_ntop(AF_INET, &four, text.data(), text.size());
  }
  std::memset(&six.s6_addr[8], 0, 8);
  std::array<char, INET6_ADDRSTRLEN> text{};
  return std::string(::inet_ntop(AF_INET6, &six, text.data(), text.size())) + "/64";
}

}  // namespace client_share_detail

std::string client_share(const http::Request& request, bool trust_forwarded) {
  if (trust_forwarded) {
    std::string_view last;  // of the last header: each proxy appends
    for (const http::Header& header : request.headers) {
      if (http::equal_ignoring_case(header.name, "x-forwarded-for")) last = header.value;
    }
    const auto comma = last.rfind(',');
    if (comma != std::string_view::npos) last.remove_prefix(comma + 1);
    if (auto share = client_share_detail::share_of(http::trim(last))) return *std::move(share);
  }
  return client_share_detail::share_of(request.peer).value_or(std::string(request.peer));
}

std::string share_by_header(const http::Request& request, std::string_view name) {
  const std::string_view value = request.header(name);
  return value.empty() ? std::string() : crypto::to_hex(crypto::sha256(value));
}

namespace base_url_detail {

bool is_host(std::string_view text) {
  return !text.empty() && text.size() <= 255 + 6 && std::ranges::all_of(text, [](char c) {
    return ascii::is_alphanumeric(c) || std::string_view("-._:[]").contains(c);
  });
}

// Proxies append; the first is the one that the client spoke to.
std::string_view first_of(std::string_view list) { return http::trim(list.substr(0, list.find(','))); }

}  // namespace base_url_detail

std::string base_url(const http::Request& request, const BaseUrlOptions& options) {
  if (!options.public_url.empty()) {
    std::string_view url = options.public_url;
    while (url.ends_with('/')) url.remove_suffix(1);
    return std::string(url);
  }
  std::string_view scheme = options.tls ? "https" : "http";
  std::string_view host = request.header("host");
  if (options.trust_forwarded) {
    const auto proto = base_url_detail::first_of(request.header("x-forwarded-proto"));
    if (http::equal_ignoring_case(proto, "https")) scheme = "https";
    if (http::equal_ignoring_case(proto, "http")) scheme = "http";
    const auto forwarded = base_url_detail::first_of(request.header("x-forwarded-host"));
    if (base_url_detail::is_host(forwarded)) host = forwarded;
  }
  if (!base_url_detail::is_host(host)) host = "localhost";
  return std::string(scheme) + "://" + std::string(host);
}

}  // namespace stackgate::web
