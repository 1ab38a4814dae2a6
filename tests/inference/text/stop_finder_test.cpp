#include "services/inference/text/stop_finder.hpp"

#include <gtest/gtest.h>

#include "tests/support/dice.hpp"

namespace stackgate::inference {
namespace {

struct Found {
  std::string text;
  std::optional<std::size_t> stop;
  bool operator==(const Found&) const = default;
};

Found in_pieces(const std::vector<std::string>& stops, const std::vector<std::string>& pieces) {
  StopFinder finder(stops);
  Found out;
  for (const std::string& piece : pieces)
    if ((out.stop = finder.push(piece, out.text))) return out;
  finder.finish(out.text);
  return out;
}

/// Looks at every end from the left, and there at the longest stop text first.
Found slowly(const std::vector<std::string>& stops, std::string_view text) {
  for (std::size_t end = 0; end <= text.size(); ++end) {
    Found found;
    for (std::size_t i = 0; i < stops.size(); ++i)
      if (text.substr(0, end).ends_with(stops[i]) && (!found.stop || stops[i].size() > stops[*found.stop].size()))
        found = {std::string(text.substr(0, end - stops[i].size())), i};
    if (found.stop) return found;
  }
  return {std::string(text), std::nullopt};
}

TEST(StopFinder, holds_back_what_may_begin_a_stop_text) {
  StopFinder finder({"\n\nUser:", "END"});
  std::string out;
  const auto after = [&](std::string_view piece) {
    out.clear();
    const auto found = finder.push(piece, out);
    return found ? out + "|" + finder.stop(*found) : out;
  };
  EXPECT_EQ(after("one\n"), "one");
  EXPECT_EQ(after("\n"), "");
  EXPECT_EQ(after("\n"), "\n");  // two of three line ends may still begin it
  EXPECT_EQ(after("Us"), "");
  EXPECT_EQ(after("e E"), "\n\nUse ");
  EXPECT_EQ(after("N"), "");
  EXPECT_EQ(after("D of"), "|END");
}

TEST(StopFinder, what_ends_first_counts_and_then_what_is_longest) {
  EXPECT_EQ(in_pieces({"abc", "b"}, {"xabc"}), (Found{"xa", 1}));
  EXPECT_EQ(in_pieces({"b", "ab"}, {"xab"}), (Found{"x", 1}));
  EXPECT_EQ(in_pieces({"aab"}, {"aa", "a", "b"}), (Found{"a", 0}));
  EXPECT_EQ(in_pieces({}, {"a", "b"}), (Found{"ab", std::nullopt}));
  EXPECT_EQ(in_pieces({"abx"}, {"ab"}), (Found{"ab", std::nullopt}));
  EXPECT_EQ(in_pieces({"é"}, {"è", "é"}), (Found{"è", 0}));
}

TEST(StopFinder, the_same_however_the_text_is_cut) {
  testing::Dice dice(31);
  for (int i = 0; i < 3000; ++i) {
    const auto drawn = [&dice](std::size_t least, std::size_t most) {
      std::string text(least + dice.roll(most - least), 'a');
      for (char& c : text) c = static_cast<char>('a' + static_cast<char>(dice.roll(2)));
      return text;
    };
    std::vector<std::string> stops(dice.roll(4)), pieces(1 + dice.roll(8));
    for (std::string& stop : stops) stop = drawn(1, 7);
    std::string text;
    for (std::string& piece : pieces) text += piece = drawn(0, 6);
    EXPECT_EQ(in_pieces(stops, pieces), slowly(stops, text)) << text;
  }
}

}  // namespace
}  // namespace stackgate::inference
