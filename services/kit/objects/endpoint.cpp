#include "services/kit/objects/endpoint.hpp"

#include <algorithm>

#include "services/kit/base/ascii.hpp"
#include "services/kit/base/number.hpp"

namespace stackgate::objects {
namespace endpoint_detail {

bool host_name(std::string_view host) {
  if (host.empty() || host.size() > 253 || host.starts_with('.') || host.starts_with('-')) return false;
  return std::ranges::all_of(
      host, [](char c) { return ascii::is_lower_alphanumeric(c) || c == '.' || c == '-' || c == '_'; });
}

bool ipv6(std::string_view host) {
  if (host.size() < 4 || !host.starts_with('[') || !host.ends_with(']')) return false;
  host = host.substr(1, host.size() - 2);
  return std::ranges::all_of(
      host, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || c == ':' || c == '.'; });
}

}  // namespace endpoint_detail

std::string Endpoint::authority(std::string_view before_host) const {
  std::string out(before_host);
  out += host;
  if (port != (ssl ? 443U : 80U)) out += ":" + std::to_string(port);
  return out;
}

std::expected<Endpoint, std::string> parse_endpoint(std::string_view text, bool ssl) {
  const auto shown = [whole = std::string(text)] { return "\"" + whole + "\" "; };
  // Before it could get into a message.
  if (text.contains('@')) return std::unexpected("holds credentials: give them in their own settings");
  Endpoint out{.ssl = ssl};
  if (text.starts_with("http://") || text.starts_with("https://")) {
    out.ssl = text.starts_with("https://");
    text.remove_prefix(out.ssl ? 8 : 7);
    if (text.ends_with('/')) text.remove_suffix(1);
  }
  if (text.contains('/') || text.contains('?') || text.contains('#'))
    return std::unexpected(shown() + "has more than host and port: write host:port");
  out.port = out.ssl ? 443 : 80;
  const std::size_t bracket = text.rfind(']');
  const std::size_t colon = text.find(':', bracket == std::string_view::npos ? 0 : bracket);
  if (colon != std::string_view::npos) {
    out.port = to_number<unsigned>(text.substr(colon + 1)).value_or(0);
    if (out.port < 1 || out.port > 65'535)
      return std::unexpected(shown() + "has no port between 1 and 65535 behind the colon");
    text = text.substr(0, colon);
  }
  out.host = ascii::to_lower(text);
  if (!endpoint_detail::host_name(out.host) && !endpoint_detail::ipv6(out.host))
    return std::unexpected(shown() + "names no host: write host:port");
  return out;
}

bool valid_bucket(std::string_view name, bool path_style) {
  const auto in_path = [](char c) {
    return ascii::is_lower_alphanumeric(c) || c == '.' || c == '-' || c == '_' || ascii::is_upper(c);
  };
  if (path_style)
    return name.size() >= 3 && name.size() <= 255 && !name.starts_with('.') && std::ranges::all_of(name, in_path);
  return name.size() >= 3 && name.size() <= 63 && ascii::is_lower_alphanumeric(name.front()) &&
         ascii::is_lower_alphanumeric(name.back()) && !name.contains("..") &&
         std::ranges::all_of(name, [](char c) { return ascii::is_lower_alphanumeric(c) || c == '.' || c == '-'; });
}

}  // namespace stackgate::objects
