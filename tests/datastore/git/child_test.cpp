#include "services/datastore/git/child.hpp"

#include <chrono>

#include <gtest/gtest.h>
#include <sys/wait.h>

#include "services/datastore/git/lock.hpp"
#include "tests/datastore/git/real_git_support.hpp"

namespace stackgate::datastore::git::test {
namespace {

using namespace std::chrono_literals;
const Child::Output nothing = [](std::string_view) { return true; };

/// A git that runs a shell script of ours, as aliases do.
ChildSpec script(const std::string& text) { return {.arguments = {"-c", "alias.x=!" + text, "x"}}; }

bool no_children() { return ::waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD; }

TEST(Children, PassBytesThroughWithoutDeadlock) {
  const std::string large(8U << 20U, 'x');
  const auto back = run_git(script("cat"), large, 16U << 20U);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_TRUE(*back == large);
  EXPECT_TRUE(no_children());
}

TEST(Children, HaveAnEnvironmentOfOurs) {
  ::setenv("GIT_DIR", "/elsewhere", 1);
  ::setenv("STACKGATE_SECRET", "x", 1);
  const auto told = run_git(script("env"), {});
  ::unsetenv("GIT_DIR");
  ::unsetenv("STACKGATE_SECRET");
  ASSERT_TRUE(told);
  EXPECT_EQ(told->find("STACKGATE_SECRET"), std::string::npos);
  EXPECT_EQ(told->find("/elsewhere"), std::string::npos);
  EXPECT_NE(told->find("HOME=/nonexistent"), std::string::npos);
}

TEST(Children, InheritNoDescriptorButTheLock) {
  const Fresh fresh;
  {
    const auto lock = WriterLock::share(fresh.path);
    auto spec = script("ls -l /proc/self/fd; true");
    spec.keep_fd = lock->fd();
    const auto told = run_git(spec, {});
    ASSERT_TRUE(told);
    EXPECT_NE(told->find(" 3 -> " + fresh.path + "/stackgate.writers"), std::string::npos) << *told;
  }
  const auto told = run_git(script("ls /proc/self/fd | tr '\\n' ' '"), {});
  EXPECT_TRUE(*told == "0 1 2 3 " || *told == "0 1 2 ") << *told;  // 3: ls's own
}

TEST(Children, DieWithTheirGroup) {
  const auto began = std::chrono::steady_clock::now();
  {
    auto child = start_git(script("sleep 1000 | sleep 1000"));
    ASSERT_TRUE(child);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - began, 5s);
  EXPECT_TRUE(no_children());
}

TEST(Children, ThatFallSilentAreStopped) {
  auto spec = script("sleep 1000");
  spec.silence = 300ms;
  const auto told = run_git(spec, {});
  ASSERT_FALSE(told);
  EXPECT_TRUE(no_children());
}

TEST(Children, ThatWantNoMoreAreStillHeard) {
  auto child = start_git(script("echo enough; exec <&-; sleep 0.2; exit 7"));
  ASSERT_TRUE(child);
  std::string said;
  const auto take = [&](std::string_view piece) {
    said += piece;
    return true;
  };
  const std::string piece(1U << 20U, 'x');
  auto fed = Child::Fed::taken;
  for (int i = 0; i < 10 && fed == Child::Fed::taken; ++i) fed = (*child)->feed(piece, take);
  EXPECT_EQ(fed, Child::Fed::closed);
  EXPECT_TRUE((*child)->drain(take));
  EXPECT_EQ((*child)->wait(), 7);
  EXPECT_EQ(said, "enough\n");
}

TEST(Children, MayComplainOnlySoMuch) {
  auto child = start_git(script("head -c 1000000 /dev/zero >&2; echo done"));
  ASSERT_TRUE(child);
  EXPECT_TRUE((*child)->drain(nothing));
  EXPECT_EQ((*child)->wait(), 0);
  EXPECT_LE((*child)->errors().size(), 8U * 1024U);
}

TEST(Children, EndWhenNobodyWantsTheirOutput) {
  auto child = start_git(script("yes"));
  ASSERT_TRUE(child);
  int pieces = 0;
  EXPECT_FALSE((*child)->drain([&](std::string_view) { return ++pieces < 3; }));
  child->reset();
  EXPECT_TRUE(no_children());
}

}  // namespace
}  // namespace stackgate::datastore::git::test
