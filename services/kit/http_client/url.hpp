// URLs: as they may stand in messages and logs, and where redirects lead. Pure.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace stackgate::http_client {

/// Without user, password, query and fragment: "https://host/path?…". Presigned URLs carry their signature in the
/// query.
std::string without_secrets(std::string_view url);

/// `text` with whatever without_secrets(url) leaves out of `url` taken out as well.
std::string scrub(std::string text, std::string_view url);

struct Redirect {
  std::string url;
  bool same_origin = false;  // scheme, host and port; where it is not, no credentials go along
};

/// Where `location` leads from `from`; nothing when it is no URL of http or https.
std::optional<Redirect> redirect_of(const std::string& from, const std::string& location);

/// The same; nothing as well when that is another origin.
std::optional<std::string> same_origin(const std::string& from, const std::string& location);

}  // namespace stackgate::http_client
