#include "services/kit/archive/entry_name.hpp"

#include <gtest/gtest.h>

namespace stackgate::archive {
namespace {

TEST(EntryNames, AreCleaned) {
  EXPECT_EQ(clean_name("./a//b/./c").value(), "a/b/c");
  EXPECT_EQ(clean_name("./").value(), "");
  EXPECT_FALSE(clean_name(std::string(256, 'a')));
  EXPECT_EQ(common_folder({"a/b", "a/c/d"}), "a/");
  EXPECT_EQ(common_folder({"a/b", "c"}), "");
}

}  // namespace
}  // namespace stackgate::archive
