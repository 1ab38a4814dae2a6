#include "services/kit/http_client/checks.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace stackgate::http_client {
namespace checks_detail {

bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           std::string_view("!#$%&'*+-.^_`|~").contains(c);
  });
}

}  // namespace checks_detail

bool equal_without_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

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

namespace checks_detail {

std::optional<std::string_view> find(const Headers& headers, std::string_view name) {
  for (const auto& [known, value] : headers)
    if (equal_without_case(known, name)) return value;
  return std::nullopt;
}

}  // namespace checks_detail

std::optional<std::string_view> Head::header(std::string_view name) const { return checks_detail::find(headers, name); }
std::optional<std::string_view> Response::header(std::string_view name) const {
  return checks_detail::find(headers, name);
}

}  // namespace stackgate::http_client
