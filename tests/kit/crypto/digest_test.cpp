#include "services/kit/crypto/digest.hpp"

#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace {

using namespace stackgate::crypto;

TEST(Digest, GivesThePublishedSha256Values) {  // FIPS 180-4 examples
  EXPECT_EQ(to_hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(to_hex(sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(to_hex(sha256(std::string(1'000'000, 'a'))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Digest, GivesThePublishedSha1Values) {
  EXPECT_EQ(to_hex(sha1("abc")), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(to_hex(sha1("")), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
}

TEST(Digest, GivesTheSameInPiecesOfAnySize) {
  const std::string text(10'000, 'x');
  for (const std::size_t piece : {1UZ, 63UZ, 64UZ, 65UZ, 9'999UZ, 10'000UZ}) {
    Sha256Stream stream;
    for (std::size_t at = 0; at < text.size(); at += piece) stream.add(std::string_view(text).substr(at, piece));
    EXPECT_EQ(stream.finish(), sha256(text)) << piece;
    Sha1Stream shorter;
    for (std::size_t at = 0; at < text.size(); at += piece) shorter.add(std::string_view(text).substr(at, piece));
    EXPECT_EQ(shorter.finish(), sha1(text)) << piece;
  }
}

TEST(Digest, KeepsTheStateOfAStreamThatMoves) {
  Sha256Stream first;
  first.add("a");
  Sha256Stream second = std::move(first);
  second.add("bc");
  EXPECT_EQ(second.finish(), sha256("abc"));
}

TEST(Digest, GivesTheHmacValuesOfRfc4231) {
  EXPECT_EQ(to_hex(hmac_sha256(std::string(20, '\x0b'), "Hi There")),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(to_hex(hmac_sha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(to_hex(hmac_sha256(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(Digest, DoesNotUseTheLastKeyForAnEmptyOne) {
  (void)hmac_sha256("another key", "text");
  EXPECT_EQ(to_hex(hmac_sha256(std::string_view(), "")),
            "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}

TEST(Digest, ServesManyThreadsAtOnce) {
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (std::size_t t = 0; t < wrong.size(); ++t)
    threads.emplace_back([&wrong, t] {
      const std::string mine(100 + t, static_cast<char>('a' + t));
      const Sha256 digest = sha256(mine);
      const Sha256 mac = hmac_sha256(mine, mine);
      for (int i = 0; i < 2'000; ++i) wrong[t] += sha256(mine) != digest || hmac_sha256(mine, mine) != mac ? 1 : 0;
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4));
}

TEST(Random, NeverGivesTheSameTwice) {
  std::set<std::string> seen;
  for (int i = 0; i < 1'000; ++i) seen.insert(random_bytes(16));
  EXPECT_EQ(seen.size(), 1'000U);
  EXPECT_EQ(random_bytes(0), "");
}

TEST(ConstantTime, TellsEqualFromDifferent) {
  EXPECT_TRUE(equal_in_constant_time("", ""));
  EXPECT_TRUE(equal_in_constant_time("secret", "secret"));
  EXPECT_FALSE(equal_in_constant_time("secret", "secreT"));
  EXPECT_FALSE(equal_in_constant_time("Secret", "secret"));
  EXPECT_FALSE(equal_in_constant_time("secret", "secrets"));
  EXPECT_FALSE(equal_in_constant_time("secret", ""));
}

}  // namespace
