// Object storage: bytes under keys, a directory or S3. Thread-safe; calls block.
//
// Keys are '/'-separated segments of [A-Za-z0-9._=-], no empty, "." or ".." segment, at most 255 bytes a segment and
// 512 in all; anything else is refused before it reaches a file system or a URL. No key may be another's folder ("a",
// "a/b").
#pragma once
#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "services/kit/base/service_error.hpp"

namespace stackgate::objects {

enum class Fault : std::uint8_t { missing, full, away, refused, broken };  // refused: credentials, bucket, signature

struct StoreError {
  Fault fault = Fault::broken;
  std::string message;  // what failed and, where known, what to change; never a key or signature

  operator ServiceError() const;  // to_service_error() (service_error.hpp), so that TRY passes it on
};

template <typename T>
using Expected = std::expected<T, StoreError>;

struct Info {
  std::uint64_t size = 0;
  std::chrono::system_clock::time_point modified{};
  std::string etag{};  // S3's
};

struct Entry {
  std::string key;
  Info info;
};

/// An object being written. Nothing is visible under the key before commit(), which is atomic and durable; destroyed
/// before it, nothing stays. Neither it nor a Download may outlive the store. One thread at a time.
class Upload {
 public:
  virtual ~Upload() = default;
  virtual Expected<void> write(std::string_view bytes) = 0;
  virtual Expected<void> commit() = 0;
};

/// An object being read, from the offset it was opened at.
class Download {
 public:
  virtual ~Download() = default;
  virtual std::uint64_t size() const = 0;                         // of the whole object
  virtual Expected<std::size_t> read(std::span<char> space) = 0;  // 0 is the end
  /// A descriptor for sendfile, or -1. Owned by this object.
  virtual int descriptor() const { return -1; }
};

/// A URL that authenticates itself. Nothing else may go with it: S3 refuses an Authorization header beside a signature.
struct PresignOptions {
  std::chrono::seconds valid{900};
  std::string content_disposition{};    // GET: what the answer will say
  std::string content_type{};           // likewise
  std::optional<std::uint64_t> size{};  // PUT: signed Content-Length
  /// PUT: hexadecimal SHA-256 of the body. The store refuses other bytes, but the client must send the header
  /// "x-amz-content-sha256" with this value, so use it only where headers can be told (Git LFS).
  std::string sha256{};
};

struct PartUpload {
  std::string id;
  std::vector<std::string> urls;  // presigned PUTs for parts 1, 2, …
};

/// A store's own rule for keys. Pure.
bool valid_key(std::string_view key);

class Store {
 public:
  virtual ~Store() = default;
  virtual Expected<Info> stat(std::string_view key) = 0;
  /// `size`: as announced, when known; a write beyond it is an error.
  virtual Expected<std::unique_ptr<Upload>> create(std::string_view key, std::optional<std::uint64_t> size) = 0;
  virtual Expected<std::unique_ptr<Download>> open(std::string_view key, std::uint64_t offset = 0) = 0;
  /// A missing object is no error.
  virtual Expected<void> remove(std::string_view key) = 0;
  /// Every object whose key begins with the prefix, in no promised order; `visit` returns false to stop.
  virtual Expected<void> list(std::string_view prefix, const std::function<bool(const Entry&)>& visit) = 0;
  /// Is it there and may we? For readiness and the start-up check; returns within the store's time-out.
  virtual Expected<void> check() = 0;

  /// Direct transfers; nothing for a store that cannot (a directory).
  virtual std::optional<std::string> presigned_get(std::string_view, const PresignOptions&) { return {}; }
  virtual std::optional<std::string> presigned_put(std::string_view, const PresignOptions&) { return {}; }
  virtual Expected<std::optional<PartUpload>> begin_parts(std::string_view, unsigned /*parts*/, const PresignOptions&) {
    return std::nullopt;
  }
  virtual Expected<void> finish_parts(std::string_view /*key*/, std::string_view /*id*/,
                                      const std::vector<std::pair<unsigned, std::string>>& /*part, etag*/) {
    return std::unexpected(StoreError{Fault::refused, "this store takes no parts"});
  }
  /// Gives up an upload in parts and what it holds. A missing one is no error.
  virtual Expected<void> drop_parts(std::string_view /*key*/, std::string_view /*id*/) { return {}; }
  /// How far the store's clock is ahead of ours, from its last answer. S3 refuses signatures beyond 15 minutes.
  virtual std::optional<std::chrono::seconds> clock_skew() const { return {}; }
};

}  // namespace stackgate::objects
