#include "services/kit/crypto/hash_beside.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "services/kit/crypto/digest.hpp"

namespace {

using namespace stackgate::crypto;

std::string numbers(std::size_t size) {
  std::string out(size, '\0');
  unsigned state = 1;
  for (char& c : out) c = static_cast<char>((state = state * 1664525U + 1013904223U) >> 24U);
  return out;
}

/// In pieces of `step` bytes; `read_back` is what the pieces held when the next was asked for.
std::string hashed(std::string_view text, std::size_t piece, unsigned pieces, std::size_t step,
                   std::string* read_back = nullptr) {
  HashBeside hash(piece, pieces);
  while (!text.empty()) {
    const std::span<char> space = hash.space();
    const std::size_t size = std::min({text.size(), space.size(), step});
    std::ranges::copy(text.substr(0, size), space.begin());
    hash.add(size);
    if (read_back != nullptr) read_back->append(space.data(), size);
    text.remove_prefix(size);
  }
  return to_hex(hash.finish());
}

TEST(HashBeside, GivesTheHashOfAllPiecesWhateverTheirNumber) {
  for (const std::size_t size : {0UZ, 1UZ, 99UZ, 100UZ, 101UZ, 200UZ, 201UZ, 100'000UZ}) {
    const std::string text = numbers(size);
    for (const unsigned pieces : {0U, 2U, 3U, 7U})
      for (const std::size_t step : {100UZ, 37UZ})
        EXPECT_EQ(hashed(text, 100, pieces, step), to_hex(sha256(text))) << size << " in " << pieces << " by " << step;
  }
}

TEST(HashBeside, KeepsTheLastPieceReadableWhileItIsHashed) {
  const std::string text = numbers(3'000'000);
  std::string read_back;
  EXPECT_EQ(hashed(text, 4096, 2, 4096, &read_back), to_hex(sha256(text)));
  EXPECT_TRUE(read_back == text);
}

TEST(HashBeside, HoldsNoMoreThanItsPieces) {
  HashBeside hash(4096, 3);
  const char* first = hash.space().data();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(hash.space().size(), 4096U);
    hash.add(4096);
  }
  EXPECT_EQ(hash.space().data(), first);
}

TEST(HashBeside, MayBeDroppedAtAnyTime) {
  for (int adds = 0; adds < 20; ++adds) {
    HashBeside hash(64 * 1024, 3);
    for (int i = 0; i < adds; ++i) {
      std::ranges::fill(hash.space(), 'x');
      hash.add(64 * 1024);
    }
  }
}

}  // namespace
