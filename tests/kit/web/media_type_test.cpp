#include "services/kit/web/media_type.hpp"

#include <gtest/gtest.h>

namespace stackgate::web {
namespace {

TEST(MediaType, ComparesTheTypeAlone) {
  EXPECT_EQ(media_type("Application/JSON; charset=utf-8"), "application/json");
  EXPECT_TRUE(is_media_type("application/vnd.git-lfs+json; charset=utf-8", "application/vnd.git-lfs+json"));
  EXPECT_TRUE(is_media_type(" text/plain ", "text/PLAIN"));
  EXPECT_FALSE(is_media_type("text/plainer", "text/plain"));
  EXPECT_FALSE(is_media_type("", "text/plain"));
  EXPECT_TRUE(is_json_type("application/json"));
  EXPECT_TRUE(is_json_type("application/vnd.git-lfs+json;charset=utf-8"));
  EXPECT_FALSE(is_json_type("application/x-ndjson"));
  EXPECT_FALSE(is_json_type("+json"));
  EXPECT_FALSE(is_json_type("text/plain; x=+json"));
}

TEST(MediaType, FindsParameters) {
  const struct {
    std::string_view type, name;
    std::optional<std::string> expected;
  } cases[] = {
      {"a/b; boundary=x", "boundary", "x"},
      {"a/b;Boundary=x;y=z", "boundary", "x"},
      {"a/b; x=\"1;2\"; boundary=\"a b\"", "boundary", "a b"},
      {"a/b; name=\"q\\\"q\\\\\"", "name", "q\"q\\"},
      {"a/b; name=\"open", "name", {}},
      {"a/b; name=\"a\"b", "name", {}},
      {"a/b; name=", "name", {}},
      {"a/b; name=a b", "name", {}},
      {"a/b", "name", {}},
      {"form-data; name=\"adapter\"; filename=\"\"", "filename", ""},
      {"form-data; filename=\"name=\\\"x\\\"\"; name=y", "name", "y"},
  };
  for (const auto& each : cases) EXPECT_EQ(media_parameter(each.type, each.name), each.expected) << each.type;
}

TEST(MediaType, KnowsWhatAcceptTakes) {
  const struct {
    std::string_view accept, type;
    bool expected;
  } cases[] = {
      {"", "a/b", true},
      {"*/*", "a/b", true},
      {"a/*", "a/b", true},
      {"A/B", "a/b", true},
      {"a/c", "a/b", false},
      {"a/c, a/b;q=0.1", "a/b", true},
      {"a/b;q=0", "a/b", false},
      {"*/*, a/b;q=0", "a/b", false},
      {"a/b;q=0.000, */*", "a/b", false},
      {"a/*;q=0, a/b", "a/b", true},
      {"text/html, */*;q=0.8", "application/json", true},
      {"application/vnd.git-lfs+json; charset=utf-8", "application/vnd.git-lfs+json", true},
      {"ab/*", "a/b", false},
      {",,", "a/b", false},
  };
  for (const auto& each : cases) EXPECT_EQ(accepts(each.accept, each.type), each.expected) << each.accept;
}

}  // namespace
}  // namespace stackgate::web
