#include <fmt/format.h>

#include "services/kit/base/try.hpp"
#include "services/kit/http/text.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/web/body_adapters.hpp"
#include "services/kit/web/call.hpp"
#include "services/kit/web/inflate.hpp"
#include "services/kit/web/media_type.hpp"

namespace stackgate::web {
namespace call_body_detail {

// Where a fault stands, as an editor counts: from 1, columns in bytes.
std::string place_of(std::string_view text, std::uint32_t offset) {
  const std::string_view before = text.substr(0, offset);
  const auto line = 1 + std::ranges::count(before, '\n');
  const auto feed = before.rfind('\n');
  const std::size_t column = feed == std::string_view::npos ? before.size() + 1 : before.size() - feed;
  return fmt::format("line {}, column {}", line, column);
}

}  // namespace call_body_detail

Failure to_failure(const http::BodyError& error) {
  return {error.status == 0 ? 400 : error.status, error.error.message};
}

std::expected<bool, Failure> Call::is_gzipped() const {
  const std::string_view coding = http::trim(request().header("content-encoding"));
  if (coding.empty() || http::equal_ignoring_case(coding, "identity")) return false;
  if (http::equal_ignoring_case(coding, "gzip") || http::equal_ignoring_case(coding, "x-gzip")) return true;
  return std::unexpected(
      Failure{.status = 415,
              .message = "the body's Content-Encoding is not known here; send it as it is, or with gzip",
              .headers = {{"Accept-Encoding", "gzip"}}});
}

std::expected<std::string_view, Failure> Call::body() {
  if (inflated_) return *inflated_;
  if (request().stream) {
    auto whole = TRY(read_stream());
    return inflated_.emplace(std::move(whole));
  }
  const auto gzipped = TRY(is_gzipped());
  if (!gzipped || body_.empty()) return body_;
  auto whole = inflate(body_, {.bytes = match_.route->options.body_bytes});
  if (!whole) return std::unexpected(to_failure(whole.error()));
  return inflated_.emplace(std::move(*whole));
}

// A streamed route that wants one body whole after all.
std::expected<std::string, Failure> Call::read_stream() {
  const std::uint64_t limit =
      match_.route->options.body_bytes != 0 ? match_.route->options.body_bytes : RouteOptions{}.body_bytes;
  http::BodyReader& reader = stream();
  std::string whole;
  std::string part(16 * 1024, '\0');
  for (;;) {
    const auto got = reader.read(part);
    if (!got) return std::unexpected(to_failure(got.error()));
    if (*got == 0) return whole;
    if (whole.size() + *got > limit)
      return std::unexpected(Failure{413, fmt::format("the body is larger than {} bytes", limit)});
    whole.append(part, 0, *got);
  }
}

std::expected<const json::Document*, Failure> Call::json() {
  if (document_) return &*document_;
  const std::string_view type = request().header("content-type");
  if (!type.empty() && !is_json_type(type))
    return std::unexpected(
        Failure{415, fmt::format("the body must be JSON; its Content-Type says {}", media_type(type))});
  const auto text = TRY(body());
  document_.emplace();
  if (const auto root = json::parse(text, *document_); !root) {
    Failure failure{400, text.empty() ? "the body is empty; send JSON"
                                      : fmt::format("the body is no JSON: {} at {}", root.error().message,
                                                    call_body_detail::place_of(text, root.error().offset))};
    document_.reset();
    return std::unexpected(std::move(failure));
  }
  return &*document_;
}

http::BodyReader& Call::stream() {
  if (reader_) return *reader_;
  const auto gzipped = is_gzipped();
  if (request().stream) {
    raw_ = std::make_unique<CountingReader>(*request().stream, record_.bytes_in);
  } else {
    raw_ = std::make_unique<WholeReader>(body_);
  }
  if (!gzipped) {
    reader_ = std::make_unique<RefusingReader>(gzipped.error());
  } else if (*gzipped) {
    reader_ = std::make_unique<InflatingReader>(*raw_, InflateLimits{.bytes = match_.route->options.body_bytes});
  } else {
    reader_ = std::move(raw_);
  }
  return *reader_;
}

}  // namespace stackgate::web
