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
  bool looked_again = false;  // a look at it has begun and ended since the request waits
};

/// The healthy one that has the adapter and the fewest requests; of equals the next one behind `turn`, modulo their
/// number. Nothing: none has it.
std::optional<std::size_t> choose(std::span<const ReplicaFacts> replicas, std::size_t turn);

/// Of a request that waits for an adapter: one may come into being in a look at a replica that begins after it.
enum class Waiting : std::uint8_t { go, stay, give_up };
Waiting waiting(std::span<const ReplicaFacts> replicas);

struct Attempt {
  bool sent_to_client = false;  // a byte of an answer
  bool connected = true;        // false: nothing of the request was sent
  bool forgotten = false;       // the engine does not know the adapter, which it has listed
  unsigned made = 1;            // attempts so far
};
enum class Repeat : std::uint8_t {
  no,
  elsewhere,   // it was not begun
  after_sync,  // the engine has forgotten the adapter: load it, then once more
};
/// Only what was not begun goes again, once for each of several replicas at the most, and nothing of which the client
/// has a byte.
Repeat repetition(const Attempt& attempt, std::size_t replicas);

/// Whether a refusal says that it does not know the model: 404; SGLang's 400.
bool is_unknown_model(int status, std::string_view body);

/// A member of a body that chooses an adapter, besides `model`.
struct AdapterMember {
  std::string_view name;
  std::string value;  // JSON; empty: it must not be there
};
/// llama-server's "lora": this adapter alone, or none for the base (-1).
AdapterMember by_number(std::int64_t id);
/// SGLang's "lora_path": an adapter's name, or none ("").
AdapterMember by_name(std::string_view adapter);

/// The body of a request: `model` instead of its own, without peft_name, all else byte for byte. `adapter` takes the
/// place of what the client may have written under that name. The error is a sentence: no object, a member of another
/// type.
std::expected<std::string, std::string> rewrite(std::string_view body, std::string_view model,
                                                const std::optional<AdapterMember>& adapter = std::nullopt);

}  // namespace stackgate::inference::upstream
