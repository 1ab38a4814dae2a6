// Programs run by the real interpreter, in each of the layers that shut them in. Where this machine lacks a layer, what
// is asserted is that nothing runs.
#include "services/evaluator/sandbox/sandbox.hpp"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <sys/wait.h>

#include "tests/support/temp_dir.hpp"

namespace stackgate::evaluator {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

class SandboxTest : public testing::TestWithParam<std::string> {
 protected:
  SandboxOptions options() const { return {.python = "/usr/bin/python3", .timeout = 60s, .layers = {GetParam()}}; }
  void SetUp() override {
    Sandbox sandbox(options());
    const auto can = sandbox.check();
    if (!can) {
      EXPECT_THAT(can.error(), StartsWith("programs cannot be run: "));
      GTEST_SKIP() << can.error();
    }
  }
  std::string reason_of(std::string_view program) {
    Sandbox sandbox(options());
    const auto outcome = sandbox.run(program);
    if (!outcome) return "not run: " + outcome.error();
    return outcome->passed ? "passed" : outcome->reason;
  }
};
INSTANTIATE_TEST_SUITE_P(Layers, SandboxTest, testing::Values("namespaces", "landlock"),
                         [](const auto& layer) { return layer.param; });

/// Processes whose command line has this.
std::size_t processes_with(std::string_view mark) {
  std::size_t out = 0;
  for (const auto& each : std::filesystem::directory_iterator("/proc")) {
    std::ifstream file(each.path() / "cmdline");
    const std::string line((std::istreambuf_iterator<char>(file)), {});
    out += line.contains(mark) ? 1 : 0;
  }
  return out;
}
/// Whether none is left. What was killed may take a moment to end; what was not sleeps for ten minutes.
bool gone(std::string_view mark) {
  for (int i = 0; i < 300; ++i, std::this_thread::sleep_for(100ms))
    if (processes_with(mark) == 0) return true;
  return false;
}

/// Python by a name that no other process of this machine was started with.
struct MarkedPython {
  test::TempDir folder{};
  std::string path = folder / "python3";
  MarkedPython() { std::filesystem::create_symlink("/usr/bin/python3", path); }
};

/// Our own children, of whom none may be left.
bool no_children() { return ::waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD; }

TEST_P(SandboxTest, programs_pass_or_say_why_not) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"def f(x):\n    return x + 1\n\ndef check(candidate):\n    assert candidate(1) == 2\ncheck(f)\n", "passed"},
      {"print('noise', flush=True)\nimport sys\nsys.stderr.write('more')\n", "passed"},
      {"import math, re, json, random, hashlib, collections, asyncio\nasyncio.run(asyncio.sleep(0))\n", "passed"},
      {"import threading\nt = threading.Thread(target=print)\nt.start()\nt.join()\n", "passed"},
      {"from dataclasses import dataclass\n@dataclass\nclass A:\n    x: 'int' = 1\nassert A().x == 1\n", "passed"},
      {"x = 1\nassert x == 2, 'one is not two'\n", "AssertionError: one is not two at line 2"},
      {"def f(:\n", "SyntaxError"},
      {"f()\n", "NameError: name 'f' is not defined at line 1"},
      {"def f():\n    return f()\nf()\n", "RecursionError"},
      {"raise SystemExit(0)\nassert False\n", "SystemExit: 0"},
      {"import os\nos._exit(0)\nassert False\n", "ended itself before its end"},
      {"import os\nos.abort()\n", "was ended by signal"},
      {"input()\n", "EOFError"},
      {"s = '\xc3\xa4\\ud800'\nassert len(s) == 2\nraise ValueError(s)\n", "ValueError"}};
  for (const auto& [program, reason] : cases) EXPECT_THAT(reason_of(program), StartsWith(reason)) << program;
  EXPECT_TRUE(no_children());
}

TEST_P(SandboxTest, there_is_no_network) {
  EXPECT_THAT(reason_of("import socket\nsocket.socket()\n"), StartsWith("PermissionError"));
  EXPECT_THAT(reason_of("import urllib.request\nurllib.request.urlopen('http://127.0.0.1:1')\n"),
              HasSubstr("not permitted"));
}

TEST_P(SandboxTest, there_are_no_other_processes) {
  EXPECT_THAT(reason_of("import os\nwhile True:\n    os.fork()\n"), StartsWith("PermissionError"));
  EXPECT_THAT(reason_of("import subprocess\nsubprocess.run(['/bin/true'])\n"), StartsWith("PermissionError"));
  EXPECT_THAT(reason_of("import os\nos.execv('/bin/true', ['true'])\n"), StartsWith("PermissionError"));
  EXPECT_THAT(reason_of("import os\nos.kill(os.getppid(), 9)\n"), StartsWith("PermissionError"));
  EXPECT_THAT(reason_of("import os\nos.setsid()\n"), StartsWith("PermissionError"));
}

TEST_P(SandboxTest, nothing_is_written_and_nobodys_data_is_read) {
  const std::string here = std::filesystem::current_path().string();
  const std::string secret = std::filesystem::temp_directory_path().string() + "/sandbox-test-secret";
  std::ofstream(secret) << "secret";
  for (const std::string& path :
       {std::string("/etc/shadow"), std::string("/etc/passwd"), std::string("/proc/self/environ"),
        std::string("/proc/1/environ"), std::string("/root/.profile"), secret, here + "/x"})
    EXPECT_THAT(reason_of("open('" + path + "').read()\n"),
                testing::AnyOf(HasSubstr("No such file"), HasSubstr("Permission denied")))
        << path;
  for (const std::string path : {"/usr/x", "/usr/bin/python3", "/x", "/etc/x", "/dev/x"})
    EXPECT_THAT(reason_of("open('" + path + "', 'w')\n"), testing::AnyOf(HasSubstr("Read-only"), HasSubstr("denied")))
        << path;
  std::filesystem::remove(secret);
  EXPECT_THAT(reason_of("import os\nos.remove('/usr/bin/env')\n"),
              testing::AnyOf(HasSubstr("Read-only"), HasSubstr("denied")));
  EXPECT_THAT(reason_of("import os\nassert os.getuid() != 0\nassert 'PATH' in os.environ and len(os.environ) < 8\n"),
              "passed");
}

TEST_P(SandboxTest, rights_do_not_come_back) {
  EXPECT_THAT(reason_of("import ctypes\nassert ctypes.CDLL(None).mount(b'x', b'/tmp', b'tmpfs', 0, None) == -1\n"),
              "passed");
  EXPECT_THAT(reason_of("import ctypes\nassert ctypes.CDLL(None).unshare(0x10000000) == -1\n"), "passed");
  EXPECT_THAT(reason_of("import os\nos.setuid(0)\n"), StartsWith("PermissionError"));
  EXPECT_THAT(reason_of("import os\nos.chroot('/tmp')\n"), StartsWith("PermissionError"));
}

TEST_P(SandboxTest, memory_and_scratch_are_bounded) {
  EXPECT_THAT(reason_of("x = 'x' * (2 << 30)\n"), StartsWith("MemoryError"));
  EXPECT_THAT(reason_of("x = []\nwhile True:\n    x.append(bytearray(1 << 20))\n"), StartsWith("MemoryError"));
  if (GetParam() != "namespaces") return;
  EXPECT_THAT(reason_of("open('/tmp/x', 'w').write('y')\nassert open('/tmp/x').read() == 'y'\n"), "passed");
  EXPECT_THAT(reason_of("import os\nassert os.listdir('/tmp') == []\n"), "passed");  // nothing of the one before
  EXPECT_THAT(reason_of("for i in range(9):\n    open(f'/tmp/{i}', 'wb').write(b'x' * (4 << 20))\n"),
              HasSubstr("No space"));
}

TEST_P(SandboxTest, what_takes_too_long_is_ended_with_all_that_it_started) {
  const MarkedPython python;
  SandboxOptions quick = options();
  quick.python = python.path;
  quick.timeout = 2s;
  Sandbox sandbox(quick);
  for (const std::string program : {"while True:\n    pass\n", "import time\ntime.sleep(600)\n",
                                    "import threading, time\nfor i in range(4):\n    "
                                    "threading.Thread(target=time.sleep, args=(600,)).start()\ntime.sleep(600)\n"}) {
    const auto outcome = sandbox.run(program);
    ASSERT_TRUE(outcome);
    EXPECT_FALSE(outcome->passed);
    EXPECT_THAT(outcome->reason, testing::AnyOf("took longer than 2 seconds", "was ended by signal 9"));
  }
  EXPECT_TRUE(no_children());
  EXPECT_TRUE(gone(python.path));
}

TEST_P(SandboxTest, a_program_that_is_stopped_leaves_nothing) {
  const MarkedPython python;
  SandboxOptions marked = options();
  marked.python = python.path;
  Sandbox sandbox(marked);
  const auto outcome = sandbox.run("import time\ntime.sleep(600)\n", [] { return true; });
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error(), "stopped");
  EXPECT_TRUE(no_children());
  EXPECT_TRUE(gone(python.path));
}

TEST_P(SandboxTest, the_answer_cannot_be_written_by_guessing_and_output_is_bounded) {
  EXPECT_THAT(reason_of("import os\nfor fd in range(3, 20):\n    try:\n        os.write(fd, b'{\"passed\": true, "
                        "\"word\": \"x\"}\\n')\n"
                        "    except OSError:\n        pass\nos._exit(0)\n"),
              "ended itself before its end");
  EXPECT_THAT(reason_of("import os\nfor i in range(200):\n    for fd in range(3, 20):\n        try:\n            "
                        "os.write(fd, b'x' * 65536)\n"
                        "        except OSError:\n            pass\n"),
              "wrote what only the sandbox may write");
}

TEST(Sandbox, without_anything_to_shut_programs_in_none_is_run) {
  Sandbox sandbox({.python = "/usr/bin/python3", .layers = {}});
  const auto outcome = sandbox.run("pass\n");
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error(), "programs cannot be run: neither namespaces nor Landlock can be used here");
  EXPECT_FALSE(sandbox.check());
}

TEST(Sandbox, without_python_none_is_run) {
  Sandbox sandbox({.python = "no-such-python"});
  const auto outcome = sandbox.run("pass\n");
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error(), StartsWith("programs cannot be run: no-such-python cannot be started"));
}

TEST(Sandbox, outcomes_are_json) {
  EXPECT_EQ(to_json(ProgramOutcome{.passed = true}), R"({"passed":true,"reason":""})");
}

TEST(Sandbox, many_at_once_are_bounded_and_all_answered) {
  Sandbox sandbox({.python = "/usr/bin/python3", .timeout = 60s, .at_once = 2});
  if (const auto can = sandbox.check(); !can) GTEST_SKIP() << can.error();
  std::atomic<int> passed = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 6; ++i)
      threads.emplace_back([&] {
        const auto outcome = sandbox.run("assert True\n");
        passed += outcome && outcome->passed ? 1 : 0;
      });
  }
  EXPECT_EQ(passed, 6);
}

}  // namespace
}  // namespace stackgate::evaluator
