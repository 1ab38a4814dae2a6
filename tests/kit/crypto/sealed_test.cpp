#include "services/kit/crypto/sealed.hpp"

#include <gtest/gtest.h>

namespace stackgate::crypto {
namespace {

TEST(SealedSecrets, open_under_their_key_and_place_alone) {
  for (const std::string secret : {"local-0123", "", "a"}) {
    const std::string sealed = seal("key", secret, "place");
    EXPECT_EQ(open_sealed("key", sealed, "place"), secret);
    EXPECT_FALSE(open_sealed("other", sealed, "place"));
    EXPECT_FALSE(open_sealed("key", sealed, "elsewhere"));
    EXPECT_NE(seal("key", secret, "place"), sealed) << "no two are alike";
  }
  EXPECT_EQ(seal("key", "local-0123", "place").find("local"), std::string::npos);
}

TEST(SealedSecrets, that_were_changed_stay_shut) {
  const std::string sealed = seal("key", "secret", "place");
  for (std::size_t i = 0; i < sealed.size(); ++i) {
    std::string changed = sealed;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    // Spare bits of base64 are nothing of the bytes.
    EXPECT_EQ(open_sealed("key", changed, "place").value_or("secret"), "secret");
  }
  for (const char* wrong : {"", "?", "AAAA"}) EXPECT_FALSE(open_sealed("key", wrong, "place"));
}

}  // namespace
}  // namespace stackgate::crypto
