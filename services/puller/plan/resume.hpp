// Whether a file's bytes that are here already may be kept, what is asked for then, and what an answer's head says
// about the bytes behind it. Source: RFC 9110, sections 13.1.5 (If-Range), 14.2 (Range), 14.4 (Content-Range). Pure and
// thread-safe.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "services/puller/plan/files.hpp"

namespace stackgate::puller {

/// What is known of an unfinished file: beside its bytes as JSON, written before the first of them.
struct PartRecord {
  std::string identity;  // identity_of() the file that they belong to
  std::string etag{};    // of the answer that they came with; empty: none, or a weak one
};

/// Of a file's content: "sha256:…" or "git:…".
std::string identity_of(const RemoteFile& file);
std::string write_part_record(const PartRecord& record);
PartRecord read_part_record(std::string_view text);  // empty for what is none

/// How many of the `bytes` that are here are kept.
std::uint64_t bytes_to_keep(const RemoteFile& file, const PartRecord& record, std::uint64_t bytes);

/// Headers of the request for the rest: none from the beginning.
std::vector<std::pair<std::string, std::string>> range_headers(std::uint64_t from, std::string_view etag);

struct AnswerHead {
  int status = 0;
  std::optional<std::string_view> content_range{}, content_length{}, etag{}, content_encoding{};
};

/// Where the answer's bytes belong: `from` as it was asked for, or 0 when the server begins anew.
struct Body {
  std::uint64_t begins = 0;
  std::optional<std::uint64_t> size{};  // of the whole file, where it says so
  bool start_over = false;              // the range is of no use: ask again from 0
};

/// `from` is what range_headers() was given. Statuses of 400 and more but 412 and 416 are not for this. The failure:
/// the answer contradicts itself, or the file's size.
Result<Body> body_of(const RemoteFile& file, std::uint64_t from, const AnswerHead& head);

/// A strong ETag as it stands, or nothing.
std::string strong_etag(std::optional<std::string_view> etag);

/// What a file's bytes are held against at the end; empty: they are right.
struct Sums {
  std::uint64_t size = 0;
  std::string sha256, blob;
};
std::optional<Failure> fault_of_content(const RemoteFile& file, const Sums& got);

}  // namespace stackgate::puller
