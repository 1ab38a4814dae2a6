// The normalisers of a tokenizer.json, applied to a piece of text.
#pragma once
#include <array>
#include <span>
#include <vector>

#include "services/model/tokenizer/description.hpp"
#include "services/model/tokenizer/slice.hpp"

namespace stackgate::tokenizer {

/// Memory that one call after the other uses. Not thread-safe.
class Normalizer {
 public:
  /// The normalised piece: `piece` itself where nothing changes, else valid until the next call. Well-formed UTF-8 in
  /// and out. O(n log n).
  Slice run(std::span<const NormalizerStep> steps, const Slice& piece, bool want_origin);

 private:
  Slice step(const NormalizerStep& step, const Slice& in, Rewritten& out, bool want_origin);
  Slice unicode(NormalizerStep::Kind kind, const Slice& in, Rewritten& out, bool want_origin);
  void segment(NormalizerStep::Kind kind, const Slice& in, std::size_t begin, std::size_t end, Rewritten& out);

  std::array<Rewritten, 2> buffers_;
  std::vector<std::int32_t> codes_, next_;
  std::string encoded_;
};

/// Each `pattern` in the slice becomes `content`. The slice itself when there is none.
Slice replace_all(const Slice& in, std::string_view pattern, std::string_view content, Rewritten& out,
                  bool want_origin);

}  // namespace stackgate::tokenizer
