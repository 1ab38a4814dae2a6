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

/// Of bytes that come in pieces: what the two below have in common.
class DigestStream {
 public:
  void add(std::string_view bytes);

 protected:
  enum class Kind : std::uint8_t { sha256, sha1 };
  explicit DigestStream(Kind kind);
  ~DigestStream();
  DigestStream(DigestStream&&) noexcept;
  DigestStream& operator=(DigestStream&&) noexcept;
  void finish_into(unsigned char* out);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

class Sha256Stream : public DigestStream {
 public:
  Sha256Stream() : DigestStream(Kind::sha256) {}
  Sha256 finish();  // once
};

/// For Git's object ids.
class Sha1Stream : public DigestStream {
 public:
  Sha1Stream() : DigestStream(Kind::sha1) {}
  Sha1 finish();  // once
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
