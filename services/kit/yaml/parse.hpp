// YAML (and JSON, its subset) to json Documents, as kubectl reads it: one Document per `---`, scalars resolved by the
// YAML 1.1 rules of Kubernetes' own reader (yes/no/on/off are booleans, 0o17 and 017 are octal, ~ is null), anchors and
// merge keys expanded within a size limit, duplicate keys refused.
//
// Where kubectl's reader and the YAML specification differ, kubectl's wins: see README.md.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "services/kit/json/document.hpp"
#include "services/kit/json/parse.hpp"

namespace stackgate::yaml {

/// May begin each document (YAML 1.2, 5.2).
inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// Where a stream is cut before libyaml reads it: at its documents, so that memory holds one at a time, or nowhere,
/// which is for tests.
enum class Cut : std::uint8_t { at_documents, nowhere };

/// Reads one document after the other from `text`, which must outlive them. Not thread-safe.
class Reader {
 public:
  explicit Reader(std::string_view text, const json::ParseLimits& limits = {}, Cut cut = Cut::at_documents);

  /// The next document that holds anything, read into `document` (its arena is reset first; its offsets count from the
  /// beginning of the whole text). False at the end, and when the rest is not YAML.
  bool next(json::Document& document);

  bool failed() const { return !error_.message.empty(); }
  /// The first thing that is not YAML, with its place.
  const json::ParseError& error() const { return error_; }

 private:
  void read_to(std::size_t end);
  bool next_json(json::Document& document);

  std::string_view text_;
  json::ParseLimits limits_;
  Cut cut_;
  std::size_t at_ = 0;
  bool in_json_ = true;  // only JSON documents so far
  json::ParseError error_;
  std::deque<json::Document> ready_;  // read, and not asked for yet
};

struct Stream {
  /// One per document that holds anything; all offsets count from the beginning of the whole text.
  std::deque<json::Document> documents;
  /// The first thing that is not YAML; documents before it are there, the rest is not read.
  bool failed = false;
  json::ParseError error;
};

/// `text` must outlive the result: strings may be views into it.
Stream parse(std::string_view text, const json::ParseLimits& limits = {});

/// 1-based line and column (in characters, not bytes) of an offset, and the line's text without its end.
struct Place {
  std::uint32_t line = 1, column = 1;
  std::string_view text;
  std::size_t byte = 0;  // of the offset, from the line's beginning
};
Place locate(std::string_view text, std::uint32_t offset);

}  // namespace stackgate::yaml
