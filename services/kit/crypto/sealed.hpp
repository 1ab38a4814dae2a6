// Secrets at rest: AES-256-GCM under a key that an operator configures. Thread-safe.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace stackgate::crypto {

/// `key`: of any length, used as it is by nothing else. `place`: where it is kept; opened elsewhere it is refused.
/// Base64; other bytes each time.
std::string seal(std::string_view key, std::string_view secret, std::string_view place);
/// Nothing: another key or place, or changed bytes.
std::optional<std::string> open_sealed(std::string_view key, std::string_view sealed, std::string_view place);

}  // namespace stackgate::crypto
