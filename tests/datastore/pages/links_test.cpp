#include "services/datastore/pages/links.hpp"

#include <gtest/gtest.h>

namespace stackgate::datastore::pages {
namespace {

const Repository repository{.owner = "ann", .name = "data.set"};

TEST(Links, EscapeEveryPartForItsPlace) {
  EXPECT_EQ(link_to(repository, "blob", "feature/x", "a b/c#d?e%f/\xff.txt").text,
            "/ann/data.set/blob/feature%2Fx/a%20b/c%23d%3Fe%25f/%FF.txt");
  EXPECT_EQ(with_query(with_query({"/"}, "q", "a&b=c"), "type", "model").text, "/?q=a%26b%3Dc&type=model");
  EXPECT_EQ(link_to(repository, "settings").text, "/ann/data.set/settings");
}

TEST(Links, LeadBackOnlyToThisServer) {
  EXPECT_EQ(safe_return_path("/ann/data?x=1&y=%2F"), "/ann/data?x=1&y=%2F");
  for (const std::string_view bad : {"", "x", "//evil.example", "/\\evil.example", "https://evil.example",
                                     "javascript:alert(1)", "/a\r\nSet-Cookie: x", "/a b", "/\"><script>", "/a\\b"})
    EXPECT_EQ(safe_return_path(bad), "/") << bad;
}

struct Case {
  std::string_view document, target, path, fragment;
};

TEST(Links, ResolveAgainstTheDocument) {
  for (const Case& each : {Case{"README.md", "a.txt", "a.txt", ""}, Case{"docs/x.md", "a.txt", "docs/a.txt", ""},
                           Case{"docs/x.md", "../a.txt#top", "a.txt", "top"}, Case{"docs/x.md", "/a.txt", "a.txt", ""},
                           Case{"docs/x.md", "./b/./c", "docs/b/c", ""}, Case{"x.md", "a%20b.txt", "a b.txt", ""},
                           Case{"x.md", "a.txt?raw=1", "a.txt", ""}, Case{"docs/x.md", "..", "", ""}}) {
    Target out;
    ASSERT_TRUE(resolve_target(each.document, each.target, out)) << each.target;
    EXPECT_EQ(out.path, each.path) << each.target;
    EXPECT_EQ(out.fragment, each.fragment) << each.target;
  }
}

TEST(Links, NeverLeaveTheRepository) {
  for (const std::string_view bad : {"../../x", "../../../etc/passwd", "%2e%2e/%2e%2e/x", "/../x", "a/../../../x"}) {
    Target out;
    EXPECT_FALSE(resolve_target("docs/x.md", bad, out)) << bad;
  }
  Target out;
  EXPECT_FALSE(resolve_target("x.md", "a%zz", out));
}

}  // namespace
}  // namespace stackgate::datastore::pages
