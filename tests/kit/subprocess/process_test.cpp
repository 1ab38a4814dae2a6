#include "services/kit/subprocess/process.hpp"

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include "services/kit/subprocess/lines.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::subprocess {
namespace {

using namespace std::chrono_literals;

Spec shell(const std::string& script) {
  return {.arguments = {"sh", "-c", script}, .environment = {"PATH=/usr/bin:/bin"}};
}

struct Ran {
  int status = -1;
  std::string output, errors;
};

Ran run(const Spec& spec) {
  auto process = Process::start(spec);
  if (!process) return {.status = -1, .output = {}, .errors = process.error().message};
  Ran out;
  (*process)->close_input();
  (*process)->drain([&](std::string_view piece) {
    out.output += piece;
    return true;
  });
  out.status = (*process)->wait();
  out.errors = (*process)->errors();
  return out;
}

bool no_children() { return ::waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD; }

TEST(Process, HasOnlyTheEnvironmentThatItIsGiven) {
  ::setenv("STACKGATE_SECRET", "x", 1);
  Spec spec = shell("env");
  spec.environment.emplace_back("NAME=a b");
  const Ran ran = run(spec);
  ::unsetenv("STACKGATE_SECRET");
  EXPECT_EQ(ran.status, 0);
  EXPECT_NE(ran.output.find("NAME=a b\n"), std::string::npos);
  EXPECT_EQ(ran.output.find("SECRET"), std::string::npos);
}

TEST(Process, RunsInTheDirectoryThatItIsGiven) {
  const test::TempDir folder;
  Spec spec = shell("pwd");
  spec.directory = folder / ".";
  EXPECT_EQ(run(spec).output, std::filesystem::canonical(folder / ".").string() + "\n");
}

TEST(Process, ThatCannotBeStartedSaysWhy) {
  const auto missing = Process::start({.arguments = {"no-such-program"}});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().number, ENOENT);
  EXPECT_EQ(missing.error().message, "no-such-program cannot be started: No such file or directory");
  Spec nowhere = shell("true");
  nowhere.directory = "/no/such/folder";
  ASSERT_FALSE(Process::start(nowhere));
  const auto folder = Process::start({.arguments = {"/usr"}});
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().number, EACCES);
  EXPECT_FALSE(Process::start({}));
  EXPECT_TRUE(no_children());
}

TEST(Process, IsHeldToItsLimits) {
  const test::TempDir folder;
  Spec spec =
      shell("ulimit -v; ulimit -t; ulimit -n; ulimit -f; head -c 1000000 /dev/zero > big; ls -s big | cut -d' ' -f1");
  spec.directory = folder / ".";
  spec.limits = {.cpu_seconds = 7, .memory_bytes = 1U << 30U, .file_bytes = 8192, .open_files = 64};
  EXPECT_EQ(run(spec).output, "1048576\n7\n64\n16\n8\n");
}

TEST(Process, ThatUsesUpItsProcessorTimeIsKilled) {
  Spec spec = shell("while :; do :; done");
  spec.limits.cpu_seconds = 1;
  EXPECT_EQ(run(spec).status, 128 + SIGKILL);
}

TEST(Process, MayHaveOneStreamOfOutput) {
  Spec spec = shell("echo out; echo error >&2; echo out");
  EXPECT_EQ(run(spec).errors, "error\n");
  spec.errors = Errors::with_output;
  const Ran merged = run(spec);
  EXPECT_EQ(merged.output, "out\nerror\nout\n");
  EXPECT_EQ(merged.errors, "");
}

TEST(Process, ReportsTheSignalThatEndedIt) { EXPECT_EQ(run(shell("kill -9 $$")).status, 128 + SIGKILL); }

TEST(Process, TakesWithItWhatItLeavesBehind) {
  const auto began = std::chrono::steady_clock::now();
  const Ran ran = run(shell("sleep 1000 & echo $!"));  // the sleep holds the output open
  EXPECT_EQ(ran.status, 0);
  EXPECT_LT(std::chrono::steady_clock::now() - began, 10s);
  const pid_t left = std::stoi(ran.output);
  for (int i = 0; i < 100 && ::kill(left, 0) == 0; ++i) {  // until init has reaped it
    std::ifstream state("/proc/" + std::to_string(left) + "/stat");
    std::string text((std::istreambuf_iterator<char>(state)), {});
    if (text.contains(") Z ")) break;
    ::usleep(20'000);
  }
  std::ifstream state("/proc/" + std::to_string(left) + "/stat");
  std::string text((std::istreambuf_iterator<char>(state)), {});
  EXPECT_TRUE(text.empty() || text.contains(") Z ")) << text;
}

TEST(Process, IsAskedToEndBeforeItIsKilled) {
  auto polite = Process::start(shell("trap 'exit 5' TERM; echo ready; while :; do sleep 0.05; done"));
  ASSERT_TRUE(polite);
  EXPECT_FALSE((*polite)->drain([](std::string_view) { return false; }));  // it is ready
  EXPECT_EQ((*polite)->end(5s), 5);
  auto deaf = Process::start(shell("trap '' TERM; echo ready; while :; do sleep 0.05; done"));
  ASSERT_TRUE(deaf);
  EXPECT_FALSE((*deaf)->drain([](std::string_view) { return false; }));
  EXPECT_EQ((*deaf)->end(200ms), 128 + SIGKILL);
  EXPECT_TRUE(no_children());
}

TEST(Process, ThatIsSilentForLongIsOver) {
  Spec spec = shell("sleep 1000");
  spec.silence = 300ms;
  auto process = Process::start(spec);
  ASSERT_TRUE(process);
  EXPECT_FALSE((*process)->drain([](std::string_view) { return true; }));
  process->reset();
  EXPECT_TRUE(no_children());
}

TEST(Process, DoesNotInheritOurIgnoredSignals) {
  ::signal(SIGPIPE, SIG_IGN);
  EXPECT_EQ(run(shell("kill -PIPE $$; echo alive")).status, 128 + SIGPIPE);
}

TEST(Lines, AreWholeWhateverThePiecesTheyComeIn) {
  const std::string text = "one\ntwo\r\n\nthree is long\nlast";
  for (std::size_t size = 1; size <= text.size(); ++size) {
    std::vector<std::string> got;
    Lines lines([&](std::string_view line) { got.emplace_back(line); }, 8);
    for (std::size_t at = 0; at < text.size(); at += size) lines.feed(std::string_view(text).substr(at, size));
    lines.finish();
    EXPECT_EQ(got, (std::vector<std::string>{"one", "two", "", "three is", "last"})) << size;
  }
}

}  // namespace
}  // namespace stackgate::subprocess
