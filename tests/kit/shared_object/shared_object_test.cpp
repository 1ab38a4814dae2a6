#include "services/kit/shared_object/shared_object.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/kit/shared_object/opened.hpp"

namespace stackgate::shared_object {
namespace {

using testing::HasSubstr;

std::string problem_of(const std::string& path) {
  const auto out = open<test::OpenedEntry>(path);
  return out ? "" : out.error();
}

TEST(SharedObject, gives_its_entry) {
  const std::string path = default_path("opened-this-build.so");
  for (int i = 0; i < 2; ++i) {
    const auto entry = open<test::OpenedEntry>(path);
    ASSERT_TRUE(entry) << entry.error();
    EXPECT_EQ((*entry)->twice(21), 42);
  }
}

TEST(SharedObject, is_refused_in_words) {
  EXPECT_THAT(problem_of("/nowhere/part.so"), HasSubstr("a part of this program cannot be loaded: /nowhere/part.so"));
  const std::string other = default_path("opened-other-build.so");
  EXPECT_EQ(problem_of(other),
            other + " is of another build (0.0.0, another compiler) than this program (" + build() + ")");
  EXPECT_THAT(problem_of(default_path("opened-no-entry.so")), HasSubstr("is no part of this program"));
}

TEST(SharedObject, lies_beside_the_program_or_in_lib) {
  EXPECT_THAT(default_path("opened-this-build.so"), testing::EndsWith("/bin/opened-this-build.so"));
  EXPECT_THAT(default_path("not-there.so"), testing::EndsWith("/bin/../lib/stackgate/not-there.so"));
}

}  // namespace
}  // namespace stackgate::shared_object
