// Range requests (RFC 9110, 14). Pure.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stackgate::web {

struct ByteRange {
  std::uint64_t first = 0, count = 0;
  bool operator==(const ByteRange&) const = default;
};

struct RangeRequest {
  enum class Kind : std::uint8_t {
    whole,          // no Range, another unit, broken, too many, or nothing to cut: 200 with everything
    parts,          // 206
    unsatisfiable,  // 416
  };
  Kind kind = Kind::whole;
  std::vector<ByteRange> ranges{};  // in the order asked for; overlapping and adjoining ones put together
};

/// `header`: the value of Range, empty when there is none. `size`: of the whole content.
RangeRequest read_range(std::string_view header, std::uint64_t size);

/// "bytes 0-0/1234"; "bytes */1234" for 416.
std::string content_range(const ByteRange& range, std::uint64_t size);
std::string content_range_unsatisfied(std::uint64_t size);

}  // namespace stackgate::web
