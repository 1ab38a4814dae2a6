#include "services/kit/grammar/image.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stackgate::validate::grammar {
namespace {

using ::testing::HasSubstr;
const std::string digest = "sha256:" + std::string(64, 'a');

TEST(Image, IsTakenApart) {
  const std::string text = "registry.example.com:5000/team/app:1.0@" + digest;
  const auto image = parse_image(text);
  ASSERT_TRUE(image) << image.error().problem;
  EXPECT_EQ(image->registry, "registry.example.com:5000");
  EXPECT_EQ(image->repository, "team/app");
  EXPECT_EQ(image->tag, "1.0");
  EXPECT_EQ(image->digest, digest);
  EXPECT_EQ(parse_image("localhost:5000")->tag, "5000");
  EXPECT_EQ(parse_image("localhost/a")->registry, "localhost");
  EXPECT_EQ(parse_image("team/app")->registry, "");
}

TEST(Image, FollowsTheReferenceGrammar) {
  const std::vector<std::string> good{"a",
                                      "a/b",
                                      "a.b/c",
                                      "a__b",
                                      "a--b",
                                      "a---b",
                                      "a.b_c-d",
                                      "a:T",
                                      "a:_x",
                                      "localhost:5000/a:b",
                                      "Reg/a",
                                      "[::1]:5000/a",
                                      "10.0.0.1/a",
                                      "a@" + digest,
                                      "a:" + std::string(128, 'x'),
                                      std::string(255, 'a'),
                                      std::string(65, 'a')};
  for (const std::string& text : good)
    EXPECT_TRUE(parse_image(text)) << text << ": " << parse_image(text).error().problem;
  const std::vector<std::string> bad{"",
                                     " a",
                                     "a ",
                                     "A",
                                     "a/B",
                                     "a:",
                                     "a:.x",
                                     "a:-x",
                                     "a:" + std::string(129, 'x'),
                                     "a@",
                                     "a@sha256",
                                     "a@sha256:" + std::string(63, 'a'),
                                     "a@sha256:" + std::string(64, 'A'),
                                     "a@md5:" + std::string(32, 'a'),
                                     "http://a/b",
                                     "/a",
                                     "a/",
                                     "a//b",
                                     "a___b",
                                     "a..b",
                                     "a._b",
                                     "-a",
                                     "a-",
                                     "_a",
                                     "a_",
                                     "a b",
                                     "a:b:c",
                                     "a:b/c",
                                     "reg.io/",
                                     "reg.io:x/a",
                                     "reg.io:0/a",
                                     "10.0.0.300/a",
                                     "é",
                                     std::string(256, 'a'),
                                     std::string(64, 'a'),
                                     "a@" + digest + "@" + digest,
                                     "a\n",
                                     "-r.io/a",
                                     "r.io./a",
                                     "[::1/a",
                                     ":tag",
                                     "@" + digest};
  for (const std::string& text : bad) EXPECT_FALSE(parse_image(text)) << text;
}

TEST(Image, ProblemsSayWhatToWrite) {
  const std::pair<std::string, std::string_view> table[] = {{"nvcr.io/Team/App:1", "\"nvcr.io/team/app:1\""},
                                                            {"https://nvcr.io/a", "without the scheme"},
                                                            {"a@sha256:abc", "copy the whole digest"},
                                                            {"a:b c", "letters"}};
  for (const auto& [text, cure] : table) {
    const auto parsed = parse_image(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_THAT(parsed.error().fix, HasSubstr(std::string(cure))) << text << ": " << parsed.error().problem;
  }
}

TEST(ImageRepository, HasNoTagAndNoDigest) {
  EXPECT_FALSE(check_image_repository("nvcr.io/team/app"));
  EXPECT_FALSE(check_image_repository("reg:5000/app"));
  EXPECT_THAT(check_image_repository("nvcr.io/team/app:1.0")->fix, HasSubstr("\"nvcr.io/team/app\""));
  EXPECT_THAT(check_image_repository("app@" + digest)->problem, HasSubstr("digest"));
  EXPECT_TRUE(check_image_repository(""));
}

TEST(ImageTag, IsAWord) {
  for (const std::string& text : {std::string("1.0"), std::string("_"), std::string(128, 'a')})
    EXPECT_FALSE(check_image_tag(text)) << text;
  for (const std::string& text :
       {std::string(), std::string(".a"), std::string("-a"), std::string("a b"), std::string("a:b"),
        std::string(129, 'a'), std::string(":1"), std::string("a/b"), std::string("é")})
    EXPECT_TRUE(check_image_tag(text)) << text;
}

}  // namespace
}  // namespace stackgate::validate::grammar
