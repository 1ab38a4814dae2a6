#include "services/kit/base/out_of_space.hpp"

#include <cerrno>

#include <gtest/gtest.h>

namespace stackgate {
namespace {

TEST(OutOfSpace, IsTheDiskTheQuotaAndTheLargestFile) {
  for (const int number : {ENOSPC, EDQUOT, EFBIG}) EXPECT_TRUE(is_out_of_space(number)) << number;
  for (const int number : {0, EIO, ENOENT, EACCES, EROFS, ENOMEM}) EXPECT_FALSE(is_out_of_space(number)) << number;
}

TEST(OutOfSpace, IsFoundInWhatProgramsReport) {
  EXPECT_TRUE(reports_out_of_space("fatal: write error: No space left on device\n"));
  EXPECT_TRUE(reports_out_of_space("error: unable to write file: Disk quota exceeded"));
  EXPECT_TRUE(reports_out_of_space("cannot write: File too large"));
  for (const char* text : {"", "Permission denied", "no space in a name", "Input/output error"})
    EXPECT_FALSE(reports_out_of_space(text)) << text;
}

}  // namespace
}  // namespace stackgate
