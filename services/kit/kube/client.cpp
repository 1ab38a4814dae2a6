#include "services/kit/kube/client.hpp"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "services/kit/json/parse.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/kube/watch_frame.hpp"

namespace stackgate::kube {
namespace {

constexpr std::size_t most_error_body = 64 * 1024;
constexpr std::size_t most_body = 64 * 1024 * 1024;

/// Hands the outcome of one exchange from the transport's thread to the one that waits.
class Waiting : public Receiver {
 public:
  bool data(const HttpHead& head, std::string_view bytes) override {
    if (head.status >= 300) {
      if (body.size() < most_error_body) body.append(bytes);
      return true;
    }
    return take(bytes);
  }
  void done(const HttpHead& head, const TransportError* error) override {
    const std::scoped_lock lock(mutex_);
    head_ = head;
    if (error != nullptr) error_ = *error;
    done_ = true;
    condition_.notify_all();
  }

  /// Only then `body` may be read.
  void wait() {
    std::unique_lock lock(mutex_);
    condition_.wait(lock, [this] { return done_; });
  }
  std::optional<ApiError> error(std::string_view what) const {
    if (error_) return error_from_transport(what, *error_);
    if (head_.status >= 300) return error_from_answer(what, head_.status, body, head_.retry_after);
    return std::nullopt;
  }
  int status() const { return head_.status; }

  std::string body;

 protected:
  /// Bytes of a good answer.
  virtual bool take(std::string_view bytes) {
    if (body.size() + bytes.size() > most_body) return false;
    body.append(bytes);
    return true;
  }

 private:
  std::mutex mutex_;
  std::condition_variable condition_;
  bool done_ = false;
  HttpHead head_;
  std::optional<TransportError> error_;
};

/// One page of a list, decoded as it arrives.
class WaitingForPage final : public Waiting {
 public:
  explicit WaitingForPage(const std::function<void(const json::Value&)>& each) : each_(each) {}

  bool any_delivered = false;
  ListPage page;
  std::string fault;

 protected:
  bool take(std::string_view bytes) override {
    const auto ok = splitter_.feed(bytes, [this](std::string_view item) {
      if (!json::parse(item, document_)) return false;
      any_delivered = true;
      each_(document_.root);
      return true;
    });
    if (!ok) fault = "an item of the list is not JSON";
    return ok;
  }
  void done(const HttpHead& head, const TransportError* error) override {
    if (error == nullptr && head.status < 300) {
      if (auto whole = splitter_.finish())
        page = std::move(*whole);
      else
        fault = whole.error().message;
    }
    Waiting::done(head, error);
  }

 private:
  const std::function<void(const json::Value&)>& each_;
  ListSplitter splitter_;
  json::Document document_;
};

/// Sends until it succeeds or may not be tried again. `make` gives the receiver of each attempt, `idempotent` says
/// after a failure whether the call may have been carried out without harm.
template <class Make, class Idempotent>
auto attempt(Transport& transport, const HttpRequest& request, Idempotent idempotent, const CallOptions& options,
             Make make) -> Result<decltype(make())> {
  const std::string what = request.method + " " + request.path.substr(0, request.path.find('?'));
  if (transport.on_own_thread())
    return std::unexpected(ApiError{
        Failure::cancelled, 0, "", what + ": a blocking call on the transport's own thread would never end", {}});
  Backoff backoff(options.retry.backoff);
  Jitter jitter = Jitter::random();
  const auto begun = std::chrono::steady_clock::now();
  bool fresh_connection = options.fresh_connection;
  bool was_unauthorized = false;
  for (int attempts = 1;; ++attempts) {
    HttpRequest each = request;
    each.timeout = options.timeout;
    each.connect_timeout = std::min(each.connect_timeout, options.timeout);
    each.fresh_connection = fresh_connection;
    auto receiver = make();
    transport.send(std::move(each), receiver);
    receiver->wait();
    auto error = receiver->error(what);
    if (!error) return receiver;
    // A token may have been rotated since it was read; the transport has dropped it. Once is enough.
    if (error->code == 401 && !was_unauthorized) {
      was_unauthorized = true;
      continue;
    }
    const auto elapsed =
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begun);
    const auto wait = wait_before_retry(*error, idempotent(), attempts, elapsed, options.retry, backoff, jitter);
    if (!wait) return std::unexpected(std::move(*error));
    fresh_connection = error->failure == Failure::timed_out;
    std::this_thread::sleep_for(*wait);
  }
}

std::string_view content_type_of(PatchType type) {
  switch (type) {
    case PatchType::json:
      return "application/json-patch+json";
    case PatchType::merge:
      return "application/merge-patch+json";
    case PatchType::strategic:
      return "application/strategic-merge-patch+json";
  }
  return {};
}

}  // namespace

ApiError error_from_transport(std::string_view what, const TransportError& error) {
  return {error.failure, 0, "", fmt::format("{}: {}: {}", what, to_string(error.failure), error.message), {}};
}

std::expected<std::unique_ptr<Client>, Error> Client::connect(Config config) {
  auto transport = Transport::start(std::move(config));
  if (!transport) return std::unexpected(transport.error());
  return std::unique_ptr<Client>(new Client(std::move(*transport)));
}

Result<Response> Client::request(std::string_view method, std::string path, std::string body,
                                 std::string_view content_type, bool idempotent, const CallOptions& options) {
  HttpRequest request;
  request.method = method;
  request.path = std::move(path);
  request.body = std::move(body);
  request.content_type = content_type;
  auto answer = attempt(
      *transport_, request, [idempotent] { return idempotent; }, options, [] { return std::make_shared<Waiting>(); });
  if (!answer) return std::unexpected(std::move(answer.error()));
  return Response{(*answer)->status(), std::move((*answer)->body)};
}

Result<Object> Client::send_object(std::string_view method, std::string path, std::string body,
                                   std::string_view content_type, bool idempotent, const CallOptions& options) {
  const std::string what = std::string(method) + " " + path.substr(0, path.find('?'));
  auto response = request(method, std::move(path), std::move(body), content_type, idempotent, options);
  if (!response) return std::unexpected(std::move(response.error()));
  bool valid = false;
  Object object = Object::parse(std::move(response->body), valid);
  if (!valid) return std::unexpected(ApiError{Failure::malformed, 0, "", what + ": the answer is not JSON", {}});
  return object;
}

Result<Object> Client::get(const ResourceType& type, std::string_view ns, std::string_view name,
                           const CallOptions& options) {
  return send_object("GET", object_path(type, ns, name), {}, {}, true, options);
}

Result<void> Client::list(const ResourceType& type, std::string_view ns, const ListOptions& list_options,
                          const std::function<void(const json::Value& object)>& each, const CallOptions& options) {
  std::string token;
  do {
    HttpRequest request;
    request.path = collection_path(type, ns) + Query()
                                                   .add("labelSelector", list_options.label_selector)
                                                   .add("fieldSelector", list_options.field_selector)
                                                   .add("limit", std::to_string(list_options.page_size))
                                                   .add("continue", token)
                                                   .text();
    // Never twice once objects were handed out: the caller would see them again.
    std::shared_ptr<WaitingForPage> last;
    auto answer = attempt(
        *transport_, request, [&last] { return !last->any_delivered; }, options,
        [&] { return last = std::make_shared<WaitingForPage>(each); });
    if (!answer) return std::unexpected(std::move(answer.error()));
    if (!(*answer)->fault.empty())
      return std::unexpected(ApiError{Failure::malformed, 0, "", "GET " + request.path + ": " + (*answer)->fault, {}});
    token = (*answer)->page.continue_token;
  } while (!token.empty());
  return {};
}

Result<Object> Client::create(const ResourceType& type, std::string_view ns, std::string json, bool dry_run,
                              const CallOptions& options) {
  std::string path =
      collection_path(type, ns) + Query().add("fieldManager", "stackgate").add("dryRun", dry_run ? "All" : "").text();
  return send_object("POST", std::move(path), std::move(json), "application/json", false, options);
}

Result<Object> Client::replace(const ResourceType& type, std::string_view ns, std::string_view name, std::string json,
                               std::string_view subresource, const CallOptions& options) {
  std::string path = object_path(type, ns, name, subresource) + Query().add("fieldManager", "stackgate").text();
  return send_object("PUT", std::move(path), std::move(json), "application/json", false, options);
}

Result<Object> Client::apply(const ResourceType& type, std::string_view ns, std::string_view name, std::string json,
                             const ApplyOptions& apply_options, const CallOptions& options) {
  std::string path =
      object_path(type, ns, name, apply_options.subresource) + Query()
                                                                   .add("fieldManager", apply_options.field_manager)
                                                                   .add("force", apply_options.force ? "true" : "")
                                                                   .add("dryRun", apply_options.dry_run ? "All" : "")
                                                                   .text();
  return send_object("PATCH", std::move(path), std::move(json), "application/apply-patch+yaml", true, options);
}

Result<Object> Client::patch(const ResourceType& type, std::string_view ns, std::string_view name, PatchType patch_type,
                             std::string json, std::string_view subresource, const CallOptions& options) {
  std::string path = object_path(type, ns, name, subresource) + Query().add("fieldManager", "stackgate").text();
  return send_object("PATCH", std::move(path), std::move(json), content_type_of(patch_type), false, options);
}

Result<void> Client::remove(const ResourceType& type, std::string_view ns, std::string_view name,
                            const DeleteOptions& delete_options, const CallOptions& options) {
  std::string body;
  json::Writer w(body);
  w.object([&] {
    w.member("apiVersion", "v1");
    w.member("kind", "DeleteOptions");
    w.member("propagationPolicy", delete_options.propagation);
    if (delete_options.uid.empty() && delete_options.resource_version.empty()) return;
    w.key("preconditions");
    w.object([&] {
      if (!delete_options.uid.empty()) w.member("uid", delete_options.uid);
      if (!delete_options.resource_version.empty()) w.member("resourceVersion", delete_options.resource_version);
    });
  });
  std::string path = object_path(type, ns, name) + Query().add("dryRun", delete_options.dry_run ? "All" : "").text();
  auto answer = request("DELETE", std::move(path), std::move(body), "application/json", true, options);
  if (!answer) return std::unexpected(std::move(answer.error()));
  return {};
}

}  // namespace stackgate::kube
