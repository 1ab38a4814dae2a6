// Bytes that come in pieces to text that is whole UTF-8 at every moment.
#pragma once
#include <string>
#include <string_view>

namespace stackgate::tokenizer {

/// Holds back an incomplete character, at most 3 bytes; each maximal ill-formed part becomes U+FFFD, as in Unicode
/// section 3.9, WHATWG's decoder and Python's errors="replace". Not thread-safe.
class Utf8Mender {
 public:
  /// Appends to `out` what is whole now.
  void push(std::string_view bytes, std::string& out);
  /// Appends U+FFFD when a character was left incomplete, and begins anew.
  void finish(std::string& out);
  bool holds_back() const { return !held_.empty(); }

 private:
  std::string held_;
};

}  // namespace stackgate::tokenizer
