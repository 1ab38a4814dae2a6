// Passwords as they are stored: scrypt (RFC 7914) with a salt of its own each, as one self-describing string
//   $scrypt$ln=14,r=8,p=5$<salt>$<hash>          (base64 without padding)
// so that the cost can rise later without losing an account. Thread-safe. Each call takes 16 MiB for its duration and
// tens of milliseconds; two work at once in a process, the others wait. Run it on a pool, and limit how often a caller
// may try.
#pragma once
#include <string>
#include <string_view>

namespace stackgate::crypto {

std::string hash_password(std::string_view password);

/// False for a wrong password, and for a string that hash_password() cannot have written (a cost out of bounds too).
bool verify_password(std::string_view password, std::string_view stored);

/// The same work as a verification that fails, for an account that does not exist: its answer takes as long.
void waste_password_check(std::string_view password);

/// Written with another cost than hash_password() uses today: hash again while the password is at hand.
bool needs_rehash(std::string_view stored);

}  // namespace stackgate::crypto
