// Real files, real inotify: what kubelet, cert-manager and people with cp do to them.
#include "certs/file_identity.hpp"

#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/kit/log/log.hpp"
#include "tests/certs/pairs.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::certs {
namespace {

using namespace test;
using testing::HasSubstr;
namespace fs = std::filesystem;

struct FileIdentityTest : testing::Test {
  stackgate::test::TempDir dir;
  PemPair ca = make_ca();
  PemPair first = make_leaf(ca), second = make_leaf(ca);

  FileIdentityTest() { log::configure({.level = log::Level::error, .format = log::Format::text, .fd = -1}); }
  void write(const PemPair& pair) const {
    dir.write("tls.crt", pair.certificates);
    dir.write("tls.key", pair.key);
  }
  // Without inotify nothing would be noticed within a test's patience.
  std::shared_ptr<FileIdentity> start(std::chrono::milliseconds poll = 1h) const {
    return FileIdentity::start(
        {.certificate_file = dir / "tls.crt", .key_file = dir / "tls.key", .poll = poll, .settle = 20ms});
  }
  static std::string serial(const PemPair& pair) { return must(describe(pair.certificates)).serial; }
  static std::string serving(const FileIdentity& identity) {
    const auto status = identity.status();
    return status.serving ? status.serving->serial : "none";
  }
  template <class Condition>
  static bool soon(Condition condition) {
    for (int i = 0; i < 300; ++i) {
      if (condition()) return true;
      std::this_thread::sleep_for(10ms);
    }
    return false;
  }
};

TEST_F(FileIdentityTest, serves_what_is_there_at_the_start) {
  write(first);
  const auto identity = start();
  EXPECT_EQ(serving(*identity), serial(first));
  EXPECT_NE(identity->current(), nullptr);
  EXPECT_EQ(why_not_ready(identity->status(), now()), "");
  EXPECT_EQ(identity->status().reloads, 1U);
}

TEST_F(FileIdentityTest, waits_for_files_that_are_not_there_yet) {
  const auto identity = start();
  EXPECT_EQ(identity->current(), nullptr);
  EXPECT_THAT(why_not_ready(identity->status(), now()), HasSubstr("tls.crt: No such file"));
  write(first);
  EXPECT_TRUE(soon([&] { return serving(*identity) == serial(first); }));
}

TEST_F(FileIdentityTest, waits_for_a_directory_that_is_not_there_yet_by_polling) {
  const auto identity = FileIdentity::start(
      {.certificate_file = dir / "later/tls.crt", .key_file = dir / "later/tls.key", .poll = 30ms, .settle = 5ms});
  fs::create_directory(dir / "later");
  dir.write("later/tls.crt", first.certificates);
  dir.write("later/tls.key", first.key);
  EXPECT_TRUE(soon([&] { return serving(*identity) == serial(first); }));
}

TEST_F(FileIdentityTest, reloads_when_the_certificate_comes_well_before_its_key) {
  write(first);
  const auto identity = start();
  dir.write("tls.crt", second.certificates);
  EXPECT_TRUE(soon([&] { return identity->status().failures == 1; }));
  EXPECT_EQ(serving(*identity), serial(first));
  EXPECT_EQ(why_not_ready(identity->status(), now()), "");  // what is served is good
  dir.write("tls.key", second.key);
  EXPECT_TRUE(soon([&] { return serving(*identity) == serial(second); }));
  EXPECT_EQ(identity->status().error, "");
}

TEST_F(FileIdentityTest, reloads_when_files_are_renamed_into_place) {
  write(first);
  const auto identity = start();
  dir.write("new.crt", second.certificates);
  dir.write("new.key", second.key);
  fs::rename(dir / "new.key", dir / "tls.key");
  fs::rename(dir / "new.crt", dir / "tls.crt");
  EXPECT_TRUE(soon([&] { return serving(*identity) == serial(second); }));
}

// As kubelet does it: tls.crt -> ..data/tls.crt, ..data -> ..1; then ..data is renamed over.
TEST_F(FileIdentityTest, reloads_when_a_mounted_secret_swaps_its_link) {
  const auto version = [&](const char* name, const PemPair& pair) {
    fs::create_directory(dir / name);
    dir.write(std::string(name) + "/tls.crt", pair.certificates);
    dir.write(std::string(name) + "/tls.key", pair.key);
  };
  version("..1", first);
  fs::create_symlink("..1", dir / "..data");
  fs::create_symlink("..data/tls.crt", dir / "tls.crt");
  fs::create_symlink("..data/tls.key", dir / "tls.key");
  const auto identity = start();
  EXPECT_EQ(serving(*identity), serial(first));
  version("..2", second);
  fs::create_symlink("..2", dir / "..data_tmp");
  fs::rename(dir / "..data_tmp", dir / "..data");
  fs::remove_all(dir / "..1");
  EXPECT_TRUE(soon([&] { return serving(*identity) == serial(second); }));
}

TEST_F(FileIdentityTest, nothing_broken_replaces_a_good_pair) {
  write(first);
  const auto identity = start();
  const auto expect_kept = [&](const char* what, const char* error) {
    SCOPED_TRACE(what);
    const auto seen = soon([&] { return identity->status().error.find(error) != std::string::npos; });
    EXPECT_TRUE(seen) << identity->status().error;
    EXPECT_EQ(serving(*identity), serial(first));
    EXPECT_NE(identity->current(), nullptr);
  };
  dir.write("tls.crt", "nonsense");
  expect_kept("nonsense", "there is no certificate");
  dir.write("tls.crt", std::string(2U << 20U, 'x'));
  expect_kept("far too large", "larger than 1 MiB");
  fs::remove(dir / "tls.crt");
  expect_kept("removed", "No such file");
  fs::create_directory(dir / "tls.crt");
  expect_kept("a directory", "no regular file");
  fs::remove(dir / "tls.crt");
  const auto expired = make_leaf(ca, now() - 2h, now() - 1h);
  write(expired);
  expect_kept("expired", "expired");
  write(second);
  EXPECT_TRUE(soon([&] { return serving(*identity) == serial(second); }));
}

TEST_F(FileIdentityTest, polling_finds_what_no_event_told) {
  write(first);
  fs::create_directory(dir / "real");
  const stackgate::test::TempDir elsewhere;  // not a watched directory
  elsewhere.write("tls.crt", first.certificates);
  fs::remove(dir / "tls.crt");
  fs::create_symlink(elsewhere / "tls.crt", dir / "tls.crt");
  const auto identity = start(50ms);
  elsewhere.write("tls.crt", second.certificates);
  EXPECT_TRUE(soon([&] { return identity->status().failures == 1; }));
}

TEST(WhyNotReady, names_an_end_that_has_come) {
  IdentityStatus status;
  EXPECT_EQ(why_not_ready(status, now()), "there is no certificate yet");
  status.serving = must(describe(make_leaf(make_ca()).certificates));
  status.not_after = now() + 1h;
  EXPECT_EQ(why_not_ready(status, now()), "");
  EXPECT_THAT(why_not_ready(status, now() + 2h), HasSubstr("expired at"));
}

}  // namespace
}  // namespace stackgate::certs
