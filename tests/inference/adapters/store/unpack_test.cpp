#include "services/inference/adapters/unpack.hpp"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/kit/archive/tar_gz_writer.hpp"
#include "services/kit/crypto/digest.hpp"
#include "tests/inference/adapters/store/small_adapter.hpp"

namespace stackgate::inference {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

using Files = std::map<std::string, std::string>;

std::string packed(const Files& files) {
  std::string out;
  archive::TarGzWriter writer([&](std::string_view bytes) {
    out += bytes;
    return std::expected<void, std::string>();
  });
  for (const auto& [name, content] : files) {
    EXPECT_TRUE(writer.begin({name, content.size()}));
    EXPECT_TRUE(writer.data(content));
    EXPECT_TRUE(writer.end());
  }
  EXPECT_TRUE(writer.finish());
  return out;
}

archive::Source from(const std::string& bytes) {
  return
      [&bytes, at = std::size_t{0}](std::span<char> space) mutable -> std::expected<std::size_t, archive::ReadError> {
        const std::size_t count =
            std::string_view(bytes).substr(at).copy(space.data(), std::min<std::size_t>(space.size(), 1000));
        at += count;
        return count;
      };
}

AdapterDownload announced(const std::string& bytes) {
  return {.url = "x", .sha256 = crypto::to_hex(crypto::sha256(bytes)), .bytes = bytes.size()};
}

class Unpack : public ::testing::Test {
 protected:
  const Files files{{"adapter_config.json", test::small_adapter_config},
                    {"adapter_model.safetensors", test::small_adapter_weights()},
                    {"README.md", "# It"}};
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const auto& each : fs::directory_iterator(directory / ".")) out.push_back(each.path().filename());
    std::ranges::sort(out);
    return out;
  }
  stackgate::test::TempDir directory;
};

TEST_F(Unpack, takes_the_two_files_wherever_they_lie) {
  for (const std::string folder : {"", "my-adapter/"}) {
    Files moved;
    for (const auto& [name, content] : files) moved[folder + name] = content;
    moved[folder + "more/adapter_config.json"] = "{}";
    const std::string bytes = packed(moved);
    const stackgate::test::TempDir to;
    const auto done = unpack_adapter(from(bytes), to / ".", announced(bytes));
    ASSERT_TRUE(done) << done.error().reason;
    EXPECT_TRUE(check_against(test::small_base(), {})(to / "."));
    EXPECT_EQ(std::distance(fs::directory_iterator(to / "."), {}), 2);
  }
}

TEST_F(Unpack, other_bytes_than_announced_are_refused) {
  const std::string bytes = packed(files);
  AdapterDownload other = announced(bytes);
  other.sha256[0] = other.sha256[0] == '0' ? '1' : '0';
  const auto wrong = unpack_adapter(from(bytes), directory / ".", other);
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().reason, HasSubstr("SHA-256"));
  EXPECT_FALSE(wrong.error().passing);
  const stackgate::test::TempDir second;
  AdapterDownload fewer = announced(bytes);
  fewer.bytes = bytes.size() - 1;
  const auto more = unpack_adapter(from(bytes), second / ".", fewer);
  ASSERT_FALSE(more);
  EXPECT_THAT(more.error().reason, HasSubstr("more than"));
}

TEST_F(Unpack, what_is_cut_or_no_archive_is_refused) {
  const std::string bytes = packed(files);
  for (const std::string& part : {bytes.substr(0, bytes.size() / 2), std::string("<html>"), std::string()}) {
    const stackgate::test::TempDir to;
    const auto done = unpack_adapter(from(part), to / ".", {.url = "x"});
    EXPECT_FALSE(done);
  }
  const stackgate::test::TempDir to;
  const auto cut = unpack_adapter(from(bytes.substr(0, bytes.size() / 2)), to / ".", announced(bytes));
  ASSERT_FALSE(cut);
}

TEST_F(Unpack, without_its_files_it_is_no_adapter) {
  const std::string bytes = packed({{"README.md", "# It"}});
  const auto done = unpack_adapter(from(bytes), directory / ".", announced(bytes));
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().reason, HasSubstr("adapter"));
}

TEST_F(Unpack, a_source_that_breaks_off_may_pass) {
  const auto done = unpack_adapter(
      [](std::span<char>) -> std::expected<std::size_t, archive::ReadError> {
        return std::unexpected(archive::ReadError{true, "the connection broke"});
      },
      directory / ".", {.url = "x"});
  ASSERT_FALSE(done);
  EXPECT_TRUE(done.error().passing);
  EXPECT_THAT(done.error().reason, HasSubstr("the connection broke"));
}

}  // namespace
}  // namespace stackgate::inference
