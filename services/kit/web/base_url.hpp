// "https://host[:port]" as the client sees this server. Pure.
#pragma once
#include <string>
#include <string_view>

#include "services/kit/http/message.hpp"

namespace stackgate::web {

struct BaseUrlOptions {
  std::string_view public_url{};  // wins when it is set
  bool trust_forwarded = false;   // X-Forwarded-Proto and -Host
  bool tls = false;
};

/// A Host that could be no host is read as localhost: it would end up in links.
std::string base_url(const http::Request& request, const BaseUrlOptions& options);

}  // namespace stackgate::web
