// Bytes of a file on their way: written, hashed and counted. One thread at a time.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "services/kit/crypto/digest.hpp"
#include "services/kit/crypto/hash_beside.hpp"
#include "services/puller/plan/resume.hpp"

namespace stackgate::puller {

/// SHA-256 on a thread beside, and Git's object id where the file has one.
class ContentHash {
 public:
  explicit ContentHash(const RemoteFile& file);
  std::span<char> space() { return sha256_.space(); }
  /// The first `count` bytes of the last space().
  void add(std::span<const char> bytes);
  std::uint64_t size() const { return size_; }
  /// Once.
  Sums finish();

 private:
  crypto::HashBeside sha256_;
  std::optional<crypto::Sha1Stream> blob_;
  std::uint64_t size_ = 0;
};

/// Adds the first `bytes` of a local file to `hash`; `stop` is asked now and then.
Result<void> hash_local(const std::string& path, std::uint64_t bytes, ContentHash& hash,
                        const std::function<bool()>& stop);

/// Of a whole local file.
Result<Sums> sums_of(const std::string& path, const RemoteFile& file, const std::function<bool()>& stop);

}  // namespace stackgate::puller
