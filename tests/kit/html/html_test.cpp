#include "services/kit/html/html.hpp"

#include <gtest/gtest.h>

namespace stackgate::html {
namespace {

TEST(Html, EscapesWhateverIsPutIntoIt) {
  Html out;
  out.put(R"(<a href="{}">{}</a>)", R"("><script>alert('1')</script>)", "<b>&</b>");
  EXPECT_EQ(out.str(),
            R"(<a href="&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;">&lt;b&gt;&amp;&lt;/b&gt;</a>)");
}

TEST(Html, TakesPartsNumbersAndLinks) {
  Html inner, out;
  inner.put("<i>{}</i>", 7);
  out.put(R"({}<a href="{}">x</a>{})", inner, Link{"/a?b=1&c=2"}, std::uint64_t{18446744073709551615U});
  EXPECT_EQ(out.str(), R"(<i>7</i><a href="/a?b=1&amp;c=2">x</a>18446744073709551615)");
}

TEST(Html, DoesNotReadPlacesInWhatIsPutIntoIt) {
  Html out;
  out.put("<p>{}</p><p>{}</p>", "{}", "b");
  EXPECT_EQ(out.str(), "<p>{}</p><p>b</p>");
}

struct Shown {
  std::string_view name, text, wanted;
};

class Visible : public testing::TestWithParam<Shown> {};

TEST_P(Visible, ShowsWhatIsThere) { EXPECT_EQ(visible(GetParam().text), GetParam().wanted); }

using namespace std::string_view_literals;
INSTANTIATE_TEST_SUITE_P(
    Texts, Visible,
    testing::Values(Shown{"Plain", "a b.txt", "a b.txt"}, Shown{"Umlaut", "Grüße 日本 🙂", "Grüße 日本 🙂"},
                    Shown{"LinesAndTabs", "a\n\tb", "a\n\tb"}, Shown{"Latin1", "caf\xe9.txt", "caf\\xe9.txt"},
                    Shown{"CutOff", "a\xe2\x82", "a\\xe2\\x82"}, Shown{"LoneContinuation", "\x80z", "\\x80z"},
                    Shown{"Overlong", "\xc0\xaf", "\\xc0\\xaf"},
                    Shown{"OverlongThree", "\xe0\x80\xaf", "\\xe0\\x80\\xaf"},
                    Shown{"Surrogate", "\xed\xa0\x80", "\\xed\\xa0\\x80"},
                    Shown{"TooLarge", "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},
                    Shown{"Control", "a\x1b[31m\x07", "a\\x1b[31m\\x07"}, Shown{"Nul", "a\0b"sv, "a\\x00b"},
                    Shown{"CarriageReturn", "a\rb", "a\\x0db"},
                    Shown{"RightToLeftOverride",
                          "exe.\xe2\x80\xae"
                          "fdp",
                          "exe.\\xe2\\x80\\xaefdp"},
                    Shown{"ZeroWidth",
                          "a\xe2\x80\x8b"
                          "b",
                          "a\\xe2\\x80\\x8bb"},
                    Shown{"ByteOrderMark",
                          "\xef\xbb\xbf"
                          "a",
                          "\\xef\\xbb\\xbfa"}),
    [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace stackgate::html
