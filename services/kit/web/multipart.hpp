// multipart/form-data (RFC 7578, RFC 2046) as it arrives: parts in any order, none held in memory.
#pragma once
#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "services/kit/web/answer.hpp"
#include "services/kit/web/call.hpp"

namespace stackgate::web {

struct PartHead {
  std::string name;
  std::optional<std::string> file_name{};  // the client's: never a path to write to
  std::string content_type{};              // empty when not given
  std::vector<std::pair<std::string, std::string>> headers{};
};

struct MultipartLimits {
  std::size_t parts = 100;
  std::size_t head_bytes = 16 * 1024;  // of one part
  std::uint64_t part_bytes = 0;        // of one part's content; 0: no limit
};

/// What happens with the parts. Each may refuse, which ends the parse with its failure.
struct PartEvents {
  std::function<std::expected<void, Failure>(const PartHead&)> begin;
  std::function<std::expected<void, Failure>(std::string_view bytes)> data;
  std::function<std::expected<void, Failure>()> end;
};

/// Push parser without I/O. One thread. Failures: 400 for a broken body, 413 beyond a limit.
class MultipartParser {
 public:
  MultipartParser(std::string_view boundary, PartEvents events, MultipartLimits limits = {})
      : delimiter_("\r\n--" + std::string(boundary)), events_(std::move(events)), limits_(limits) {}

  std::expected<void, Failure> add(std::string_view bytes);
  /// After the last byte: 400 when the closing boundary is missing.
  std::expected<void, Failure> finish();

 private:
  enum class Phase : std::uint8_t { preamble, delimiter, head, data, epilogue };
  /// False: more bytes are needed.
  using Step = std::expected<bool, Failure>;
  Step step(std::string_view& rest);
  Step step_delimiter(std::string_view& rest);
  Step step_head(std::string_view& rest);
  Step step_data(std::string_view& rest);
  std::expected<void, Failure> give(std::string_view bytes);

  std::string delimiter_;  // with the line break that belongs to it
  PartEvents events_;
  MultipartLimits limits_;
  Phase phase_ = Phase::preamble;
  std::string buffer_ = "\r\n";  // not looked at yet; the first delimiter may stand at the very beginning
  std::size_t parts_ = 0;
  std::uint64_t part_bytes_ = 0;
  std::string part_name_{};
  std::optional<Failure> failure_{};
};

/// The boundary of a Content-Type; 415 when it is no multipart/form-data, 400 when the boundary is missing or broken.
std::expected<std::string, Failure> multipart_boundary(std::string_view content_type);

/// The whole body of a streamed route.
std::expected<void, Failure> read_multipart(Call& call, const PartEvents& events, const MultipartLimits& limits = {});

/// The header of one part of a multipart/form-data body (RFC 7578, 4). Pure. `text`: the lines without the empty one at
/// the end. 400 when a line is broken, the part has no name, or its content is encoded.
std::expected<PartHead, Failure> parse_part_head(std::string_view text);

}  // namespace stackgate::web
