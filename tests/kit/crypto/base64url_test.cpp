#include <string>

#include <gtest/gtest.h>

#include "services/kit/base/base64.hpp"

namespace {

using namespace stackgate;

TEST(Base64Url, UsesDashAndUnderscoreAndNoPadding) {
  EXPECT_EQ(base64::encode_url("\xfb\xff\xfe"), "-__-");
  EXPECT_EQ(base64::encode_url("a"), "YQ");
  EXPECT_EQ(base64::encode_url("ab"), "YWI");
  EXPECT_EQ(base64::encode_url(""), "");
}

TEST(Base64Url, ReadsBackWhatItWrites) {
  std::string bytes;
  for (int i = 0; i < 300; ++i) {
    EXPECT_EQ(base64::decode_url(base64::encode_url(bytes)), bytes);
    bytes += static_cast<char>(i * 37);
  }
}

TEST(Base64Url, RefusesEverySecondSpelling) {
  for (const char* text : {"YQ==", "YQ=", "=", "Y", "YR", "YWJ\n", "Y Q", "+__-", "/__-", "YQ.", "YWJjZ", "\xff\xff"})
    EXPECT_EQ(base64::decode_url(text), std::nullopt) << text;
}

}  // namespace
