#include "services/kit/web/media_type.hpp"

#include "services/kit/base/number.hpp"
#include "services/kit/http/text.hpp"

namespace stackgate::web {
namespace media_type_detail {

using http::equal_ignoring_case;
using http::trim;

std::string_view type_of(std::string_view content_type) { return trim(content_type.substr(0, content_type.find(';'))); }

// Cuts the next piece up to `separator` off, quoted strings kept whole.
std::string_view next_piece(std::string_view& rest, char separator) {
  bool quoted = false;
  std::size_t i = 0;
  for (; i < rest.size(); ++i) {
    if (quoted && rest[i] == '\\') {
      ++i;
    } else if (rest[i] == '"') {
      quoted = !quoted;
    } else if (!quoted && rest[i] == separator) {
      break;
    }
  }
  i = std::min(i, rest.size());
  const std::string_view piece = rest.substr(0, i);
  rest.remove_prefix(std::min(i + 1, rest.size()));
  return trim(piece);
}

std::optional<std::string> unquoted(std::string_view value) {
  if (!value.starts_with('"')) {
    if (value.empty() || !http::all(http::Char::token, value)) return {};
    return std::string(value);
  }
  std::string out;
  for (std::size_t i = 1; i < value.size(); ++i) {
    if (value[i] == '"') return i + 1 == value.size() ? std::optional(out) : std::nullopt;
    if (value[i] == '\\') ++i;
    if (i == value.size()) break;
    out += value[i];
  }
  return {};
}

bool range_covers(std::string_view range, std::string_view type) {
  if (range == "*/*" || range == "*" || equal_ignoring_case(range, type)) return true;
  return range.ends_with("/*") && type.size() > range.size() - 1 &&
         equal_ignoring_case(range.substr(0, range.size() - 1), type.substr(0, range.size() - 1));
}

// 2 for a type, 1 for "text/*", 0 for "*/*".
int precision(std::string_view range) { return range == "*/*" || range == "*" ? 0 : range.ends_with("/*") ? 1 : 2; }

bool is_zero(std::string_view quality) {
  const auto number = to_number<double>(quality);
  return number && *number <= 0;
}

}  // namespace media_type_detail

std::string media_type(std::string_view content_type) {
  return http::to_lower(media_type_detail::type_of(content_type));
}

bool is_media_type(std::string_view content_type, std::string_view wanted) {
  return http::equal_ignoring_case(media_type_detail::type_of(content_type), wanted);
}

bool is_json_type(std::string_view content_type) {
  const std::string_view type = media_type_detail::type_of(content_type);
  if (http::equal_ignoring_case(type, "application/json")) return true;
  return type.size() > 5 && http::equal_ignoring_case(type.substr(type.size() - 5), "+json");
}

std::optional<std::string> media_parameter(std::string_view content_type, std::string_view name) {
  std::string_view rest = content_type;
  media_type_detail::next_piece(rest, ';');
  while (!rest.empty()) {
    const std::string_view piece = media_type_detail::next_piece(rest, ';');
    const auto equals = piece.find('=');
    if (equals == std::string_view::npos) continue;
    if (http::equal_ignoring_case(http::trim(piece.substr(0, equals)), name))
      return media_type_detail::unquoted(http::trim(piece.substr(equals + 1)));
  }
  return {};
}

bool accepts(std::string_view accept, std::string_view type) {
  if (http::trim(accept).empty()) return true;
  const std::string_view wanted = media_type_detail::type_of(type);
  int best = -1;
  bool taken = false;
  while (!accept.empty()) {
    const std::string_view range = media_type_detail::next_piece(accept, ',');
    const std::string_view kind = media_type_detail::type_of(range);
    if (!media_type_detail::range_covers(kind, wanted)) continue;
    const int precision = media_type_detail::precision(kind);
    if (precision < best) continue;
    const bool refused = media_type_detail::is_zero(media_parameter(range, "q").value_or("1"));
    taken = precision > best ? !refused : taken || !refused;
    best = precision;
  }
  return taken;
}

}  // namespace stackgate::web
