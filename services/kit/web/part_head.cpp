#include "services/kit/web/part_head.hpp"

#include <fmt/format.h>

#include "services/kit/http/text.hpp"
#include "services/kit/web/media_type.hpp"

namespace stackgate::web {
namespace part_head_detail {

std::unexpected<Failure> broken(std::string message) { return std::unexpected(Failure{400, std::move(message)}); }

bool is_plain_encoding(std::string_view encoding) {
  return encoding.empty() || http::equal_ignoring_case(encoding, "binary") ||
         http::equal_ignoring_case(encoding, "8bit") || http::equal_ignoring_case(encoding, "7bit");
}

}  // namespace part_head_detail

std::expected<PartHead, Failure> parse_part_head(std::string_view text) {
  using part_head_detail::broken;
  PartHead head;
  std::string_view disposition, encoding;
  while (!text.empty()) {
    const auto end = std::min(text.find("\r\n"), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 2, text.size()));
    const auto colon = line.find(':');
    const std::string_view name = line.substr(0, colon);
    if (colon == std::string_view::npos || name.empty() || !http::all(http::Char::token, name))
      return broken("a part of the body has a header line without a name and a colon");
    const std::string_view value = http::trim(line.substr(colon + 1));
    if (!http::all(http::Char::field, value)) return broken("a part of the body has a control character in its header");
    if (http::equal_ignoring_case(name, "content-disposition")) disposition = value;
    if (http::equal_ignoring_case(name, "content-transfer-encoding")) encoding = value;
    if (http::equal_ignoring_case(name, "content-type")) head.content_type = value;
    head.headers.emplace_back(name, value);
  }
  if (!is_media_type(disposition, "form-data"))
    return broken("a part of the body lacks Content-Disposition: form-data");
  auto name = media_parameter(disposition, "name");
  if (!name) return broken("a part of the body has no name");
  if (!part_head_detail::is_plain_encoding(encoding))
    return broken(fmt::format("the part {} is encoded as {}; send its bytes as they are", *name, encoding));
  head.name = std::move(*name);
  head.file_name = media_parameter(disposition, "filename");
  return head;
}

}  // namespace stackgate::web
