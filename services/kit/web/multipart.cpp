#include "services/kit/web/multipart.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "services/kit/base/ascii.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/http/text.hpp"
#include "services/kit/web/media_type.hpp"

namespace stackgate::web {
namespace multipart_detail {

std::unexpected<Failure> fail(int status, std::string message) {
  return std::unexpected(Failure{status, std::move(message)});
}

// How many bytes at the end of `text` may be the beginning of `delimiter`.
std::size_t held_back(std::string_view text, std::string_view delimiter) {
  for (std::size_t size = std::min(text.size(), delimiter.size() - 1); size > 0; --size) {
    if (text.ends_with(delimiter.substr(0, size))) return size;
  }
  return 0;
}

}  // namespace multipart_detail

std::expected<void, Failure> MultipartParser::give(std::string_view bytes) {
  if (phase_ == Phase::preamble || bytes.empty()) return {};
  part_bytes_ += bytes.size();
  if (limits_.part_bytes != 0 && part_bytes_ > limits_.part_bytes)
    return multipart_detail::fail(413,
                                  fmt::format("the part {} is larger than {} bytes", part_name_, limits_.part_bytes));
  return events_.data ? events_.data(bytes) : std::expected<void, Failure>();
}

// Data, or what stands before the first part.
MultipartParser::Step MultipartParser::step_data(std::string_view& rest) {
  const auto at = rest.find(delimiter_);
  const bool found = at != std::string_view::npos;
  const std::size_t size = found ? at : rest.size() - multipart_detail::held_back(rest, delimiter_);
  TRY(give(rest.substr(0, size)));
  rest.remove_prefix(size);
  if (!found) return false;
  rest.remove_prefix(delimiter_.size());
  if (phase_ == Phase::data && events_.end) {
    TRY(events_.end());
  }
  phase_ = Phase::delimiter;
  return true;
}

MultipartParser::Step MultipartParser::step_delimiter(std::string_view& rest) {
  constexpr std::size_t most_padding = 256;
  if (rest.size() >= 2 && rest.starts_with("--")) {
    phase_ = Phase::epilogue;
    return true;
  }
  const auto text = std::min(rest.find_first_not_of(" \t"), rest.size());  // padding that a gateway may have added
  if (text > most_padding) return multipart_detail::fail(400, "the boundary between two parts is broken");
  const std::string_view end = rest.substr(text);
  if (end.size() < 2) {
    if (end.empty() || end == "\r" || (end == "-" && text == 0)) return false;
  } else if (end.starts_with("\r\n")) {
    rest.remove_prefix(text + 2);
    phase_ = Phase::head;
    return true;
  }
  return multipart_detail::fail(400, "the boundary stands inside a part; choose one that does not");
}

MultipartParser::Step MultipartParser::step_head(std::string_view& rest) {
  const bool empty = rest.starts_with("\r\n");
  const auto end = empty ? 0 : rest.find("\r\n\r\n");
  // Up to three bytes of the empty line may be here already.
  if (end == std::string_view::npos ? rest.size() > limits_.head_bytes + 3 : end > limits_.head_bytes)
    return multipart_detail::fail(413, fmt::format("a part's header is larger than {} bytes", limits_.head_bytes));
  if (end == std::string_view::npos) return false;
  auto head = TRY(parse_part_head(rest.substr(0, end)));
  rest.remove_prefix(end + (empty ? 2 : 4));
  if (++parts_ > limits_.parts)
    return multipart_detail::fail(413, fmt::format("the body has more than {} parts", limits_.parts));
  part_bytes_ = 0;
  part_name_ = head.name;
  phase_ = Phase::data;
  if (events_.begin) {
    TRY(events_.begin(head));
  }
  return true;
}

MultipartParser::Step MultipartParser::step(std::string_view& rest) {
  switch (phase_) {
    case Phase::preamble:
    case Phase::data:
      return step_data(rest);
    case Phase::delimiter:
      return step_delimiter(rest);
    case Phase::head:
      return step_head(rest);
    case Phase::epilogue:  // to be ignored (RFC 2046, 5.1.1)
      rest = {};
      return false;
  }
  return false;
}

std::expected<void, Failure> MultipartParser::add(std::string_view bytes) {
  if (failure_) return std::unexpected(*failure_);
  buffer_ += bytes;
  std::string_view rest = buffer_;
  for (;;) {
    const auto more = step(rest);
    if (!more) {
      failure_ = more.error();
      return std::unexpected(more.error());
    }
    if (!*more) break;
  }
  buffer_.erase(0, buffer_.size() - rest.size());
  return {};
}

std::expected<void, Failure> MultipartParser::finish() {
  if (failure_) return std::unexpected(*failure_);
  if (phase_ == Phase::epilogue) return {};
  failure_ = Failure{400, "the body ends before its closing boundary"};
  return std::unexpected(*failure_);
}

std::expected<std::string, Failure> multipart_boundary(std::string_view content_type) {
  if (!is_media_type(content_type, "multipart/form-data"))
    return std::unexpected(Failure{415, "the body must be multipart/form-data"});
  auto boundary = media_parameter(content_type, "boundary");
  // RFC 2046, 5.1.1.
  const bool good = boundary && !boundary->empty() && boundary->size() <= 70 && !boundary->ends_with(' ') &&
                    std::ranges::all_of(*boundary, [](char c) {
                      return ascii::is_alphanumeric(c) || std::string_view("'()+_,-./:=? ").contains(c);
                    });
  if (!good) return std::unexpected(Failure{400, "the Content-Type has no boundary, or one that is not allowed"});
  return std::move(*boundary);
}

std::expected<void, Failure> read_multipart(Call& call, const PartEvents& events, const MultipartLimits& limits) {
  const auto boundary = TRY(multipart_boundary(call.request().header("content-type")));
  MultipartParser parser(boundary, events, limits);
  std::string part(64 * 1024, '\0');
  for (;;) {
    const auto got = call.stream().read(part);
    if (!got) return std::unexpected(to_failure(got.error()));
    if (*got == 0) return parser.finish();
    if (auto taken = parser.add(std::string_view(part).substr(0, *got)); !taken) return taken;
  }
}

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
