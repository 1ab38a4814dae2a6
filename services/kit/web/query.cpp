#include "services/kit/web/query.hpp"

#include <algorithm>

#include "services/kit/base/percent.hpp"

namespace stackgate::web {
namespace query_detail {

constexpr std::size_t most_pairs = 1'000;

// Lenient, as browsers and every server library are: "100%" stays as it is.
std::string decode_form(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (const int byte = text[i] == '%' ? percent_decoded_byte(text, i) : -1; byte >= 0) {
      out += static_cast<char>(byte);
      i += 2;
    } else {
      out += text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

}  // namespace query_detail

std::optional<std::string> percent_decode(std::string_view text) {
  auto out = percent_decoded(text);
  if (out && out->contains('\0')) return std::nullopt;
  return out;
}

Query Query::parse(std::string_view text) {
  Query query;
  while (!text.empty() && query.pairs_.size() < query_detail::most_pairs) {
    const auto end = std::min(text.find('&'), text.size());
    const std::string_view pair = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (pair.empty()) continue;
    const auto equals = std::min(pair.find('='), pair.size());
    query.pairs_.emplace_back(query_detail::decode_form(pair.substr(0, equals)),
                              query_detail::decode_form(pair.substr(std::min(equals + 1, pair.size()))));
  }
  return query;
}

std::optional<std::string_view> Query::get(std::string_view name) const {
  const auto found = std::ranges::find(pairs_, name, &std::pair<std::string, std::string>::first);
  if (found == pairs_.end()) return {};
  return found->second;
}

std::vector<std::string_view> Query::all(std::string_view name) const {
  std::vector<std::string_view> out;
  for (const auto& [key, value] : pairs_) {
    if (key == name) out.emplace_back(value);
  }
  return out;
}

}  // namespace stackgate::web
