#include "services/datastore/git/lfs_pointer.hpp"

#include <gtest/gtest.h>

namespace stackgate::datastore::git {
namespace {

const std::string sixty_four(64, 'a');

TEST(LfsPointers, AreReadAsTheyAreWritten) {
  const auto read = parse_lfs_pointer(format_lfs_pointer(sixty_four, 12345));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->oid, sixty_four);
  EXPECT_EQ(read->size, 12345U);
  EXPECT_EQ(read->pointer_size, format_lfs_pointer(sixty_four, 12345).size());
}

TEST(LfsPointers, MayHaveExtensionsAndCarriageReturns) {
  EXPECT_TRUE(parse_lfs_pointer("version https://git-lfs.github.com/spec/v1\next-0-foo sha256:" + sixty_four +
                                "\noid sha256:" + sixty_four + "\r\nsize 1\r\n"));
}

TEST(LfsPointers, AreNothingElse) {
  const std::string version = "version https://git-lfs.github.com/spec/v1\n";
  for (const std::string& text :
       {std::string{}, version, version + "oid sha256:" + sixty_four + "\n", version + "size 1\n",
        version + "oid sha256:" + sixty_four + "\nsize -1\n", version + "oid sha256:" + sixty_four + "\nsize 1x\n",
        version + "oid sha256:" + std::string(63, 'a') + "\nsize 1\n",
        version + "oid sha256:" + std::string(64, 'A') + "\nsize 1\n", version + "oid md5:" + sixty_four + "\nsize 1\n",
        version + "oid sha256:" + sixty_four + "\nsize 1\nsize 2\n", "oid sha256:" + sixty_four + "\nsize 1\n",
        format_lfs_pointer(sixty_four, 1) + std::string(1024, 'x'), format_lfs_pointer(sixty_four, 1) + "rubbish\n"})
    EXPECT_FALSE(parse_lfs_pointer(text)) << text;
}

}  // namespace
}  // namespace stackgate::datastore::git
