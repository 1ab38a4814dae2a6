// Where a request goes, whether it may go again, and its body as the engine gets it. Pure and thread-safe.
#pragma once
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace stackgate::inference::upstream {

struct ReplicaFacts {
  bool healthy = false;
  bool has_adapter = false;  // the wanted version; true for the base
  std::size_t in_flight = 0;
};

/// The healthy one that has the adapter and the fewest requests; of equals the next one behind `turn`, modulo their
/// number. Nothing: none has it.
std::optional<std::size_t> choose(std::span<const ReplicaFacts> replicas, std::size_t turn);

struct Attempt {
  bool sent_to_client = false;  // a byte of an answer
  bool connected = true;        // false: nothing of the request was sent
  int status = 0;               // 0: no answer
  bool names_adapter = false;   // one that the engine listed
  unsigned made = 1;            // attempts so far
};
enum class Repeat : std::uint8_t {
  no,
  elsewhere,   // it was not begun
  after_sync,  // the engine has forgotten the adapter: load it, then once more
};
/// Only what was not begun goes again, and nothing of which the client has a byte.
Repeat repetition(const Attempt& attempt, std::size_t replicas);

/// The body of a request: `model` instead of its own, without peft_name, all else byte for byte. `lora_id`: for
/// llama-server, which gets "lora" with this adapter alone, or with none for the base (-1), instead of the client's.
/// The error is a sentence: no object, a member of another type.
std::expected<std::string, std::string> rewrite(std::string_view body, std::string_view model,
                                                std::optional<std::int64_t> lora_id = std::nullopt);

}  // namespace stackgate::inference::upstream
