#include "services/kit/kube/watch_frame.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stackgate::kube {
namespace {

using testing::ElementsAre;

struct FrameCase {
  std::string name;
  std::string stream;
  std::vector<std::string> pieces;
};

class CutFrames : public testing::TestWithParam<FrameCase> {};

TEST_P(CutFrames, come_out_the_same_however_the_bytes_are_cut) {
  const FrameCase& c = GetParam();
  for (std::size_t step = 1; step <= c.stream.size(); ++step) {
    FrameSplitter splitter;
    std::vector<std::string> got;
    for (std::size_t i = 0; i < c.stream.size(); i += step)
      ASSERT_TRUE(splitter.feed(std::string_view(c.stream).substr(i, step), [&](std::string_view piece) {
        got.emplace_back(piece);
        return true;
      })) << splitter.fault();
    EXPECT_EQ(got, c.pieces) << "in steps of " << step;
  }
}

INSTANTIATE_TEST_SUITE_P(
    , CutFrames,
    testing::Values(
        FrameCase{"two_on_two_lines", "{\"a\":1}\n{\"b\":2}\n", {"{\"a\":1}", "{\"b\":2}"}},
        FrameCase{"no_line_end_between", "{\"a\":{}}{\"b\":2}", {"{\"a\":{}}", "{\"b\":2}"}},
        FrameCase{"braces_and_quotes_in_strings", R"({"a":"}{\"}"}{"b":"\\"})", {R"({"a":"}{\"}"})", R"({"b":"\\"})"}},
        FrameCase{"line_ends_inside", "{\n \"a\":\n[{}]\n}\n", {"{\n \"a\":\n[{}]\n}"}},
        FrameCase{"an_unfinished_one_waits", "{\"a\":1}\n{\"b\":", {"{\"a\":1}"}}),
    [](const auto& one) { return one.param.name; });

TEST(Frames, that_are_no_objects_are_a_fault) {
  FrameSplitter splitter;
  EXPECT_FALSE(splitter.feed("<html>", [](std::string_view) { return true; }));
  EXPECT_THAT(splitter.fault(), testing::HasSubstr("no object"));
}

TEST(Frames, larger_than_any_object_are_a_fault) {
  FrameSplitter splitter;
  ASSERT_TRUE(splitter.feed("{\"a\":\"", [](std::string_view) { return true; }));
  const std::string chunk(1U << 20U, 'x');
  bool ok = true;
  for (int i = 0; i < 20 && ok; ++i) ok = splitter.feed(chunk, [](std::string_view) { return true; });
  EXPECT_FALSE(ok);
  EXPECT_THAT(splitter.fault(), testing::HasSubstr("more than"));
}

TEST(Frames, after_the_sink_said_stop_are_not_read) {
  FrameSplitter splitter;
  int seen = 0;
  EXPECT_FALSE(splitter.feed("{}{}{}", [&](std::string_view) { return ++seen < 2; }));
  EXPECT_EQ(seen, 2);
}

struct ListCase {
  std::string name;
  std::string text;
  std::vector<std::string> items;
  std::string version, token;
};

class CutLists : public testing::TestWithParam<ListCase> {};

TEST_P(CutLists, come_out_the_same_however_the_bytes_are_cut) {
  const ListCase& c = GetParam();
  for (std::size_t step = 1; step <= c.text.size(); ++step) {
    ListSplitter splitter;
    std::vector<std::string> got;
    for (std::size_t i = 0; i < c.text.size(); i += step)
      ASSERT_TRUE(splitter.feed(std::string_view(c.text).substr(i, step), [&](std::string_view piece) {
        got.emplace_back(piece);
        return true;
      })) << splitter.fault();
    const auto page = splitter.finish();
    ASSERT_TRUE(page) << page.error().message;
    EXPECT_EQ(got, c.items) << "in steps of " << step;
    EXPECT_EQ(page->resource_version, c.version);
    EXPECT_EQ(page->continue_token, c.token);
  }
}

INSTANTIATE_TEST_SUITE_P(
    , CutLists,
    testing::Values(
        ListCase{
            "as_the_api_server_writes_it",
            R"({"kind":"SecretList","apiVersion":"v1","metadata":{"resourceVersion":"7","continue":"abc"},"items":[{"a":1},{"items":[{"b":2}]}]})",
            {R"({"a":1})", R"({"items":[{"b":2}]})"},
            "7",
            "abc"},
        ListCase{"items_before_metadata",
                 R"({ "items" : [ {"a":"]}"} , {} ] , "metadata" : {"resourceVersion":"8"} })",
                 {R"({"a":"]}"})", "{}"},
                 "8",
                 ""},
        ListCase{"nothing_in_it", R"({"metadata":{"resourceVersion":"9"},"items":[]})", {}, "9", ""},
        ListCase{"null_items", R"({"metadata":{"resourceVersion":"9"},"items":null})", {}, "9", ""},
        ListCase{
            "items_elsewhere_are_no_items",
            R"({"metadata":{"resourceVersion":"9","items":[{"x":1}]},"it\"ems":[{"y":1}],"a":"items","items":[{"z":1}]})",
            {R"({"z":1})"},
            "9",
            ""}),
    [](const auto& one) { return one.param.name; });

TEST(Lists, that_end_too_early_are_a_fault) {
  ListSplitter splitter;
  ASSERT_TRUE(splitter.feed(R"({"metadata":{},"items":[{"a":1})", [](std::string_view) { return true; }));
  EXPECT_FALSE(splitter.finish());
}

TEST(Lists, without_items_are_a_fault) {
  ListSplitter splitter;
  ASSERT_TRUE(splitter.feed(R"({"kind":"Status"})", [](std::string_view) { return true; }));
  const auto page = splitter.finish();
  ASSERT_FALSE(page);
  EXPECT_THAT(page.error().message, testing::HasSubstr("no list"));
}

TEST(Lists, of_anything_but_objects_are_a_fault) {
  ListSplitter splitter;
  EXPECT_FALSE(splitter.feed(R"({"items":[1]})", [](std::string_view) { return true; }));
}

}  // namespace
}  // namespace stackgate::kube
