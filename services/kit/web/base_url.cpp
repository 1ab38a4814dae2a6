#include "services/kit/web/base_url.hpp"

#include <algorithm>

#include "services/kit/http/text.hpp"

namespace stackgate::web {
namespace base_url_detail {

bool is_host(std::string_view text) {
  return !text.empty() && text.size() <= 255 + 6 && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-._:[]").contains(c);
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
