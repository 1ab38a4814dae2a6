#include "services/kit/web/client_share.hpp"

#include <array>
#include <cstring>
#include <optional>

#include <arpa/inet.h>

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

}  // namespace stackgate::web
