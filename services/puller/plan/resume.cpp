#include "services/puller/plan/resume.hpp"

#include <fmt/format.h>

#include "services/kit/base/number.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::puller {
namespace resume_detail {

std::unexpected<Failure> bad(const RemoteFile& file, std::string why) {
  return std::unexpected(Failure{Cause::bad_answer, fmt::format("{}: {}", file.path, why),
                                 "a proxy between may have changed the answer; look at what lies between"});
}

struct ContentRange {
  std::uint64_t first = 0, last = 0, size = 0;
};

/// "bytes 5-9/10"
std::optional<ContentRange> read_content_range(std::string_view text) {
  constexpr std::string_view unit = "bytes ";
  if (!text.starts_with(unit)) return std::nullopt;
  text.remove_prefix(unit.size());
  const auto dash = text.find('-'), slash = text.find('/');
  if (dash == std::string_view::npos || slash == std::string_view::npos || slash < dash) return std::nullopt;
  const auto first = to_number<std::uint64_t>(text.substr(0, dash)),
             last = to_number<std::uint64_t>(text.substr(dash + 1, slash - dash - 1)),
             size = to_number<std::uint64_t>(text.substr(slash + 1));
  if (!first || !last || !size || *first > *last || *last >= *size) return std::nullopt;
  return ContentRange{*first, *last, *size};
}

}  // namespace resume_detail

std::string identity_of(const RemoteFile& file) {
  return file.sha256.empty() ? "git:" + file.blob : "sha256:" + file.sha256;
}

std::string write_part_record(const PartRecord& record) {
  return json::object_text([&](json::Writer& out) {
    out.member("identity", std::string_view(record.identity));
    out.member("etag", std::string_view(record.etag));
  });
}

PartRecord read_part_record(std::string_view text) {
  json::Document document;
  const auto root = json::parse(text, document, {.max_depth = 4, .max_bytes = 64U << 10U});
  if (!root) return {};
  return {std::string(json::text(&*root, {"identity"})), strong_etag(json::text(&*root, {"etag"}))};
}

std::uint64_t bytes_to_keep(const RemoteFile& file, const PartRecord& record, std::uint64_t bytes) {
  if (record.identity != identity_of(file)) return 0;
  return file.size && bytes > *file.size ? 0 : bytes;
}

std::vector<std::pair<std::string, std::string>> range_headers(std::uint64_t from, std::string_view etag) {
  std::vector<std::pair<std::string, std::string>> out;
  if (from == 0) return out;
  out.emplace_back("Range", fmt::format("bytes={}-", from));
  // Without a validator the sum decides in the end.
  if (!etag.empty()) out.emplace_back("If-Range", etag);
  return out;
}

std::string strong_etag(std::optional<std::string_view> etag) {
  const bool good = etag && etag->size() > 2 && etag->size() < 512 && etag->front() == '"' && etag->back() == '"' &&
                    etag->find_first_of("\r\n") == std::string_view::npos;
  return good ? std::string(*etag) : std::string();
}

Result<Body> body_of(const RemoteFile& file, std::uint64_t from, const AnswerHead& head) {
  using namespace resume_detail;
  if (head.status == 412 || head.status == 416) {
    if (from == 0) return bad(file, fmt::format("status {} to a request for all of it", head.status));
    return Body{.start_over = true};
  }
  if (head.status != 200 && head.status != 206) return bad(file, fmt::format("status {}", head.status));
  if (head.content_encoding && !head.content_encoding->empty() && *head.content_encoding != "identity")
    return bad(file, "it comes compressed, which was not asked for");
  Body out;
  if (head.status == 206) {
    const auto range = head.content_range ? read_content_range(*head.content_range) : std::nullopt;
    if (from == 0 || !range || range->first != from)
      return bad(file, "status 206 with another range than was asked for");
    out = {.begins = from, .size = range->size};
  } else if (head.content_length) {
    out.size = to_number<std::uint64_t>(*head.content_length);
  }
  if (file.size && out.size && *out.size != *file.size)
    return bad(file, fmt::format("{} bytes are offered, and {} were listed", *out.size, *file.size));
  return out;
}

std::optional<Failure> fault_of_content(const RemoteFile& file, const Sums& got) {
  const auto differ = [&](std::string_view what, const auto& is, const auto& should) {
    return Failure{Cause::checksum, fmt::format("{}: its {} is {}, and {} was listed", file.path, what, is, should),
                   "the file is broken where it lies, or on the way; try again, then tell whoever runs the server"};
  };
  if (file.size && got.size != *file.size) return differ("size", got.size, *file.size);
  if (!file.sha256.empty() && got.sha256 != file.sha256) return differ("SHA-256", got.sha256, file.sha256);
  if (!file.blob.empty() && got.blob != file.blob) return differ("Git object id", got.blob, file.blob);
  return std::nullopt;
}

}  // namespace stackgate::puller
