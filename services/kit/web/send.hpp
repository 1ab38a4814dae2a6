// Content of a known size sent as an answer: the one place for ranges, conditions and HEAD, shared by every download.
#pragma once
#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "services/kit/base/error.hpp"
#include "services/kit/web/answer.hpp"
#include "services/kit/web/call.hpp"
#include "services/kit/web/conditional.hpp"

namespace stackgate::web {

/// Fills a part of the space and returns how much; 0 is the end.
using ReadPart = std::function<std::expected<std::size_t, Error>(std::span<char>)>;
/// Opens the content at an offset. What it returns owns what it reads from.
using OpenAt = std::function<std::expected<ReadPart, Failure>(std::uint64_t offset)>;

/// One of `fd`, `open` and `bytes` is the content; nothing is opened for HEAD, 304, 412 and 416.
struct Content {
  std::uint64_t size = 0;
  std::string type = "application/octet-stream";
  Validators validators{};
  Headers headers{};  // Cache-Control, Content-Disposition, X-Repo-Commit …; sent with 200, 206, 304 and 416
  int fd = -1;        // stays the caller's; sent by sendfile(2) where the connection is plain
  OpenAt open{};
  std::string_view bytes{};  // small content in memory
};

/// 200, 206 (one range plain, several as multipart/byteranges), 304, 412 or 416, with Accept-Ranges, ETag and
/// Last-Modified. Blocks while it sends: routes on the I/O thread must not call it. A source that ends early or fails
/// in the middle cuts the connection, and is logged.
Answer send_content(Call& call, const Content& content);

/// `Content-Disposition: <kind>; filename="…"; filename*=UTF-8''…` (RFC 6266), whatever bytes the name has.
std::string content_disposition(std::string_view kind, std::string_view file_name);

}  // namespace stackgate::web
