// The part of a streamed answer that is being checked, and what of it may leave. Pure.
//
//   append(piece)…  next() → a window to check → passed() | altered(text) | blocked()  →  take(): what may leave
//
// A window is what has not left yet: chunk_size tokens, and context_size more behind them. When it is fine, all but the
// last context_size tokens leave; those are checked once more, together with what follows. So whatever leaves was
// checked with the context_size tokens behind it, and a pattern of at most so many never leaves in part, wherever the
// model's pieces are cut. Source: services.md section 5.1, rails.output.streaming.
//
// A token is a word, or one punctuation mark, with the white space behind it; of what has no spaces 16 bytes.
// Belongs to one thread at a time.
#pragma once
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace stackgate::guardrail {

struct WindowRules {
  std::uint32_t chunk_size = 200;  // at least 1
  std::uint32_t context_size = 50;
  bool stream_first = false;  // text leaves at once, and is checked afterwards
};

class StreamWindow {
 public:
  explicit StreamWindow(const WindowRules& rules);

  /// The next piece of the answer, cut anywhere, also inside of a character. What is no UTF-8 becomes U+FFFD. May be
  /// called while a window is being checked.
  void append(std::string_view piece);
  /// The answer is over: what is left is the last window.
  void end();

  /// The text to check now. Nothing: more must come, a check is under way, or all is checked.
  std::optional<std::string> next();
  // What came of it; one of them for each window.
  void passed();
  /// A rail wrote `text` instead of the window's. With stream_first it is too late for that.
  void altered(std::string_view text);
  /// Nothing leaves any more.
  void blocked();

  /// What may leave now, whole characters; "": nothing.
  std::string take();
  /// All of the answer was checked and taken, or it was blocked.
  bool done() const;
  /// Bytes that wait here, for back-pressure.
  std::size_t held() const { return pending_.size() + partial_.size() + leaving_.size(); }

 private:
  enum class Class : std::uint8_t { space, word, mark };
  void put(std::string_view characters);
  void count_tokens(std::size_t from);
  void release(std::size_t bytes);
  std::size_t held_back_from(std::size_t end) const;
  std::size_t window_end() const;

  const WindowRules rules_;
  std::string pending_;             // has not left; with stream_first: is not checked
  std::string partial_;             // the beginning of a character
  std::string leaving_;             // may leave
  std::deque<std::size_t> starts_;  // of tokens in pending_
  Class last_class_ = Class::mark;
  std::size_t run_ = 0;      // bytes of the last token
  std::size_t window_ = 0;   // bytes of pending_ that are being checked
  std::size_t checked_ = 0;  // bytes of pending_ that were checked, and wait for what follows them
  std::size_t checked_tokens_ = 0;
  bool checking_ = false, ended_ = false, blocked_ = false;
};

}  // namespace stackgate::guardrail
