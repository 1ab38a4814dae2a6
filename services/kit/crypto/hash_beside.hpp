// SHA-256 on a thread of its own: the caller receives the next piece and writes the last one while it is hashed.
#pragma once
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "services/kit/crypto/digest.hpp"

namespace stackgate::crypto {

/// Holds `pieces` of `piece_bytes` each, no more: who is faster waits. One caller's thread at a time. What fits into
/// one piece is hashed without a thread, and so is everything when the system gives none.
class HashBeside {
 public:
  explicit HashBeside(std::size_t piece_bytes = 256UL * 1024, unsigned pieces = 3);
  ~HashBeside();  // what waits is not hashed any more
  HashBeside(const HashBeside&) = delete;
  HashBeside& operator=(const HashBeside&) = delete;

  /// Room for the next piece; waits while all are full.
  std::span<char> space();
  /// The first `bytes` of the last space(). They may be read, not changed, until the next but one space().
  void add(std::size_t bytes);
  /// Of all that was added. Once.
  Sha256 finish();

 private:
  std::string_view piece(std::uint64_t number) const;
  void begin();
  void run();

  const std::size_t piece_bytes_;
  std::vector<std::unique_ptr<char[]>> pieces_;  // made when first used
  std::vector<std::size_t> sizes_;
  Sha256Stream hash_;  // the thread's while there is one
  std::mutex mutex_;   // of the next three
  std::uint64_t added_ = 0, hashed_ = 0;
  enum class End : std::uint8_t { open, whole, dropped } end_ = End::open;
  std::condition_variable changed_;
  bool alone_ = false;  // no thread could be had
  std::thread thread_;
};

}  // namespace stackgate::crypto
