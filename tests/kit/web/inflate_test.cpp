#include "services/kit/web/inflate.hpp"

#include <gtest/gtest.h>

#include "services/kit/web/body_adapters.hpp"
#include "tests/kit/web/gzip.hpp"

namespace stackgate::web {
namespace {

using test::gzip;

std::string noise(std::size_t size) {
  std::string text(size, '\0');
  std::uint64_t state = 1;
  for (char& c : text) c = static_cast<char>((state = state * 6364136223846793005U + 1442695040888963407U) >> 56U);
  return text;
}

TEST(Inflate, GivesWhatWasPacked) {
  for (const std::string& text : {std::string(), std::string("a"), std::string(100'000, 'x'), noise(300'000)})
    EXPECT_EQ(inflate(gzip(text), {}).value_or("failed"), text);
  EXPECT_EQ(inflate(gzip("one ") + gzip("two"), {}).value_or("failed"), "one two");
  EXPECT_EQ(inflate("", {}).value_or("failed"), "");
}

TEST(Inflate, RefusesWhatIsBroken) {
  const std::string good = gzip(noise(1000));
  std::string wrong_sum = good;
  wrong_sum[wrong_sum.size() - 6] = static_cast<char>(wrong_sum[wrong_sum.size() - 6] + 1);
  for (const std::string& text : {std::string("plain text"), good.substr(0, 500), good.substr(0, 5),
                                  good.substr(0, good.size() - 1), wrong_sum, good + "trailing"}) {
    const auto got = inflate(text, {});
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().status, 400) << got.error().error.message;
  }
}

TEST(Inflate, StopsAtTheLimit) {
  EXPECT_TRUE(inflate(gzip(noise(1000)), {.bytes = 1000}));
  EXPECT_EQ(inflate(gzip(noise(1001)), {.bytes = 1000}).error().status, 413);
}

TEST(Inflate, StopsABomb) {
  const std::string bomb = gzip(std::string(64 * 1024 * 1024, '\0'));
  const auto got = inflate(bomb, {});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().status, 413);
  EXPECT_TRUE(inflate(gzip(std::string(1024 * 1024, '\0')), {})) << "what is small may be as dense as it likes";
}

TEST(InflatingReader, ReadsInPieces) {
  const std::string text = noise(200'000);
  const std::string packed = gzip(text) + gzip("end");
  for (const std::size_t space : {1U, 7U, 4096U, 1'000'000U}) {
    WholeReader whole(packed);
    InflatingReader reader(whole, {});
    std::string out, part(space, '\0');
    for (;;) {
      const auto got = reader.read(part);
      ASSERT_TRUE(got) << got.error().error.message;
      if (*got == 0) break;
      out.append(part, 0, *got);
    }
    EXPECT_EQ(out, text + "end");
  }
  WholeReader cut(std::string_view(packed).substr(0, 1000));
  InflatingReader reader(cut, {});
  std::string part(1'000'000, '\0');
  auto got = reader.read(part);
  while (got && *got > 0) got = reader.read(part);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().status, 400);
}

}  // namespace
}  // namespace stackgate::web
