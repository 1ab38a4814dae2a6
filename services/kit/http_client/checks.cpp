#include "services/kit/http_client/checks.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "services/kit/base/ascii.hpp"

namespace stackgate::http_client {
namespace checks_detail {

bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return ascii::is_alphanumeric(c) || std::string_view("!#$%&'*+-.^_`|~").contains(c);
  });
}

}  // namespace checks_detail

std::optional<std::string> fault_of(const Request& call) {
  using checks_detail::is_token;
  if (!is_token(call.method)) return "the method is not a token";
  for (const auto& [name, value] : call.headers) {
    if (!is_token(name)) return fmt::format("the header name \"{}\" is not a token", name);
    if (value.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos)
      return fmt::format("the value of {} has a line break", name);
  }
  return std::nullopt;
}

std::optional<std::string_view> Head::header(std::string_view name) const {
  for (const auto& [known, value] : headers)
    if (ascii::equal_ignoring_case(known, name)) return value;
  return std::nullopt;
}

}  // namespace stackgate::http_client
