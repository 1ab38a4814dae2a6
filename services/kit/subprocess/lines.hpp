// Output in pieces → whole lines, for logs. Pure.
#pragma once
#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace stackgate::subprocess {

class Lines {
 public:
  using Take = std::function<void(std::string_view line)>;  // without its end: "\n" or "\r\n"

  /// Lines beyond `longest` bytes are cut there; the rest of such a line is passed over.
  explicit Lines(Take take, std::size_t longest = 8192) : take_(std::move(take)), longest_(longest) {}

  void feed(std::string_view piece) {
    for (std::size_t end = piece.find('\n'); end != std::string_view::npos; end = piece.find('\n')) {
      keep(piece.substr(0, end));
      emit();
      piece.remove_prefix(end + 1);
    }
    keep(piece);
  }
  /// A last line that has no end.
  void finish() {
    if (!line_.empty()) emit();
  }

 private:
  void keep(std::string_view text) { line_.append(text.substr(0, longest_ - std::min(longest_, line_.size()))); }
  void emit() {
    if (line_.ends_with('\r')) line_.pop_back();
    take_(line_);
    line_.clear();
  }

  Take take_;
  std::size_t longest_;
  std::string line_;
};

}  // namespace stackgate::subprocess
