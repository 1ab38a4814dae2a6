#include "services/kit/base/semantic_version.hpp"

#include <gtest/gtest.h>

namespace stackgate {
namespace {

TEST(SemanticVersions, AreReadByTheGrammar) {
  for (const char* good : {"0.0.0", "1.2.3", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-0.3.7", "1.0.0-x-y-z.--",
                           "1.0.0+001", "1.0.0-beta+exp.sha.5114f85", "18446744073709551615.0.0"})
    EXPECT_TRUE(parse_semantic_version(good)) << good;
  for (const char* bad :
       {"", "1", "1.2", "1.2.3.4", "v1.2.3", "01.2.3", "1.2.03", "1.2.3-", "1.2.3-01", "1.2.3-a..b", "1.2.3+",
        "1.2.3+a+b", "1.2.3-ä", "18446744073709551616.0.0", "1.-2.3", " 1.2.3", "1.2.3-a/b"})
    EXPECT_FALSE(parse_semantic_version(bad)) << bad;
  EXPECT_FALSE(parse_semantic_version("1.0.0-" + std::string(60, 'a')));
}

TEST(SemanticVersions, ComeInTheOrderOfTheirPrecedence) {
  const char* const order[] = {"0.9.9",        "1.0.0-1",       "1.0.0-2",          "1.0.0-10",
                               "1.0.0-alpha",  "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta",
                               "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1",       "1.0.0",
                               "1.0.1",        "1.2.0",         "1.10.0",           "2.0.0"};
  for (std::size_t i = 0; i < std::size(order); ++i)
    for (std::size_t j = 0; j < std::size(order); ++j)
      EXPECT_EQ(compare(*parse_semantic_version(order[i]), *parse_semantic_version(order[j])), i <=> j)
          << order[i] << " " << order[j];
  EXPECT_EQ(compare(*parse_semantic_version("1.0.0+a"), *parse_semantic_version("1.0.0+b")),
            std::strong_ordering::equal);
}

}  // namespace
}  // namespace stackgate
