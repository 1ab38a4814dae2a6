#include "services/kit/crypto/password.hpp"

#include <string>

#include <gtest/gtest.h>

namespace {

using namespace stackgate::crypto;

TEST(Password, VerifiesWhatItHashed) {
  const std::string stored = hash_password("correct horse");
  EXPECT_TRUE(stored.starts_with("$scrypt$ln=14,r=8,p=5$")) << stored;
  EXPECT_FALSE(stored.contains("correct"));
  EXPECT_TRUE(verify_password("correct horse", stored));
  EXPECT_FALSE(verify_password("correct horse ", stored));
  EXPECT_FALSE(verify_password("", stored));
  EXPECT_FALSE(needs_rehash(stored));
}

TEST(Password, HashesTheSameWordDifferentlyEachTime) { EXPECT_NE(hash_password("a"), hash_password("a")); }

TEST(Password, TakesEmptyAndBinaryWords) {
  const std::string binary("a\0b\xff", 4);
  EXPECT_TRUE(verify_password("", hash_password("")));
  EXPECT_TRUE(verify_password(binary, hash_password(binary)));
  EXPECT_FALSE(verify_password("a", hash_password(binary)));
}

// N=1024, r=8, p=16, "password"/"NaCl" of RFC 7914 section 12, its first 32 bytes; the salt is too short for us.
TEST(Password, RefusesASaltBelowEightBytes) {
  EXPECT_FALSE(
      verify_password("password", "$scrypt$ln=10,r=8,p=16$TmFDbA$/bq+HJ00cgB4VucZDQHp/nxq18vII4gw53N2Y0s3MWI"));
}

// From Python's hashlib.scrypt(b"password", salt=b"NaClNaCl", n=1024, r=8, p=1, dklen=32).
TEST(Password, AgreesWithAnotherImplementationAndAsksForARehash) {
  const std::string stored = "$scrypt$ln=10,r=8,p=1$TmFDbE5hQ2w$8wGlwXmNXS2n1KDaxmhQaPHcojxLhIixEr3YNcqC+84";
  EXPECT_TRUE(verify_password("password", stored));
  EXPECT_FALSE(verify_password("Password", stored));
  EXPECT_TRUE(needs_rehash(stored));
}

TEST(Password, RefusesStringsItCannotHaveWritten) {
  const std::string tail = "$TmFDbE5hQ2w$8wGlwXmNXS2n1KDaxmhQaPHcojxLhIixEr3YNcqC+84";
  for (const std::string& stored :
       {std::string(), std::string("password"), "$scrypt$" + tail, "$scrypt$ln=30,r=8,p=1" + tail,
        "$scrypt$ln=10,r=1000,p=1" + tail, "$scrypt$ln=10,r=8,p=99" + tail, "$scrypt$ln=0,r=8,p=1" + tail,
        "$scrypt$ln=-1,r=8,p=1" + tail, "$scrypt$ln=10,r=8,p=1,x=1" + tail, "$scrypt$ln=10,r=8,p=1" + tail + "=",
        std::string("$scrypt$ln=10,r=8,p=1$TmFDbE5hQ2w$"), std::string("$scrypt$ln=10,r=8,p=1$TmFDbE5hQ2w"),
        std::string("$scrypt$ln=99999999999999,r=8,p=1$TmFDbE5hQ2w$AAAA"), "$argon2id$ln=10,r=8,p=1" + tail})
    EXPECT_FALSE(verify_password("password", stored)) << stored;
}

}  // namespace
