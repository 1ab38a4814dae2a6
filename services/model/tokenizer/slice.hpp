// A piece of text on its way through normalisers and pre-tokenisers, and where its bytes came from.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stackgate::tokenizer {

struct Slice {
  std::string_view text;
  /// For each byte, and for the end, an offset into the text that was given; nullptr: `base` and counting.
  const std::uint32_t* origin = nullptr;
  std::uint32_t base = 0;

  std::uint32_t offset(std::size_t at) const {
    return origin != nullptr ? origin[at] : base + static_cast<std::uint32_t>(at);
  }
  Slice part(std::size_t begin, std::size_t end) const {
    return {text.substr(begin, end - begin), origin != nullptr ? origin + begin : nullptr,
            base + static_cast<std::uint32_t>(begin)};
  }
};

/// Text that is written anew from a slice. Origins are kept only when somebody wants them.
class Rewritten {
 public:
  void begin(bool want_origin) {
    text_.clear();
    origin_.clear();
    want_origin_ = want_origin;
  }
  void copy(const Slice& in, std::size_t begin, std::size_t end) {
    text_ += in.text.substr(begin, end - begin);
    if (!want_origin_) return;
    for (; begin < end; ++begin) origin_.push_back(in.offset(begin));
  }
  /// What stands for the slice's text at `at`.
  void put(const Slice& in, std::size_t at, std::string_view text) {
    text_ += text;
    if (want_origin_) origin_.insert(origin_.end(), text.size(), in.offset(at));
  }
  /// Valid until the next begin().
  Slice finish(const Slice& in) {
    if (want_origin_) origin_.push_back(in.offset(in.text.size()));
    return {text_, want_origin_ ? origin_.data() : nullptr, in.base};
  }
  bool holds(const Slice& slice) const { return slice.text.data() == text_.data(); }

 private:
  std::string text_;
  std::vector<std::uint32_t> origin_;
  bool want_origin_ = false;
};

}  // namespace stackgate::tokenizer
