#include "services/model/tokenizer/normalize.hpp"

#include <algorithm>

#include "services/kit/base/utf8.hpp"
#include "services/model/tokenizer/unicode.hpp"

namespace stackgate::tokenizer {
namespace {

/// Below U+0300 all is NFC: nothing composes, nothing is reordered. NFKC, NFD and the rest are sure of ASCII only.
bool is_normal_already(NormalizerStep::Kind kind, std::string_view text) {
  const unsigned char first = kind == NormalizerStep::Kind::nfc ? 0xCC : 0x80;
  return std::ranges::none_of(text, [first](char c) { return static_cast<unsigned char>(c) >= first; });
}

Slice strip(const NormalizerStep& step, const Slice& in) {
  std::size_t begin = 0, end = in.text.size();
  while (step.left && begin < end) {
    const Character c = character_at(in.text, begin);
    if (!is_white_space(c.code)) break;
    begin += c.length;
  }
  while (step.right && end > begin) {
    const Character c = character_before(in.text, end);
    if (!is_white_space(c.code)) break;
    end -= c.length;
  }
  return in.part(begin, end);
}

void encode_all(std::span<const std::int32_t> codes, std::string& out) {
  for (const std::int32_t code : codes) {
    std::array<char, 4> bytes{};
    out.append(bytes.data(), utf8::encode(static_cast<std::uint32_t>(code), bytes.data()));
  }
}

}  // namespace

Slice replace_all(const Slice& in, std::string_view pattern, std::string_view content, Rewritten& out,
                  bool want_origin) {
  std::size_t found = in.text.find(pattern);
  if (found == std::string_view::npos) return in;
  out.begin(want_origin);
  std::size_t at = 0;
  for (; found != std::string_view::npos; found = in.text.find(pattern, at)) {
    out.copy(in, at, found);
    out.put(in, found, content);
    at = found + pattern.size();
  }
  out.copy(in, at, in.text.size());
  return out.finish(in);
}

Slice Normalizer::run(std::span<const NormalizerStep> steps, const Slice& piece, bool want_origin) {
  Slice at = piece;
  std::size_t buffer = 0;
  for (const NormalizerStep& each : steps) {
    const Slice next = step(each, at, buffers_[buffer], want_origin);
    if (buffers_[buffer].holds(next)) buffer = 1 - buffer;
    at = next;
  }
  return at;
}

Slice Normalizer::step(const NormalizerStep& step, const Slice& in, Rewritten& out, bool want_origin) {
  using Kind = NormalizerStep::Kind;
  if (in.text.empty()) return in;
  switch (step.kind) {
    case Kind::prepend:
      out.begin(want_origin);
      out.put(in, 0, step.content);
      out.copy(in, 0, in.text.size());
      return out.finish(in);
    case Kind::replace:
      return replace_all(in, step.pattern, step.content, out, want_origin);
    case Kind::strip:
      return strip(step, in);
    case Kind::lowercase:
      return unicode(step.kind, in, out, want_origin);
    default:
      return is_normal_already(step.kind, in.text) ? in : unicode(step.kind, in, out, want_origin);
  }
}

/// Segment by segment: from a character that nothing before it can change to the next one of that kind.
Slice Normalizer::unicode(NormalizerStep::Kind kind, const Slice& in, Rewritten& out, bool want_origin) {
  using Kind = NormalizerStep::Kind;
  out.begin(want_origin);
  codes_.clear();
  std::size_t begin = 0;
  for (std::size_t at = 0; at < in.text.size();) {
    const Character c = character_at(in.text, at);
    next_.clear();
    if (kind == Kind::lowercase)
      append_lower(c.code, next_);
    else
      append_decomposed(c.code, kind == Kind::nfkc || kind == Kind::nfkd, next_);
    if (at > begin && (kind == Kind::lowercase || begins_segment(next_.front()))) {
      segment(kind, in, begin, at, out);
      codes_.clear();
      begin = at;
    }
    codes_.insert(codes_.end(), next_.begin(), next_.end());
    at += c.length;
  }
  segment(kind, in, begin, in.text.size(), out);
  return out.finish(in);
}

/// `codes_` holds the decomposed segment.
void Normalizer::segment(NormalizerStep::Kind kind, const Slice& in, std::size_t begin, std::size_t end,
                         Rewritten& out) {
  using Kind = NormalizerStep::Kind;
  if (kind != Kind::lowercase) order_marks(codes_);
  if (kind == Kind::nfc || kind == Kind::nfkc) compose(codes_);
  encoded_.clear();
  encode_all(codes_, encoded_);
  if (encoded_ == in.text.substr(begin, end - begin))
    out.copy(in, begin, end);
  else
    out.put(in, begin, encoded_);
}

}  // namespace stackgate::tokenizer
