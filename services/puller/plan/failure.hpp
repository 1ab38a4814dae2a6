// Why a pull ends without the model: one cause, its exit code, its word for machines, a sentence and what to do.
// Sources: RFC 9110 (statuses), POSIX (errno). Pure and thread-safe.
#pragma once
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

namespace stackgate::puller {

/// The values are the exit codes. Scripts and the operator rely on them.
enum class Cause : std::uint8_t {
  network = 1,     // no answer, 408, 429, 5xx after the repetitions: trying again later may help
  settings = 2,    // what was asked for makes no sense
  refused = 3,     // 401, 403, 407
  no_space = 4,    // the volume, or a quota, is full
  missing = 5,     // 404, 410: no such model, revision or file
  checksum = 6,    // the bytes are not those that were announced
  volume = 7,      // the output cannot be written: read only, no right, an I/O error
  bad_answer = 8,  // the server says what cannot be right, or what would be dangerous to believe
  stopped = 143,   // SIGTERM or SIGINT
};

struct Failure {
  Cause cause = Cause::network;
  std::string message;  // one sentence, without secrets
  std::string cure{};   // what to do, in the imperative; may be empty
};

template <class T>
using Result = std::expected<T, Failure>;

int exit_code(Cause cause);
/// Whether the same pull may succeed later although nobody has changed anything.
bool may_pass(Cause cause);
/// For the ConfigMap and the log: "Unauthorized", "VolumeFull", …
std::string_view reason(Cause cause);
/// "message; cure", on one line.
std::string sentence(const Failure& failure);

/// What the answer `status` of `server` means; `what` is what was asked for ("GET https://host/path"), `words` the
/// server's own, `retry_after` its header. Nothing for a status that is no failure (below 400).
std::optional<Failure> failure_of_status(int status, std::string_view what, std::string_view words,
                                         std::string_view retry_after = {});
/// A call without an answer; `why` is the HTTP client's sentence.
Failure failure_of_call(std::string_view why);
/// A failed call of the system: "write /model-store/x", errno.
Failure failure_of_system(std::string_view what, int error);

}  // namespace stackgate::puller
