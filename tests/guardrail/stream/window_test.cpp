// What may leave a stream, byte by byte, whatever the pieces and sizes are.
#include "services/guardrail/stream/window.hpp"

#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "services/kit/base/utf8.hpp"

namespace stackgate::guardrail {
namespace {

/// Checks all that is due by `rail`: what it makes of a window, nothing to block it.
template <class Rail>
std::string run_checks(StreamWindow& window, Rail&& rail) {
  std::string left = window.take();
  while (auto text = window.next()) {
    const std::optional<std::string> made = rail(*text);
    if (!made)
      window.blocked();
    else if (*made == *text)
      window.passed();
    else
      window.altered(*made);
    left += window.take();
  }
  return left;
}

const auto pass = [](const std::string& text) { return std::optional(text); };

TEST(StreamWindow, waits_for_a_chunk_and_its_context) {
  StreamWindow window({.chunk_size = 3, .context_size = 2});
  window.append("a b c d e");
  EXPECT_EQ(window.next(), std::nullopt);  // e may go on
  window.append(" f");
  EXPECT_EQ(window.next(), "a b c d e ");
  EXPECT_EQ(window.next(), std::nullopt);  // one at a time
  EXPECT_EQ(window.take(), "");
  window.append(" g h ");
  window.passed();
  EXPECT_EQ(window.take(), "a b c ");
  EXPECT_EQ(window.next(), "d e f g h ");  // h does not go on
  window.passed();
  EXPECT_EQ(window.take(), "d e f ");
  window.append("i");
  EXPECT_EQ(window.next(), std::nullopt);
  EXPECT_FALSE(window.done());
  window.end();
  EXPECT_EQ(window.next(), "g h i");
  window.passed();
  EXPECT_EQ(window.take(), "g h i");
  EXPECT_TRUE(window.done());
}

TEST(StreamWindow, what_was_checked_up_to_the_end_is_not_checked_again) {
  StreamWindow window({.chunk_size = 1, .context_size = 1});
  window.append("a b c ");
  EXPECT_EQ(window.next(), "a b c ");
  window.passed();
  EXPECT_EQ(window.take(), "a b ");
  window.end();
  EXPECT_EQ(window.next(), std::nullopt);
  EXPECT_EQ(window.take(), "c ");
  EXPECT_TRUE(window.done());
}

TEST(StreamWindow, an_end_during_a_check) {
  StreamWindow window({.chunk_size = 1, .context_size = 1});
  window.append("a b c ");
  EXPECT_EQ(window.next(), "a b c ");
  window.end();
  EXPECT_FALSE(window.done());
  window.passed();
  EXPECT_EQ(window.take(), "a b c ");
  EXPECT_TRUE(window.done());
}

TEST(StreamWindow, nothing_leaves_what_is_blocked) {
  StreamWindow window({.chunk_size = 1, .context_size = 1});
  window.append("a b c d ");
  ASSERT_TRUE(window.next());
  window.blocked();
  window.append("e f g h ");
  window.end();
  EXPECT_EQ(window.next(), std::nullopt);
  EXPECT_EQ(window.take(), "");
  EXPECT_TRUE(window.done());
}

TEST(StreamWindow, an_empty_answer_is_done) {
  StreamWindow window({});
  window.append("");
  EXPECT_FALSE(window.done());
  window.end();
  EXPECT_EQ(window.next(), std::nullopt);
  EXPECT_TRUE(window.done());
}

TEST(StreamWindow, stream_first_sends_and_checks_afterwards) {
  StreamWindow window({.chunk_size = 2, .context_size = 1, .stream_first = true});
  window.append("a b ");
  EXPECT_EQ(window.take(), "a b ");
  window.append("c d ");
  EXPECT_EQ(window.next(), "a b c d ");
  window.altered("too late");
  EXPECT_EQ(window.take(), "c d ");
  window.append("e ");
  window.end();
  EXPECT_EQ(window.take(), "e ");
  EXPECT_EQ(window.next(), "d e ");
  window.passed();
  EXPECT_TRUE(window.done());
}

TEST(StreamWindow, stream_first_ends_where_it_is_blocked) {
  StreamWindow window({.chunk_size = 1, .context_size = 1, .stream_first = true});
  window.append("a b c ");
  ASSERT_TRUE(window.next());
  window.append("d ");
  window.blocked();
  EXPECT_EQ(window.take(), "");
  EXPECT_TRUE(window.done());
}

TEST(StreamWindow, text_without_spaces_does_not_wait_for_ever) {
  StreamWindow window({.chunk_size = 10, .context_size = 5});
  const std::string text(1000, 'x');
  window.append(text);
  EXPECT_EQ(run_checks(window, pass), text.substr(0, text.size() - 5 * 16 + 8));  // 1000 = 62 · 16 + 8
  StreamWindow blank({.chunk_size = 10, .context_size = 5});
  blank.append(std::string(1000, ' '));
  EXPECT_TRUE(blank.next());
}

TEST(StreamWindow, bytes_that_are_no_characters_are_replaced) {
  const auto all = [](const std::vector<std::string_view>& pieces) {
    StreamWindow window({});
    for (const auto piece : pieces) window.append(piece);
    window.end();
    return run_checks(window, pass);
  };
  const std::string mark = "\xEF\xBF\xBD";
  EXPECT_EQ(all({"\xF0\x9F", "\x98", "\x80!"}), "\xF0\x9F\x98\x80!");
  EXPECT_EQ(all({"a\xFF", "b\xC3"}), "a" + mark + "b" + mark);
  EXPECT_EQ(all({"\xE2\x82", "x"}), mark + mark + "x");
  EXPECT_EQ(all({"\xED", "\xA0\x80"}), mark + mark + mark);  // a surrogate
}

/// Random text over few words, cut into random pieces.
struct Answer {
  std::string text;
  std::vector<std::string> pieces;
};

Answer draw_answer(std::mt19937& dice, std::string_view forbidden) {
  const std::vector<std::string> parts = {
      "a",    "bb ", " ",  "\n", "x,",    ". ",       "(", "é",
      "日本", "😀",  "se", "t",  " ccc ", "hunter 2", "-", "0123456789012345678901234"};
  Answer out;
  const auto roll = [&dice](std::size_t sides) { return static_cast<std::size_t>(dice()) % sides; };
  for (std::size_t i = roll(120); i > 0; --i) out.text += roll(12) == 0 ? forbidden : parts[roll(parts.size())];
  for (std::size_t at = 0; at < out.text.size();) {
    out.pieces.push_back(out.text.substr(at, 1 + roll(9)));
    at += out.pieces.back().size();
  }
  return out;
}

std::string masked(std::string text, std::string_view forbidden) {
  for (std::size_t at = 0; (at = text.find(forbidden, at)) != std::string::npos; at += 3)
    text.replace(at, forbidden.size(), "[M]");
  return text;
}

WindowRules draw_rules(std::mt19937& dice) {
  return {.chunk_size = 1 + static_cast<std::uint32_t>(dice() % 12),
          .context_size = 6 + static_cast<std::uint32_t>(dice() % 8)};  // the forbidden words have at most six tokens
}

constexpr std::string_view forbidden_words[] = {"secret", "hunter 2", "a-b.c", "日本語😀", "top \n secret!"};

// Fed piece by piece, with pieces that come while a check is under way.
template <class Rail, class Look>
void feed(StreamWindow& window, const Answer& answer, std::mt19937& dice, Rail&& rail, Look&& look) {
  std::string left;
  std::optional<std::string> under_way;
  const auto work = [&] {
    if (!under_way) under_way = window.next();
    if (under_way && dice() % 3 != 0) {
      const std::optional<std::string> made = rail(*under_way);
      made ? *made == *under_way ? window.passed() : window.altered(*made) : window.blocked();
      under_way.reset();
    }
    const std::string now = window.take();
    ASSERT_TRUE(utf8::is_valid(now));
    left += now;
    look(left);
  };
  for (const std::string& piece : answer.pieces) {
    window.append(piece);
    work();
  }
  window.end();
  for (int i = 0; i < 100'000 && !window.done(); ++i) work();
  EXPECT_TRUE(window.done());
  look(left);
}

TEST(StreamWindow, property_a_mask_is_complete_and_what_left_was_right) {
  for (std::uint32_t seed = 0; seed < 4000; ++seed) {
    std::mt19937 dice(seed);
    const std::string_view forbidden = forbidden_words[seed % std::size(forbidden_words)];
    const Answer answer = draw_answer(dice, forbidden);
    const std::string expected = masked(answer.text, forbidden);
    StreamWindow window(draw_rules(dice));
    std::string last;
    feed(
        window, answer, dice, [&](const std::string& text) { return std::optional(masked(text, forbidden)); },
        [&](const std::string& left) {
          ASSERT_TRUE(expected.starts_with(left)) << "seed " << seed;
          last = left;
        });
    ASSERT_EQ(last, expected) << "seed " << seed;
  }
}

TEST(StreamWindow, property_no_part_of_what_is_forbidden_leaves) {
  for (std::uint32_t seed = 0; seed < 4000; ++seed) {
    std::mt19937 dice(seed);
    const std::string_view forbidden = forbidden_words[seed % std::size(forbidden_words)];
    const Answer answer = draw_answer(dice, forbidden);
    const std::string before = answer.text.substr(0, answer.text.find(forbidden));
    StreamWindow window(draw_rules(dice));
    std::string last;
    feed(
        window, answer, dice,
        [&](const std::string& text) { return text.contains(forbidden) ? std::nullopt : std::optional(text); },
        [&](const std::string& left) {
          ASSERT_TRUE(before.starts_with(left)) << "seed " << seed;
          last = left;
        });
    ASSERT_EQ(last == answer.text, before == answer.text) << "seed " << seed;
  }
}

// Without the check nothing leaves at all, and what leaves stands in a window that was checked, context_size tokens or
// the end behind it.
TEST(StreamWindow, property_what_left_was_checked) {
  for (std::uint32_t seed = 0; seed < 1000; ++seed) {
    std::mt19937 dice(seed);
    const Answer answer = draw_answer(dice, "secret");
    StreamWindow window(draw_rules(dice));
    std::size_t checked = 0, passed = 0;  // bytes from the beginning
    std::string so_far;
    feed(
        window, answer, dice,
        [&](const std::string& text) {
          const std::size_t begin = so_far.size();
          EXPECT_EQ(answer.text.substr(begin, text.size()), text) << "seed " << seed;
          checked = passed = begin + text.size();
          return std::optional(text);
        },
        [&](const std::string& left) {
          so_far = left;
          ASSERT_LE(left.size(), passed) << "seed " << seed;
          ASSERT_TRUE(left.size() == answer.text.size() || left.size() < checked || left.empty()) << "seed " << seed;
        });
  }
}

}  // namespace
}  // namespace stackgate::guardrail
