#include "services/kit/web/ranges.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "services/kit/http/text.hpp"

namespace stackgate::web {
namespace ranges_detail {

// More than a client has use for; many small ones cost the server more than the client (RFC 9110, 17.15).
constexpr std::size_t most_ranges = 64;

// Digits only; what does not fit is as large as can be.
std::optional<std::uint64_t> read_number(std::string_view text) {
  if (text.empty()) return {};
  std::uint64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return {};
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (value > (std::numeric_limits<std::uint64_t>::max() - digit) / 10)
      value = std::numeric_limits<std::uint64_t>::max();
    else
      value = value * 10 + digit;
  }
  return value;
}

struct Spec {
  bool valid = false;
  std::optional<ByteRange> range{};  // of a valid one: nothing when it lies behind the end
};

Spec read_spec(std::string_view text, std::uint64_t size) {
  const auto dash = text.find('-');
  if (dash == std::string_view::npos) return {};
  const std::string_view from = http::trim(text.substr(0, dash)), to = http::trim(text.substr(dash + 1));
  if (from.empty()) {  // "-500": the last 500
    const auto count = read_number(to);
    if (!count) return {};
    if (*count == 0) return {true, {}};
    const std::uint64_t taken = std::min(*count, size);
    return {true, ByteRange{size - taken, taken}};
  }
  const auto first = read_number(from);
  if (!first) return {};
  std::uint64_t last = std::numeric_limits<std::uint64_t>::max();
  if (!to.empty()) {
    const auto given = read_number(to);
    if (!given || *given < *first) return {};
    last = *given;
  }
  if (*first >= size) return {true, {}};
  return {true, ByteRange{*first, std::min(last, size - 1) - *first + 1}};
}

// Overlapping and adjoining ranges as one, each where its first part was asked for.
void merge(std::vector<ByteRange>& ranges) {
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    for (std::size_t j = i + 1; j < ranges.size();) {
      ByteRange& a = ranges[i];
      const ByteRange b = ranges[j];
      if (b.first > a.first + a.count || a.first > b.first + b.count) {
        ++j;
        continue;
      }
      const std::uint64_t end = std::max(a.first + a.count, b.first + b.count);
      a.first = std::min(a.first, b.first);
      a.count = end - a.first;
      ranges.erase(ranges.begin() + static_cast<std::ptrdiff_t>(j));
      j = i + 1;  // it has grown: look at the others again
    }
  }
}

}  // namespace ranges_detail

RangeRequest read_range(std::string_view header, std::uint64_t size) {
  using Kind = RangeRequest::Kind;
  header = http::trim(header);
  const auto equals = header.find('=');
  // Nothing of an empty content can be asked for, and a client that tries "bytes=0-0" wants its length.
  if (size == 0 || equals == std::string_view::npos || !http::equal_ignoring_case(header.substr(0, equals), "bytes"))
    return {};
  RangeRequest request;
  std::string_view rest = header.substr(equals + 1);
  std::size_t specs = 0;
  while (true) {
    const auto comma = std::min(rest.find(','), rest.size());
    const std::string_view text = http::trim(rest.substr(0, comma));
    if (!text.empty()) {
      const auto spec = ranges_detail::read_spec(text, size);
      if (!spec.valid || ++specs > ranges_detail::most_ranges) return {};
      if (spec.range) request.ranges.push_back(*spec.range);
    }
    if (comma == rest.size()) break;
    rest.remove_prefix(comma + 1);
  }
  if (specs == 0) return {};
  request.kind = request.ranges.empty() ? Kind::unsatisfiable : Kind::parts;
  ranges_detail::merge(request.ranges);
  return request;
}

std::string content_range(const ByteRange& range, std::uint64_t size) {
  return fmt::format("bytes {}-{}/{}", range.first, range.first + range.count - 1, size);
}

std::string content_range_unsatisfied(std::uint64_t size) { return fmt::format("bytes */{}", size); }

}  // namespace stackgate::web
