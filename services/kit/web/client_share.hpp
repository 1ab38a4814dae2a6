// Whose request it is, where clients share what there is too little of. Pure.
#pragma once
#include <string>

#include "services/kit/http/message.hpp"

namespace stackgate::web {

/// The peer's IPv4 address, or the /64 of its IPv6 address: who has one of those has them all. `trust_forwarded`: the
/// last address of X-Forwarded-For, which the proxy before us has written, if it is one.
std::string client_share(const http::Request& request, bool trust_forwarded);

/// A digest of that header's value ("authorization"), or empty without it. Only where strangers cannot make up as many
/// values as they like: each is a share of its own.
std::string share_by_header(const http::Request& request, std::string_view name);

}  // namespace stackgate::web
