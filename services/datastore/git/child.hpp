// A git process of ours: clean environment, explicit settings, no hooks, its own process group, pipes with
// back-pressure. Never a zombie: the destructor kills the group and reaps. One thread at a time.
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "services/datastore/git/file.hpp"
#include "services/datastore/git/objects.hpp"

namespace stackgate::datastore::git {

struct ChildSpec {
  std::vector<std::string> arguments;          // after "git"
  std::vector<std::string> settings{};         // "name=value", over ours
  std::vector<std::string> environment{};      // "NAME=value", beside ours
  int keep_fd = -1;                            // inherited as descriptor 3: a lock that must outlive us
  std::chrono::milliseconds silence{600'000};  // without a byte in or out: killed
};

class Child {
 public:
  /// Takes output; false stops the child.
  using Output = std::function<bool(std::string_view)>;

  static Expected<std::unique_ptr<Child>> start(const ChildSpec& spec);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  enum class Fed : std::uint8_t {
    taken,
    closed,  // it wants no more, and will say why
    failed,  // output() said stop, or silence
  };
  /// Writes to its standard input; output that it makes meanwhile goes to `output`, so that neither waits for the
  /// other.
  Fed feed(std::string_view bytes, const Output& output);
  void close_input() { input_.close(); }
  /// Hands over its output until it ends. False: stopped by output(), by `stop` (asked every half second), or silent.
  bool drain(const Output& output, const std::function<bool()>& stop = {});
  /// Waits for its end (killing it after a while). The exit status; 128 + signal when it was killed.
  int wait();
  /// Standard error, its first few KiB.
  const std::string& complaints() const { return complaints_; }

 private:
  Child() = default;
  void finish(int first_signal);
  /// Waits for something to do; false when the silence was too long or `output` said stop.
  bool step(bool for_input, const Output& output, std::chrono::milliseconds limit);

  pid_t pid_ = -1;
  int status_ = -1;
  File input_, output_, errors_;
  std::chrono::milliseconds silence_{};
  std::chrono::steady_clock::time_point heard_{};
  bool writable_ = false;
  std::string complaints_;
};

/// Runs to the end: standard output, at most `most` bytes. Fault::broken with git's own words when it failed.
Expected<std::string> run_git(const ChildSpec& spec, std::string_view input, std::size_t most = 16U << 20U);

}  // namespace stackgate::datastore::git
