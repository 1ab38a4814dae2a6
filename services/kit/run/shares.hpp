// Places that a request holds for as long as it lasts, without a thread; no share gets more than its part. Thread-safe.
#pragma once
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace stackgate::run {

class Shares {
 public:
  Shares(std::size_t all, std::size_t per_share) : all_(all), per_share_(per_share) {}
  Shares(const Shares&) = delete;
  Shares& operator=(const Shares&) = delete;

  /// Gives itself back; before the Shares end.
  class Place {
   public:
    Place(Shares& from, std::string share) : from_(&from), share_(std::move(share)) {}
    Place(Place&& other) noexcept : from_(std::exchange(other.from_, nullptr)), share_(std::move(other.share_)) {}
    Place& operator=(Place&&) = delete;
    ~Place() {
      if (from_ != nullptr) from_->give_back(share_);
    }

   private:
    Shares* from_;
    std::string share_;
  };

  /// Nothing when all places are taken, or all of this share.
  std::optional<Place> take(const std::string& share) {
    const std::lock_guard lock(mutex_);
    if (taken_ >= all_) return std::nullopt;
    std::size_t& mine = shares_[share];
    if (mine >= per_share_) return std::nullopt;
    ++mine;
    ++taken_;
    return std::optional<Place>(std::in_place, *this, share);
  }
  std::size_t taken() const {
    const std::lock_guard lock(mutex_);
    return taken_;
  }

 private:
  void give_back(const std::string& share) {
    const std::lock_guard lock(mutex_);
    --taken_;
    const auto found = shares_.find(share);
    if (--found->second == 0) shares_.erase(found);
  }

  const std::size_t all_, per_share_;
  mutable std::mutex mutex_;
  std::size_t taken_ = 0;
  std::unordered_map<std::string, std::size_t> shares_;  // those that hold a place
};

}  // namespace stackgate::run
