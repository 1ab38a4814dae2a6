#include "services/datastore/pages/markdown.hpp"

#include <chrono>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stackgate::datastore::pages {
namespace {

using testing::HasSubstr;
using testing::Not;

const MarkdownLinks links{.page = [](std::string_view path) { return html::Link{"/PAGE/" + std::string(path)}; },
                          .bytes = [](std::string_view path) { return html::Link{"/RAW/" + std::string(path)}; }};

std::string rendered(std::string_view text, std::string_view document = "docs/README.md") {
  html::Html out;
  EXPECT_TRUE(render_markdown(text, document, links, out)) << text.substr(0, 100);
  return out.str();
}

struct MarkdownCase {
  std::string_view name, text, holds;
};
class Rendering : public testing::TestWithParam<MarkdownCase> {};

TEST_P(Rendering, Gives) { EXPECT_THAT(rendered(GetParam().text), HasSubstr(GetParam().holds)); }

INSTANTIATE_TEST_SUITE_P(
    Documents, Rendering,
    testing::Values(MarkdownCase{"Heading", "# A & B", "<h2>A &amp; B</h2>"},
                    MarkdownCase{"Table", "|a|b|\n|-|-|\n|1|2|", "<td>1</td>"},
                    MarkdownCase{"Task", "- [x] done", "type=\"checkbox\""},
                    MarkdownCase{"Strike", "~~no~~", "<del>no</del>"},
                    MarkdownCase{"BareLink", "see https://a.example/x", "<a href=\"https://a.example/x\">"},
                    MarkdownCase{"Code", "```cpp\na<b>\n```", "a&lt;b&gt;"},
                    MarkdownCase{"RelativeLink", "[x](a.txt)", "<a href=\"/PAGE/docs/a.txt\">"},
                    MarkdownCase{"RelativeLinkAbove", "[x](../a%20b.txt#top)", "<a href=\"/PAGE/a%20b.txt#top\">"},
                    MarkdownCase{"LinkFromTheTop", "[x](/a.txt)", "<a href=\"/PAGE/a.txt\">"},
                    MarkdownCase{"Anchor", "[x](#y)", "<a href=\"#y\">"},
                    MarkdownCase{"Mail", "[x](mailto:a@b.example)", "<a href=\"mailto:a@b.example\">"},
                    MarkdownCase{"Picture", "![cat](cat.png)", "<img src=\"/RAW/docs/cat.png\" alt=\"cat\""},
                    MarkdownCase{"RemotePictureIsALink", "![cat](https://a.example/cat.png)",
                                 "<a href=\"https://a.example/cat.png\">cat</a>"},
                    MarkdownCase{"RemotePictureWithoutText", "![](https://a.example/c.png)",
                                 ">https://a.example/c.png</a>"},
                    MarkdownCase{"BadgeInALink", "[![b](https://a.example/b.svg)](https://c.example)",
                                 "<a href=\"https://c.example\">b</a>"}),
    [](const auto& each) { return std::string(each.param.name); });

TEST(Markdown, LetsNothingOfItsAuthorBecomeMarkup) {
  for (const std::string_view text :
       {"<script>alert(1)</script>", "a <img src=x onerror=alert(1)> b", "<svg/onload=alert(1)>",
        "<a href='javascript:alert(1)'>x</a>", "<iframe src=//evil.example></iframe>", "<style>*{display:none}</style>",
        "<!-- <script> -->", "<form action=/-/sign-out>", "|a|\n|-|\n|<script>x</script>|",
        "```\"><script>alert(1)</script>\nx\n```", "- [x] <script>x</script>"}) {
    const std::string out = rendered(text);
    for (const std::string_view tag : {"<script", "<img", "<svg", "<iframe", "<style", "<form", "onerror=alert(1)>"})
      EXPECT_THAT(out, Not(HasSubstr(tag))) << text;
  }
}

TEST(Markdown, LeadsNowhereElse) {
  for (const std::string_view text :
       {"[x](javascript:alert(1))", "[x](JaVaScRiPt:alert(1))", "[x](java&#115;cript:alert(1))",
        "[x](data:text/html,<b>)", "[x](vbscript:x)", "[x](file:///etc/passwd)", "<javascript:alert(1)>",
        "[x]: javascript:alert(1)\n\n[x]", "![x](javascript:alert(1))", "![x](data:image/svg+xml;base64,PHN2Zz4=)",
        "![x](//evil.example/a.png)", "[x](//evil.example)", "[x](../../../secret)", "[x](\\\\evil.example)",
        "[x](%6aavascript:alert(1))", "[x](feed:x)", "[x](http:evil)"}) {
    const std::string out = rendered(text);
    for (const std::string_view part :
         {"href=\"j", "href=\"J", "href=\"d", "href=\"v", "href=\"f", "href=\"//", "src=", "href=\"http:evil"})
      EXPECT_THAT(out, Not(HasSubstr(part))) << text << " → " << out;
  }
}

TEST(Markdown, TakesFrontMatterOff) {
  std::string_view text = "---\nlicense: mit\ntags: [a]\n---\n# Title\n";
  EXPECT_EQ(take_front_matter(text), "license: mit\ntags: [a]\n");
  EXPECT_EQ(text, "# Title\n");
  for (const std::string_view none : {"# Title", "---", "---\nno end\n", "--- \nx\n---\n", "", "a\n---\nb\n---\n"}) {
    std::string_view rest = none;
    EXPECT_EQ(take_front_matter(rest), "") << none;
    EXPECT_EQ(rest, none);
  }
}

TEST(Markdown, RefusesWhatIsTooLarge) {
  html::Html out;
  EXPECT_FALSE(render_markdown(std::string(largest_markdown + 1, 'a'), "a", links, out));
  EXPECT_TRUE(out.empty());
}

class Hostile : public testing::TestWithParam<std::pair<std::string_view, std::string_view>> {};

TEST_P(Hostile, InputsAreRenderedOrRefusedSoon) {
  std::string text;
  while (text.size() + GetParam().second.size() < largest_markdown) text += GetParam().second;
  html::Html out;
  const auto begun = std::chrono::steady_clock::now();
  (void)render_markdown(text, "a", links, out);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(3));
}

INSTANTIATE_TEST_SUITE_P(
    Repeated, Hostile,
    testing::Values(std::pair{"Bracket", "["}, std::pair{"Picture", "![l"}, std::pair{"Quote", ">"},
                    std::pair{"Item", "- "}, std::pair{"ItemNested", "* a\n"}, std::pair{"Underscore", "_"},
                    std::pair{"Emphasis", "*a _b "}, std::pair{"Tick", "`a"}, std::pair{"Angle", "<"},
                    std::pair{"Comment", "<!--"}, std::pair{"Entity", "&"}, std::pair{"Link", "[a](b"},
                    std::pair{"LinkNested", "[a]("}, std::pair{"Www", "www."}, std::pair{"At", "a@b"},
                    std::pair{"Colons", "http://"}, std::pair{"Tilde", "~~a"}, std::pair{"Bar", "|a"},
                    std::pair{"TableRows", "|a|\n|-|\n"}, std::pair{"References", "[a]: b\n"}, std::pair{"Tabs", "\t"},
                    std::pair{"Backslash", "\\"}, std::pair{"Hash", "#"}, std::pair{"Number", "1."},
                    std::pair{"QuoteLines", "> > > > > > > > > > > > > > > > > > > > a\n"}, std::pair{"Nul", "\x01"},
                    std::pair{"AngleText", "a <!A "}, std::pair{"Instruction", "a <?"},
                    std::pair{"Cdata", "a <![CDATA["}),
    [](const auto& each) { return std::string(each.param.first); });

}  // namespace
}  // namespace stackgate::datastore::pages
