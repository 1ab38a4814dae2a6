#include "services/datastore/pages/part_reader.hpp"

#include <gtest/gtest.h>

namespace stackgate::datastore::pages {
namespace {

const std::string body =
    "--B\r\nContent-Disposition: form-data; name=\"token\"\r\n\r\nsecret\r\n"
    "--B\r\nContent-Disposition: form-data; name=\"files\"; filename=\"a.txt\"\r\n\r\n\r\n"
    "--B\r\nContent-Disposition: form-data; name=\"files\"; filename=\"b.bin\"\r\n\r\nline\r\n--no\r\n--B--\r\n";

PartReader reader_of(const std::string& text, std::size_t piece, std::size_t& at) {
  return {"B",
          [&text, piece, &at](std::span<char> space) -> std::expected<std::size_t, http::BodyError> {
            const std::size_t count = std::min({piece, space.size(), text.size() - at});
            std::copy_n(text.data() + at, count, space.data());
            at += count;
            return count;
          },
          {}};
}

TEST(PartReader, HandsOutPartsWhateverThePiecesAre) {
  for (const std::size_t piece : {1UZ, 2UZ, 7UZ, 64UZ, 10'000UZ}) {
    std::size_t at = 0;
    PartReader reader = reader_of(body, piece, at);
    auto head = reader.next();
    ASSERT_TRUE(head && *head);
    EXPECT_EQ((*head)->name, "token");
    EXPECT_EQ(reader.read_all(100), "secret");
    head = reader.next();
    EXPECT_EQ((*head)->file_name, "a.txt");
    EXPECT_EQ(reader.read_all(100), "");
    EXPECT_EQ(reader.read_all(100), "") << "the end stays";
    head = reader.next();
    EXPECT_EQ((*head)->file_name, "b.bin");
    EXPECT_EQ(reader.read_all(100), "line\r\n--no");
    head = reader.next();
    EXPECT_TRUE(head && !*head);
  }
}

TEST(PartReader, PassesOverWhatNobodyRead) {
  std::size_t at = 0;
  PartReader reader = reader_of(body, 5, at);
  (void)reader.next();
  const auto head = reader.next();
  ASSERT_TRUE(head && *head);
  EXPECT_EQ((*head)->file_name, "a.txt");
}

TEST(PartReader, RefusesLongFieldsAndBrokenBodies) {
  std::size_t at = 0;
  PartReader reader = reader_of(body, 100, at);
  (void)reader.next();
  EXPECT_EQ(reader.read_all(3).error().status, 413);
  const std::string cut = body.substr(0, body.size() - 12);
  at = 0;
  PartReader short_one = reader_of(cut, 10, at);
  for (;;) {
    const auto head = short_one.next();
    if (head && *head) continue;
    ASSERT_FALSE(head) << "a part must not look like the whole";
    EXPECT_EQ(head.error().status, 400);
    break;
  }
}

}  // namespace
}  // namespace stackgate::datastore::pages
