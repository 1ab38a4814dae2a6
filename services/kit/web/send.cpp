#include "services/kit/web/send.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "services/kit/base/percent.hpp"
#include "services/kit/base/time.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/log/log.hpp"
#include "services/kit/web/query.hpp"
#include "services/kit/web/ranges.hpp"
#include "services/kit/web/trace_context.hpp"

namespace stackgate::web {
namespace send_detail {

constexpr std::size_t piece_bytes = 128 * 1024;

void add_validators(Headers& headers, const Validators& validators) {
  headers.emplace_back("Accept-Ranges", "bytes");
  if (!validators.etag.empty()) headers.emplace_back("ETag", validators.etag);
  if (validators.modified) headers.emplace_back("Last-Modified", to_http_date(*validators.modified));
}

// What is sent: bytes from places of the content, with text before each and at the end.
struct Plan {
  int status = 200;
  std::string type;
  struct Piece {
    std::string before;
    ByteRange range;
  };
  std::vector<Piece> pieces;
  std::string after;

  std::uint64_t length() const {
    std::uint64_t sum = after.size();
    for (const Piece& piece : pieces) sum += piece.before.size() + piece.range.count;
    return sum;
  }
};

Plan plan_parts(const std::vector<ByteRange>& ranges, const Content& content, Headers& headers) {
  Plan plan{206, content.type, {}, {}};
  if (ranges.size() == 1) {
    headers.emplace_back("Content-Range", content_range(ranges[0], content.size));
    plan.pieces.push_back({{}, ranges[0]});
    return plan;
  }
  const std::string boundary = random_hex(24);
  plan.type = "multipart/byteranges; boundary=" + boundary;
  for (const ByteRange& range : ranges) {
    plan.pieces.push_back(
        {fmt::format("{}--{}\r\nContent-Type: {}\r\nContent-Range: {}\r\n\r\n", plan.pieces.empty() ? "" : "\r\n",
                     boundary, content.type, content_range(range, content.size)),
         range});
  }
  plan.after = fmt::format("\r\n--{}--\r\n", boundary);
  return plan;
}

std::expected<void, Error> copy(const ReadPart& read, std::uint64_t count, http::BodyWriter& writer,
                                std::string& buffer) {
  while (count > 0) {
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(count, buffer.size()));
    const auto got = TRY(read(std::span(buffer.data(), wanted)));
    if (got == 0) return std::unexpected(Error{fmt::format("the content ends {} bytes early", count)});
    TRY(writer.write(std::string_view(buffer).substr(0, got)));
    count -= got;
  }
  return {};
}

std::expected<void, Error> send_pieces(const Plan& plan, const Content& content, ReadPart first,
                                       http::BodyWriter& writer) {
  std::string buffer;
  if (content.fd < 0) buffer.resize(piece_bytes);
  for (const Plan::Piece& piece : plan.pieces) {
    if (!piece.before.empty()) {
      if (auto sent = writer.write(piece.before); !sent) return sent;
    }
    if (content.fd >= 0) {
      if (auto sent = writer.send_file(content.fd, piece.range.first, piece.range.count); !sent) return sent;
      continue;
    }
    ReadPart read = std::exchange(first, {});
    if (!read) {
      auto opened = content.open(piece.range.first);
      if (!opened) return std::unexpected(Error{opened.error().message});
      read = std::move(*opened);
    }
    if (auto sent = copy(read, piece.range.count, writer, buffer); !sent) return sent;
  }
  if (!plan.after.empty()) {
    if (auto sent = writer.write(plan.after); !sent) return sent;
  }
  return writer.finish();
}

Answer send_from_memory(const Plan& plan, std::string_view bytes, Headers headers) {
  http::Response response{plan.status, plan.type, std::move(headers), {}};
  response.body.reserve(plan.length());
  for (const Plan::Piece& piece : plan.pieces)
    response.body.append(piece.before).append(bytes.substr(piece.range.first, piece.range.count));
  response.body += plan.after;
  return response;
}

}  // namespace send_detail

Answer send_content(Call& call, const Content& content) {
  const http::Request& request = call.request();
  Headers headers = content.headers;
  send_detail::add_validators(headers, content.validators);
  switch (check_preconditions(request, content.validators)) {
    case Precondition::not_modified:
      return http::Response{304, {}, std::move(headers), {}};
    case Precondition::failed:
      return Failure{.status = 412,
                     .message = "the content is not the one that the request's conditions ask for",
                     .headers = std::move(headers)};
    case Precondition::proceed:
      break;
  }
  send_detail::Plan plan{200, content.type, {{{}, {0, content.size}}}, {}};
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  if (request.method == "GET" && range_still_holds(request, content.validators, now)) {
    const RangeRequest range = read_range(request.header("range"), content.size);
    if (range.kind == RangeRequest::Kind::unsatisfiable) {
      headers.emplace_back("Content-Range", content_range_unsatisfied(content.size));
      return Failure{.status = 416,
                     .message = fmt::format("the content has {} bytes; ask for a range inside", content.size),
                     .headers = std::move(headers)};
    }
    if (range.kind == RangeRequest::Kind::parts) plan = send_detail::plan_parts(range.ranges, content, headers);
  }
  if (content.fd < 0 && !content.open) return send_detail::send_from_memory(plan, content.bytes, std::move(headers));

  const bool head_only = request.method == "HEAD";
  ReadPart first;
  if (!head_only && content.fd < 0 && content.size > 0) {  // before the head is sent: it can still be an error
    auto opened = content.open(plan.pieces.front().range.first);
    if (!opened) return std::move(opened.error());
    first = std::move(*opened);
  }
  const auto writer = call.start({plan.status, plan.type, std::move(headers), {}}, plan.length());
  const auto sent = head_only || content.size == 0 ? writer->finish()
                                                   : send_detail::send_pieces(plan, content, std::move(first), *writer);
  if (!sent && !writer->gone())
    log::error("an answer was cut off", {{"request_id", call.request_id()}, {"error", sent.error().message}});
  return Streamed{};
}

std::string content_disposition(std::string_view kind, std::string_view file_name) {
  std::string plain;
  bool exact = true;
  for (const char c : file_name) {
    const bool safe = c >= ' ' && c <= '~' && c != '"' && c != '\\' && c != '/' && c != '%';
    plain += safe ? c : '_';
    exact = exact && safe;
  }
  std::string out = fmt::format("{}; filename=\"{}\"", kind, plain);
  if (!exact) out += "; filename*=UTF-8''" + percent_encode(file_name);
  return out;
}

}  // namespace stackgate::web
