#include "services/kit/archive/tar_gz.hpp"

#include <algorithm>
#include <map>

#include <gmock/gmock.h>

#include "tests/kit/archive/held.hpp"
#include "tests/kit/archive/pack.hpp"

namespace stackgate::archive {
namespace {

using pack::gzip;
using pack::tar;
using pack::tar_gz;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using namespace std::string_view_literals;

Outcome read(const std::string& packed, Held& held, const TarLimits& limits = {}, std::size_t piece = 100'000) {
  return read_tar_gz(source_of(packed, piece), held, limits);
}

TEST(Archive, GivesItsFilesWhateverThePiecesTheyComeIn) {
  const std::string big(700'000, 'x');
  const std::string packed = tar_gz({{"./", "", '5'}, {"./dir/", "", '5'}, {"./dir/a.json", "{}"}, {"dir//b", big}});
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{511}, packed.size()}) {
    Held held;
    const Outcome outcome = read(packed, held, {}, piece);
    EXPECT_THAT(outcome.findings, IsEmpty());
    EXPECT_FALSE(outcome.failed);
    EXPECT_THAT(held.files, ElementsAre(Pair("dir/a.json", "{}"), Pair("dir/b", big)));
    EXPECT_EQ(outcome.packed, packed.size());
  }
}

TEST(Archive, LeavesOutWhatToolsDropIntoFolders) {
  Held held;
  const Outcome outcome =
      read(tar_gz({{"a/._w", "x"}, {"a/.git/config", "x"}, {"a/.ds_store", "x"}, {"a/w", "y"}}), held);
  EXPECT_THAT(held.files, ElementsAre(Pair("a/w", "y")));
  EXPECT_THAT(outcome.litter, ElementsAre("a/._w", "a/.git/config", "a/.ds_store"));
}

TEST(Archive, ReadsLongNamesFromPaxHeadersAndSeveralGzipMembers) {
  const std::string name = std::string(150, 'n') + "é";
  const std::string body = fmt::format("path={}\n", name);
  const std::size_t length = body.size() + 4;
  const std::string text = tar({{"PaxHeader", fmt::format("{} {}", length, body), 'x'}, {"short", "data"}});
  Held held;
  const Outcome outcome = read(gzip(text.substr(0, 700)) + gzip(text.substr(700)), held);
  EXPECT_THAT(outcome.findings, IsEmpty());
  EXPECT_THAT(held.files, ElementsAre(Pair(name, "data")));
}

struct Bad {
  const char* says;
  std::string packed;
  const char* rule;
  const char* problem;
};

class BadArchives : public testing::TestWithParam<Bad> {};

TEST_P(BadArchives, AreRefusedWithAReason) {
  Held held;
  const Outcome outcome = read(GetParam().packed, held);
  EXPECT_FALSE(outcome.failed);
  ASSERT_THAT(outcome.findings, testing::Not(IsEmpty()));
  EXPECT_EQ(outcome.findings[0].rule, GetParam().rule);
  EXPECT_THAT(outcome.findings[0].problem, HasSubstr(GetParam().problem));
  for (const auto& [name, data] : held.files) EXPECT_THAT(name, testing::Not(HasSubstr("..")));
}

std::string damaged(std::string packed, std::size_t from_end) {
  packed[packed.size() - from_end] = static_cast<char>(packed[packed.size() - from_end] ^ 0x55);
  return packed;
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadArchives,
    testing::Values(
        Bad{"Absolute", tar_gz({{"/etc/passwd", "x"}}), "adapter-archive-name", "absolute"},
        Bad{"DotDot", tar_gz({{"a/../../b", "x"}}), "adapter-archive-name", "\"..\""},
        Bad{"Backslash", tar_gz({{"a\\..\\b", "x"}}), "adapter-archive-name", "backslash"},
        Bad{"Drive", tar_gz({{"c:/b", "x"}}), "adapter-archive-name", "drive"},
        Bad{"ControlCharacter", tar_gz({{"a\nb", "x"}}), "adapter-archive-name", "control character"},
        Bad{"NoUtf8", tar_gz({{"a\xff", "x"}}), "adapter-archive-name", "UTF-8"},
        Bad{"Symlink", tar_gz({{"a", "", '2', "/etc/passwd"}}), "adapter-archive-link", "is a link"},
        Bad{"Hardlink", tar_gz({{"a", "", '1', "b"}}), "adapter-archive-link", "is a link"},
        Bad{"Device", tar_gz({{"a", "", '3'}}), "adapter-archive-device", "device"},
        Bad{"Pipe", tar_gz({{"a", "", '6'}}), "adapter-archive-device", "pipe"},
        Bad{"Twice", tar_gz({{"a", "1"}, {"./a", "2"}}), "adapter-archive-duplicate", "twice"},
        Bad{"FileAndFolder", tar_gz({{"a", "1"}, {"a/b", "2"}}), "adapter-archive-duplicate", "file and a folder"},
        Bad{"FolderAndFile", tar_gz({{"a/b", "1"}, {"a", "2"}}), "adapter-archive-duplicate", "file and a folder"},
        Bad{"Empty", "", "adapter-archive-gzip", "is empty"},
        Bad{"PlainTar", tar({{"a", "x"}}), "adapter-archive-gzip", "tar archive that is not compressed"},
        Bad{"Zip", "PK\x03\x04more", "adapter-archive-gzip", "zip"},
        Bad{"Xz",
            "\xfd"
            "7zXZ more",
            "adapter-archive-gzip", "xz"},
        Bad{"NoTar", gzip("hello"), "adapter-archive-tar", "no whole tar"},
        Bad{"EmptyTar", gzip(""), "adapter-archive-tar", "no whole tar"},
        Bad{"Cut", tar_gz({{"a", std::string(5000, 'x')}}).substr(0, 60), "adapter-archive-gzip", "in the middle"},
        Bad{"CutTar", gzip(tar({{"a", std::string(5000, 'x')}}).substr(0, 1500)), "adapter-archive-tar", "Truncated"},
        Bad{"WrongChecksum", damaged(tar_gz({{"a", "x"}}), 6), "adapter-archive-gzip", "damaged"},
        Bad{"WrongLength", damaged(tar_gz({{"a", "x"}}), 2), "adapter-archive-gzip", "damaged"},
        Bad{"TextBehindGzip", tar_gz({{"a", "x"}}) + "more", "adapter-archive-gzip", "behind the end"}),
    [](const auto& each) { return std::string(each.param.says); });

TEST(Archive, TellsEveryBadEntryOnce) {
  Held held;
  const Outcome outcome =
      read(tar_gz({{"/a", "x"}, {"../b", "x"}, {"c", "", '2', "d"}, {"good", "y"}, {"good", "z"}}), held);
  EXPECT_EQ(outcome.findings.size(), 4U);
  EXPECT_THAT(held.files, ElementsAre(Pair("good", "y")));
}

TEST(Archive, StopsAtItsLimits) {
  Held held;
  const std::string many = tar_gz({{"a", "x"}, {"b", "x"}, {"c", "x"}});
  TarLimits limits;
  limits.entries = 2;
  EXPECT_EQ(read(many, held, limits).findings.at(0).rule, "adapter-archive-entries");
  limits = {};
  limits.gunzip.bytes = 2000;
  EXPECT_THAT(read(many, held, limits).findings.at(0).problem, HasSubstr("more than 2000 bytes"));
}

TEST(Archive, RefusesABombByItsRatioBeforeItIsUnpacked) {
  const std::string bomb = tar_gz({{"a", std::string(8'000'000, '\0')}});
  Held held;
  TarLimits limits;
  EXPECT_THAT(read(bomb, held, limits).findings, IsEmpty());  // small enough not to matter
  limits.gunzip.free = 1'000'000;
  Held second;
  const Outcome outcome = read(bomb, second, limits);
  EXPECT_THAT(outcome.findings.at(0).problem, HasSubstr("200 times"));
  EXPECT_LT(second.files["a"].size(), 2'000'000U);
}

TEST(Archive, TellsAFullDiskAndABrokenConnectionFromABadArchive) {
  Held held;
  held.fail_on = "a";
  const Outcome full = read(tar_gz({{"a", "x"}}), held);
  EXPECT_EQ(full.failed, "the disk is full");
  EXPECT_THAT(full.findings, IsEmpty());
  const Outcome gone = read_tar_gz(
      [](std::span<char>) -> std::expected<std::size_t, ReadError> {
        return std::unexpected(ReadError{true, "the client is gone"});
      },
      held);
  EXPECT_EQ(gone.failed, "the client is gone");
  EXPECT_THAT(gone.findings, IsEmpty());
}

}  // namespace
}  // namespace stackgate::archive
