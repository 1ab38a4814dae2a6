#include "services/kit/html/frame.hpp"

#include <array>

#include <gmock/gmock.h>

namespace stackgate::html {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Frame, loads_only_files_of_ours_and_renews_itself_without_a_script) {
  const Assets assets{.style = "/-/assets/style.css?v=1", .script = "/-/assets/live.js?v=1"};
  const std::string page =
      framed({.product = "P", .title = "<script>", .place = Place(1), .refreshes = true}, assets, piece("<p>x</p>"));
  EXPECT_THAT(page, HasSubstr("<noscript><meta http-equiv=\"refresh\" content=\"5\"></noscript>"));
  EXPECT_THAT(page, HasSubstr("<title>&lt;script&gt; · P</title>"));
  EXPECT_THAT(page, HasSubstr(R"(<link rel="stylesheet" href="../-/assets/style.css?v=1">)"));
  EXPECT_THAT(page, HasSubstr(R"(<script src="../-/assets/live.js?v=1" defer></script>)"));
  EXPECT_THAT(page, HasSubstr(R"(<a class="brand" href="../">)"));
  EXPECT_THAT(page, Not(HasSubstr("<script>")));
  EXPECT_THAT(page, Not(HasSubstr("charts")));
  EXPECT_THAT(framed({.title = "t"}, assets, {}), Not(HasSubstr("refresh")));
}

TEST(Places, make_links_relative) {
  EXPECT_EQ(Place(0).to("/").text, "./");
  EXPECT_EQ(Place(0).to("/jobs/a?b=c").text, "./jobs/a?b=c");
  EXPECT_EQ(Place(2).to("/v1/x").text, "../../v1/x");
}

TEST(Queries, leave_out_what_is_empty) {
  EXPECT_EQ(with_query("/", {{"a", ""}, {"b", "c d"}, {"e", "&"}}), "/?b=c%20d&e=%26");
}

TEST(Options, name_the_chosen_one) {
  constexpr std::array<std::string_view, 2> names = {"a", "<b>"};
  EXPECT_EQ(options(names, "<b>", "all").str(),
            R"(<option value="">all</option><option>a</option><option selected>&lt;b&gt;</option>)");
}

TEST(Pagers, link_to_what_is_there) {
  EXPECT_THAT(pager(1, 2, {"n"}, {"o"}).str(), testing::AllOf(HasSubstr(R"(href="o")"), Not(HasSubstr(R"(href="n")"))));
  EXPECT_THAT(pager(2, 2, {"n"}, {"o"}).str(), testing::AllOf(HasSubstr(R"(href="n")"), Not(HasSubstr(R"(href="o")"))));
}

TEST(ProgressBars, are_nothing_for_what_is_not_known) {
  EXPECT_EQ(progress_bar(-1).str(), "");
  EXPECT_THAT(progress_bar(45.2).str(), HasSubstr(R"(<progress max="100" value="45">45 %</progress>)"));
}

}  // namespace
}  // namespace stackgate::html
