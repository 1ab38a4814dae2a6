#include "services/kit/crypto/hash_beside.hpp"

#include <algorithm>
#include <system_error>

namespace stackgate::crypto {

HashBeside::HashBeside(std::size_t piece_bytes, unsigned pieces)
    : piece_bytes_(piece_bytes), pieces_(std::max(pieces, 2U)), sizes_(pieces_.size(), 0) {}

HashBeside::~HashBeside() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    end_ = End::dropped;
  }
  changed_.notify_one();
  thread_.join();
}

std::string_view HashBeside::piece(std::uint64_t number) const {
  const std::size_t slot = number % pieces_.size();
  return {pieces_[slot].get(), sizes_[slot]};
}

std::span<char> HashBeside::space() {
  std::uint64_t next = 0;
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return added_ - hashed_ < pieces_.size(); });
    next = added_;
  }
  auto& room = pieces_[next % pieces_.size()];
  if (!room) room = std::make_unique_for_overwrite<char[]>(piece_bytes_);
  return {room.get(), piece_bytes_};
}

void HashBeside::add(std::size_t bytes) {
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    sizes_[added_ % pieces_.size()] = std::min(bytes, piece_bytes_);
    ++added_;
    wake = thread_.joinable();
  }
  if (wake) return changed_.notify_one();
  if (added_ > 1 && !alone_) begin();
  if (alone_) hash_.add(piece(added_ - 1)), hashed_ = added_;
}

// With the second piece: the first is small, or there is more to come.
void HashBeside::begin() {
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {
    alone_ = true;
    hash_.add(piece(0));
  }
}

void HashBeside::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return hashed_ < added_ || end_ != End::open; });
    if (end_ == End::dropped || hashed_ == added_) return;
    const std::string_view next = piece(hashed_);
    lock.unlock();
    hash_.add(next);
    lock.lock();
    ++hashed_;
    changed_.notify_one();
  }
}

Sha256 HashBeside::finish() {
  if (thread_.joinable()) {
    {
      const std::lock_guard lock(mutex_);
      end_ = End::whole;
    }
    changed_.notify_one();
    thread_.join();
  } else if (hashed_ < added_) {
    hash_.add(piece(0));
  }
  return hash_.finish();
}

}  // namespace stackgate::crypto
