#include "services/kit/web/paging.hpp"

#include <array>

#include <gtest/gtest.h>

namespace stackgate::web {
namespace {

TEST(Paging, ReadsAPage) {
  const struct {
    std::string_view query;
    std::uint64_t number, size;  // 0: refused
  } cases[] = {
      {"", 1, 10},
      {"page=3", 3, 10},
      {"page=3&page_size=25", 3, 25},
      {"page_size=1000", 1, 100},
      {"page=", 1, 10},
      {"page=0", 0, 0},
      {"page=-1", 0, 0},
      {"page=1.5", 0, 0},
      {"page=x", 0, 0},
      {"page_size=0", 0, 0},
      {"page=%201", 0, 0},
      {"page=99999999999999999999", 0, 0},
      {"page=2147483647", 2147483647, 10},
      {"page=2147483648", 0, 0},
  };
  for (const auto& each : cases) {
    const auto page = read_page(Query::parse(each.query), nemo_pages, 10, 100);
    ASSERT_EQ(page.has_value(), each.number != 0) << each.query;
    if (!page) {
      EXPECT_EQ(page.error().status, 422);
      continue;
    }
    EXPECT_EQ(page->number, each.number) << each.query;
    EXPECT_EQ(page->size, each.size) << each.query;
  }
  EXPECT_EQ((Page{3, 25}.offset()), 50U);
  EXPECT_EQ(read_page(Query::parse("page=2&limit=7"), gitea_pages, 30, 50)->size, 7U);
  EXPECT_EQ(*read_limit(Query::parse("limit=500"), 20, 100), 100U);
  EXPECT_FALSE(read_limit(Query::parse("limit=many"), 20, 100));
}

TEST(Paging, ReadsASortOrder) {
  constexpr std::array<std::string_view, 2> fields{"created_at", "name"};
  const Sort fallback{"created_at", true};
  EXPECT_EQ(read_sort(Query::parse(""), fields, fallback)->field, "created_at");
  EXPECT_TRUE(read_sort(Query::parse(""), fields, fallback)->descending);
  EXPECT_EQ(read_sort(Query::parse("sort=name"), fields, fallback)->field, "name");
  EXPECT_FALSE(read_sort(Query::parse("sort=name"), fields, fallback)->descending);
  EXPECT_TRUE(read_sort(Query::parse("sort=-name"), fields, fallback)->descending);
  const auto wrong = read_sort(Query::parse("sort=password"), fields, fallback);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message,
            "the parameter sort must be one of created_at, name; a leading - reverses the order");
}

TEST(Paging, WritesNeMosEnvelope) {
  const auto written = [](Page page, std::uint64_t here, std::uint64_t total) {
    std::string out;
    json::Writer w(out);
    w.object([&] { write_pagination(w, page, here, total); });
    return out;
  };
  EXPECT_EQ(written({2, 10}, 3, 13),
            R"({"pagination":{"page":2,"page_size":10,"current_page_size":3,"total_pages":2,"total_results":13}})");
  EXPECT_EQ(written({1, 10}, 0, 0),
            R"({"pagination":{"page":1,"page_size":10,"current_page_size":0,"total_pages":0,"total_results":0}})");
}

TEST(Paging, WritesGiteasHeaders) {
  const auto links = [](std::string_view query, Page page, std::uint64_t total) {
    Headers headers;
    add_page_headers(headers, "http://h/api/v1/repos", Query::parse(query), gitea_pages, page, total);
    EXPECT_EQ(headers[0], std::pair(std::string("X-Total-Count"), std::to_string(total)));
    return headers.size() > 1 ? headers[1].second : std::string();
  };
  EXPECT_EQ(links("limit=10&q=a%26b", {2, 10}, 35),
            "<http://h/api/v1/repos?limit=10&q=a%26b&page=3>; rel=\"next\","
            "<http://h/api/v1/repos?limit=10&q=a%26b&page=4>; rel=\"last\","
            "<http://h/api/v1/repos?limit=10&q=a%26b&page=1>; rel=\"first\","
            "<http://h/api/v1/repos?limit=10&q=a%26b&page=1>; rel=\"prev\"");
  EXPECT_EQ(links("page=1", {1, 10}, 20),
            "<http://h/api/v1/repos?page=2>; rel=\"next\",<http://h/api/v1/repos?page=2>; rel=\"last\"");
  EXPECT_EQ(links("", {1, 10}, 10), "");
  EXPECT_EQ(links("", {1, 10}, 0), "");
  // A page behind the end leads back to the last one.
  EXPECT_EQ(links("page=9", {9, 10}, 20),
            "<http://h/api/v1/repos?page=1>; rel=\"first\",<http://h/api/v1/repos?page=2>; rel=\"prev\"");
}

TEST(Paging, WritesANextLinkWithACursor) {
  Headers headers;
  add_next_link(headers, "http://h/v1/hf/api/models", Query::parse("limit=2&cursor=old&cursor=x"), "cursor", "a/b=");
  EXPECT_EQ(headers[0].second, "<http://h/v1/hf/api/models?limit=2&cursor=a%2Fb%3D>; rel=\"next\"");
}

}  // namespace
}  // namespace stackgate::web
