// What the headers of a request and its proxies give: the client whose share it counts for, and the URL under which
// it sees this server. Pure.
#pragma once
#include <string>
#include <string_view>

#include "services/kit/http/message.hpp"

namespace stackgate::web {

/// The peer's IPv4 address, or the /64 of its IPv6 address: one client has all of those. `trust_forwarded`: the
/// last address of X-Forwarded-For, which the proxy before us has written, if it is one.
std::string client_share(const http::Request& request, bool trust_forwarded);

/// A digest of that header's value ("authorization"), or empty without it. Only where strangers cannot make up as many
/// values as they like: each is a share of its own.
std::string share_by_header(const http::Request& request, std::string_view name);

// --- "https://host[:port]" as the client sees this server ---

struct BaseUrlOptions {
  std::string_view public_url{};  // wins when it is set
  bool trust_forwarded = false;   // X-Forwarded-Proto and -Host
  bool tls = false;
};

/// A Host that could be no host is read as localhost: it would end up in links.
std::string base_url(const http::Request& request, const BaseUrlOptions& options);

}  // namespace stackgate::web
