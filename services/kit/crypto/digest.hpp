// Digests, message authentication, random bytes. OpenSSL stays behind digest.cpp.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace stackgate::crypto {

using Sha256 = std::array<unsigned char, 32>;
using Sha1 = std::array<unsigned char, 20>;

/// SHA-256 of bytes that come in pieces.
class Sha256Stream {
 public:
  Sha256Stream();
  ~Sha256Stream();
  Sha256Stream(Sha256Stream&&) noexcept;
  Sha256Stream& operator=(Sha256Stream&&) noexcept;
  void add(std::string_view bytes);
  Sha256 finish();  // once

 private:
  struct State;
  std::unique_ptr<State> state_;
};

Sha256 sha256(std::string_view bytes);
Sha1 sha1(std::string_view bytes);
Sha256 hmac_sha256(std::string_view key, std::string_view bytes);

std::string to_hex(const unsigned char* bytes, std::size_t count);  // lower case
template <std::size_t N>
std::string to_hex(const std::array<unsigned char, N>& bytes) {
  return to_hex(bytes.data(), N);
}

/// From the operating system's generator; ends the process if there is none.
std::string random_bytes(std::size_t count);
/// So many of them, two digits each.
std::string random_hex(std::size_t count);
/// The time does not depend on where they differ; it does on their lengths.
bool equal_in_constant_time(std::string_view a, std::string_view b);

}  // namespace stackgate::crypto
