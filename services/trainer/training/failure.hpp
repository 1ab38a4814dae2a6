// Why a run ends without its result. Scripts and the customizer rely on the exit codes.
#pragma once
#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "services/trainer/report/events.hpp"

namespace stackgate::trainer {

enum class Ending : std::uint8_t {
  done = 0,
  failed = 1,       // the loss is no number, a full disk, no memory
  wrong_input = 2,  // settings, model, data
  stopped = 75,     // SIGTERM, or another process is lost: to be started again with --resume
};

struct Failure {
  Ending ending = Ending::failed;
  std::vector<Failed> faults;  // at least one
};

template <class T>
using Result = std::expected<T, Failure>;

inline std::unexpected<Failure> failed(std::string message) {
  return std::unexpected(Failure{Ending::failed, {{.message = std::move(message)}}});
}
inline std::unexpected<Failure> wrong_input(std::string message) {
  return std::unexpected(Failure{Ending::wrong_input, {{.message = std::move(message)}}});
}

}  // namespace stackgate::trainer
