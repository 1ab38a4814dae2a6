// With real processes: a shell stands in for the programs.
#include "services/customizer/runs/local/attempt.hpp"

#include <chrono>
#include <csignal>
#include <functional>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "services/kit/files/file.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::customizer {
namespace {

using Phase = Attempt::Phase;

class AttemptTest : public testing::Test {
 protected:
  static bool within_ten_seconds(const std::function<bool()>& is) {
    for (int i = 0; i < 500; ++i) {
      if (is()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return false;
  }
  void start(const std::string& words) {
    ASSERT_TRUE(attempt_.make());
    const auto started = attempt_.start({.commands = {{"sh", "-c", words}}, .environment = {"WORD=given"}});
    ASSERT_TRUE(started) << started.error().message;
  }
  bool becomes(Phase phase) {
    return within_ten_seconds([&] { return attempt_.phase() == phase; });
  }
  std::string log() {
    std::uint64_t offset = 0;
    return attempt_.log(offset);
  }
  test::TempDir folder_;
  Attempt attempt_{folder_ / "training-1"};
};

TEST_F(AttemptTest, ends_with_the_status_of_its_program) {
  EXPECT_EQ(attempt_.phase(), Phase::absent);
  ASSERT_TRUE(attempt_.make());
  EXPECT_EQ(attempt_.phase(), Phase::waiting);
  start("echo one; echo $WORD >&2; exit 7");
  ASSERT_TRUE(becomes(Phase::ended));
  EXPECT_EQ(attempt_.status(), 7);
  EXPECT_EQ(log(), "one\ngiven\n");
}

TEST_F(AttemptTest, begins_once) {
  start("echo once");
  ASSERT_TRUE(becomes(Phase::ended));
  start("echo twice");
  EXPECT_EQ(log(), "once\n");
}

TEST_F(AttemptTest, the_second_program_waits_for_the_first_to_succeed) {
  ASSERT_TRUE(attempt_.make());
  ASSERT_TRUE(attempt_.start({.commands = {{"false"}, {"echo", "no"}}}));
  ASSERT_TRUE(becomes(Phase::ended));
  EXPECT_EQ(attempt_.status(), 1);
  EXPECT_EQ(log(), "");
}

TEST_F(AttemptTest, is_stopped_and_its_program_says_how_it_ends) {
  start("trap 'echo bye; exit 75' TERM; echo begun; while :; do sleep 0.05; done 2>/dev/null");
  ASSERT_TRUE(within_ten_seconds([&] { return log() == "begun\n"; }));
  EXPECT_EQ(attempt_.phase(), Phase::running);
  attempt_.stop();
  ASSERT_TRUE(becomes(Phase::ended));
  EXPECT_EQ(attempt_.status(), 75);
  EXPECT_TRUE(log().starts_with("begun\n") && log().ends_with("bye\n")) << log();
}

TEST_F(AttemptTest, what_is_killed_leaves_no_status) {
  start("echo begun; sleep 60");
  ASSERT_TRUE(within_ten_seconds([&] { return log() == "begun\n"; }));
  const auto leader = files::read_file(folder_ / "training-1/pid", 64);
  ASSERT_TRUE(leader);
  ::kill(-std::stoi(*leader), SIGKILL);
  ASSERT_TRUE(becomes(Phase::killed));
  EXPECT_FALSE(attempt_.status());
}

TEST_F(AttemptTest, its_log_comes_line_by_line) {
  start("printf 'a\\nb'; sleep 0.3; printf 'c\\n'");
  std::uint64_t offset = 0;
  std::string all;
  ASSERT_TRUE(within_ten_seconds([&] {
    const std::string more = attempt_.log(offset);
    EXPECT_TRUE(more.empty() || more.ends_with('\n')) << more;
    all += more;
    return all == "a\nbc\n";
  })) << all;
}

}  // namespace
}  // namespace stackgate::customizer
