// Calls to the Kubernetes API, generic over resource types. Errors are values; a call blocks until it is answered,
// given up or timed out.
#pragma once
#include <atomic>
#include <chrono>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/kube/api_error.hpp"
#include "services/kit/kube/object.hpp"
#include "services/kit/kube/rate_limit.hpp"
#include "services/kit/kube/request.hpp"
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

struct ListOptions {
  int page_size = 500;
  std::string_view label_selector = {}, field_selector = {};
};

struct ClientOptions {
  RateLimit rate_limit = {};          // of all calls but watches, their lists and those that are exempt (CallOptions)
  Transport::Observer observer = {};  // for metrics
};

class Call;
class ConcurrencyLimit;
class SharedBucket;

/// A call under way. Movable; letting go of it lets the call go on unobserved. The client must outlive it.
class Pending {
 public:
  explicit Pending(std::shared_ptr<Call> call) : call_(std::move(call)) {}
  /// Blocks until the call has ended; once.
  Result<Response> wait();
  /// Whether it has ended within `limit`; wait() then answers at once.
  bool wait_for(std::chrono::milliseconds limit) const;
  /// It ends soon, with `cancelled` unless it has ended already. It may have been carried out.
  void cancel();

 private:
  std::shared_ptr<Call> call_;
};

/// The answer's object, for those answers that hold one.
Result<Object> object_of(Result<Response> answer);

/// Thread-safe. Not to be called on the transport's own thread (it answers `cancelled` there).
class Client {
 public:
  /// Nothing is sent yet.
  static std::expected<std::unique_ptr<Client>, Error> connect(Config config, const ClientOptions& options = {});
  ~Client();

  /// A status of 300 or more is an error.
  Result<Response> send(Request request, const CallOptions& options = {});
  /// Returns at once, also on the transport's own thread. Calls that are under way together share a connection;
  /// beyond 64 they wait for one another, at most for their own time limit.
  Pending start(Request request, const CallOptions& options = {});
  /// All at once; blocks until the last has ended. Results stand in the order of the requests, which says nothing about
  /// the order in which they are carried out: each must be right without the others.
  std::vector<Result<Response>> send_many(std::vector<Request> requests, const CallOptions& options = {});

  /// send() with the request in pieces.
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

  // What these send is documented at Request.
  Result<Object> create(const ResourceType& type, std::string_view ns, std::string json, bool dry_run = false,
                        const CallOptions& options = {});
  Result<Object> replace(const ResourceType& type, std::string_view ns, std::string_view name, std::string json,
                         std::string_view subresource = {}, const CallOptions& options = {});
  Result<Object> apply(const ResourceType& type, std::string_view ns, std::string_view name, std::string json,
                       const ApplyOptions& apply_options = {}, const CallOptions& options = {});
  Result<Object> patch(const ResourceType& type, std::string_view ns, std::string_view name, PatchType patch_type,
                       std::string json, std::string_view subresource = {}, const CallOptions& options = {});
  /// A 404 is an error like any other (an earlier attempt may have been the one that deleted it).
  Result<void> remove(const ResourceType& type, std::string_view ns, std::string_view name,
                      const DeleteOptions& delete_options = {}, const CallOptions& options = {});

  Transport& transport() { return *transport_; }

 private:
  Client(std::unique_ptr<Transport> transport, const ClientOptions& options);
  std::shared_ptr<Call> begin(Request request, const CallOptions& options, std::shared_ptr<struct CallLatch> latch);

  std::unique_ptr<SharedBucket> bucket_;  // nullptr: no limit
  std::unique_ptr<ConcurrencyLimit> gate_;
  std::atomic<std::uint64_t> seeds_;      // of each call's jitter
  std::unique_ptr<Transport> transport_;  // ends first: its calls use the others
};

/// What a transport failure means for the call `what`.
ApiError error_from_transport(std::string_view what, const TransportError& error);

}  // namespace stackgate::kube
