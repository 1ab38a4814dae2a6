// Calls to the Kubernetes API, generic over resource types. Errors are values; a call blocks until it is answered,
// given up or timed out.
#pragma once
#include <chrono>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "services/kit/kube/api_error.hpp"
#include "services/kit/kube/object.hpp"
#include "services/kit/kube/resource.hpp"
#include "services/kit/kube/retry.hpp"
#include "services/kit/kube/transport.hpp"

namespace stackgate::kube {

struct Response {
  int status = 0;
  std::string body;
};

template <class T>
using Result = std::expected<T, ApiError>;

struct CallOptions {
  std::chrono::milliseconds timeout{30'000};  // of each attempt
  RetryPolicy retry;
  bool rate_limited = true;       // false: not held back by the client's rate limit, for what must not be late
  bool fresh_connection = false;  // after a time-out: the pooled connection may be dead
  /// One attempt only, answered or given up within `limit`.
  static CallOptions once(std::chrono::milliseconds limit) {
    CallOptions out;
    out.timeout = limit;
    out.retry = {.attempts = 1, .total = limit};
    return out;
  }
};

struct ApplyOptions {
  std::string_view field_manager = "stackgate";
  bool force = true;  // take fields over from other managers
  bool dry_run = false;
  std::string_view subresource = {};
};

enum class PatchType : std::uint8_t { json, merge, strategic };

struct DeleteOptions {
  std::string_view propagation = "Background";  // Foreground, Orphan
  std::string_view uid = {};                    // preconditions: only this very object …
  std::string_view resource_version = {};       // … in this very state
  bool dry_run = false;
};

struct ListOptions {
  int page_size = 500;
  std::string_view label_selector = {}, field_selector = {};
};

/// Thread-safe. Not to be called on the transport's own thread (it answers `cancelled` there).
class Client {
 public:
  /// Nothing is sent yet.
  static std::expected<std::unique_ptr<Client>, Error> connect(Config config);

  /// Any request. `idempotent` says whether it may be sent twice; see may_retry(). A status of 300 or more is an error.
  Result<Response> request(std::string_view method, std::string path, std::string body = {},
                           std::string_view content_type = "application/json", bool idempotent = false,
                           const CallOptions& options = {});

  Result<Object> get(const ResourceType& type, std::string_view ns, std::string_view name,
                     const CallOptions& options = {});

  /// Every object of a collection, page by page, decoded as it streams in: memory is bounded by the largest object.
  /// `each` is called on this thread's behalf from the transport's thread, one at a time: the rules of Receiver hold,
  /// and its argument is valid during the call only. When a page's token has expired (410), the caller starts over.
  Result<void> list(const ResourceType& type, std::string_view ns, const ListOptions& list_options,
                    const std::function<void(const json::Value& object)>& each, const CallOptions& options = {});

  Result<Object> create(const ResourceType& type, std::string_view ns, std::string json, bool dry_run = false,
                        const CallOptions& options = {});
  /// PUT: with metadata.resourceVersion in `json`, a stored object that has moved on answers Conflict.
  Result<Object> replace(const ResourceType& type, std::string_view ns, std::string_view name, std::string json,
                         std::string_view subresource = {}, const CallOptions& options = {});
  /// Server-side apply. `json` needs apiVersion, kind and metadata.name.
  Result<Object> apply(const ResourceType& type, std::string_view ns, std::string_view name, std::string json,
                       const ApplyOptions& apply_options = {}, const CallOptions& options = {});
  Result<Object> patch(const ResourceType& type, std::string_view ns, std::string_view name, PatchType patch_type,
                       std::string json, std::string_view subresource = {}, const CallOptions& options = {});
  /// A 404 is an error like any other (an earlier attempt may have been the one that deleted it).
  Result<void> remove(const ResourceType& type, std::string_view ns, std::string_view name,
                      const DeleteOptions& delete_options = {}, const CallOptions& options = {});

  Transport& transport() { return *transport_; }

 private:
  explicit Client(std::unique_ptr<Transport> transport) : transport_(std::move(transport)) {}
  Result<Object> send_object(std::string_view method, std::string path, std::string body, std::string_view content_type,
                             bool idempotent, const CallOptions& options);

  std::unique_ptr<Transport> transport_;
};

/// What a transport failure means for the call `what`.
ApiError error_from_transport(std::string_view what, const TransportError& error);

}  // namespace stackgate::kube
