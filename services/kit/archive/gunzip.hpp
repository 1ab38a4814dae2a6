// A gzip stream (RFC 1952) unpacked as it is read, with checksum and length verified: libarchive's own gzip filter
// verifies neither. Several members one after another are one stream. One thread at a time.
#pragma once
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace stackgate::archive {

/// Why a read ended early. `ours`: the bytes could not be had (disk, network); else they are not what they should be.
struct ReadError {
  bool ours = false;
  std::string message;
};

/// Fills a part of the space and returns how much; 0 is the end.
using Source = std::function<std::expected<std::size_t, ReadError>(std::span<char>)>;

struct GunzipLimits {
  std::uint64_t bytes = std::uint64_t{16} << 30U;  // unpacked
  /// Unpacked for packed bytes, judged once `free` bytes have come: text and zeros of a small file pack well.
  std::uint64_t ratio = 200;
  std::uint64_t free = std::uint64_t{64} << 20U;
};

class Gunzip {
 public:
  Gunzip(Source source, GunzipLimits limits);
  ~Gunzip();
  Gunzip(const Gunzip&) = delete;
  Gunzip& operator=(const Gunzip&) = delete;

  /// Like a Source. An error stays: every later read gives it again.
  std::expected<std::size_t, ReadError> read(std::span<char> space);
  std::uint64_t packed() const;
  std::uint64_t unpacked() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stackgate::archive
