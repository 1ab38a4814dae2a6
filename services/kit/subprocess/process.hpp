// A child process with pipes: a clean environment, its own process group, limits, back-pressure in both directions.
// Never a zombie: the destructor ends the whole group and reaps it. One thread at a time.
//
//   auto child = subprocess::Process::start({.arguments = {"python3", "train.py"}, .environment = {"PATH=/usr/bin"}});
//   (*child)->close_input();
//   (*child)->drain([&](std::string_view piece) { lines.feed(piece); return true; });
//   const int status = (*child)->wait();
#pragma once
#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "services/kit/files/file.hpp"

namespace stackgate::subprocess {

/// Of the child and of what it starts (setrlimit(2)); 0: as ours are.
struct Limits {
  std::uint64_t cpu_seconds = 0;
  std::uint64_t memory_bytes = 0;  // of address space
  std::uint64_t file_bytes = 0;    // of one written file
  std::uint64_t open_files = 0;
};

/// Where standard error goes.
enum class Errors : std::uint8_t {
  kept,         // see errors()
  with_output,  // where standard output goes
  inherited,    // where ours goes
};

/// Our own environment, for a Spec of a child that shall have it.
std::vector<std::string> own_environment();

struct Spec {
  std::vector<std::string> arguments;      // the first one is looked for in our PATH
  std::vector<std::string> environment{};  // "NAME=value", all of it: nothing is inherited
  std::string directory{};                 // to run in; empty: ours
  Limits limits{};
  Errors errors = Errors::kept;
  int keep_fd = -1;                      // inherited as descriptor 3: a lock that must outlive us
  std::chrono::milliseconds silence{0};  // without a byte in or out: ended; 0: never
};

struct StartError {
  int number = 0;  // errno
  std::string message;
};

class Process {
 public:
  /// Takes output; false ends the child.
  using Output = std::function<bool(std::string_view)>;

  static std::expected<std::unique_ptr<Process>, StartError> start(const Spec& spec);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  enum class Fed : std::uint8_t {
    taken,
    closed,  // it wants no more, and its output has the reason
    failed,  // output() returned stop, or silence
  };
  /// Writes to its standard input; output that it makes meanwhile goes to `output`, so that neither waits for the
  /// other.
  Fed feed(std::string_view bytes, const Output& output);
  void close_input() { input_.close(); }
  /// Hands over its output until it ends. False: stopped by output(), by `stop` (asked every half second), or silent.
  bool drain(const Output& output, const std::function<bool()>& stop = {});
  /// Waits for its end; thirty seconds after its output ended the group is killed. The exit status; 128 + signal when
  /// it was killed.
  int wait();
  /// SIGTERM to the whole group, SIGKILL after `grace`. Waits for the end; the status as wait() has it.
  int end(std::chrono::milliseconds grace);
  /// What killed it; nothing when it ended by itself. After wait() or end().
  std::optional<int> signal() const;
  /// Standard error, its first 8 KiB; empty unless Errors::kept.
  const std::string& errors() const { return error_text_; }
  pid_t pid() const { return pid_; }  // and of its group; -1 after the end

 private:
  Process() = default;
  void finish(int first_signal, std::chrono::milliseconds grace);
  int exit_code() const;
  /// Waits for something to do; false when the silence was too long or `output` returned stop.
  bool step(bool for_input, const Output& output, std::chrono::milliseconds limit);

  pid_t pid_ = -1;
  int status_ = -1;
  files::File input_, output_, errors_;
  std::chrono::milliseconds silence_{};
  std::chrono::steady_clock::time_point last_byte_{};
  std::string error_text_;
};

}  // namespace stackgate::subprocess
