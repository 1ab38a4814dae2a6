// One attempt at a stage, as a directory: its processes go on when this one ends, and whoever comes next finds them.
//
//   lock  held (flock) by the attempt's processes as long as one of them lives
//   pid   of the first one, which leads their group
//   log   what they wrote
//   exit  the status, once the last one has ended by itself
//
// Not thread-safe, but for other attempts.
#pragma once
#include <cstdint>
#include <expected>
#include <optional>
#include <string>

#include "services/customizer/runs/local/commands.hpp"
#include "services/kit/base/error.hpp"

namespace stackgate::customizer {

class Attempt {
 public:
  explicit Attempt(std::string directory) : directory_(std::move(directory)) {}

  enum class Phase : std::uint8_t {
    absent,
    waiting,  // it was made, and no process has begun
    running,
    ended,   // by itself: see status()
    killed,  // its processes are gone and left no status
  };
  Phase phase() const;
  /// phase() == Phase::running, for less.
  bool is_running() const;
  std::optional<int> status() const;

  std::expected<void, Error> make() const;
  /// Begins its processes; one that has begun stays as it is.
  std::expected<void, Error> start(const StageProgram& program) const;
  /// SIGTERM to all of them, and half a minute after the first call SIGKILL.
  void stop() const;
  /// What was written behind `offset`, whole lines and at most 256 KiB; `offset` moves on.
  std::string log(std::uint64_t& offset) const;
  std::string log_end() const;

 private:
  std::string path(const char* name) const { return directory_ + "/" + name; }

  std::string directory_;
};

}  // namespace stackgate::customizer
