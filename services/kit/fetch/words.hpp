// URLs as they may stand in messages and logs. Pure.
#pragma once
#include <string>
#include <string_view>

namespace stackgate::fetch {

/// Without user, password, query and fragment: "https://host/path?…". Presigned URLs carry their signature in the
/// query.
std::string without_secrets(std::string_view url);

/// `text` with whatever without_secrets(url) leaves out of `url` taken out as well.
std::string scrub(std::string text, std::string_view url);

}  // namespace stackgate::fetch
