#include "services/kit/kube/client.hpp"

#include <random>

#include <fmt/format.h>

#include "services/kit/base/try.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/kube/client_call.hpp"
#include "services/kit/kube/watch_frame.hpp"

namespace stackgate::kube {
namespace {

/// One page of a list, decoded as it arrives.
class ListCall final : public Call {
 public:
  ListCall(const std::function<void(const json::Value&)>& each, Transport& transport, const CallLimits& limits,
           Request request, const CallOptions& options, std::uint64_t seed)
      : Call(transport, limits, std::move(request), options, seed, std::make_shared<CallLatch>()), each_(each) {}

  ListPage page;

 protected:
  void restart() override { splitter_ = {}; }
  bool take(std::string_view bytes) override {
    const auto ok = splitter_.feed(bytes, [this](std::string_view item) {
      if (!json::parse(item, document_)) return false;
      any_delivered_ = true;
      each_(document_.root);
      return true;
    });
    if (!ok) fault_ = "an item of the list is not JSON";
    return ok;
  }
  std::optional<ApiError> complete() override {
    if (auto whole = splitter_.finish())
      page = std::move(*whole);
    else
      return ApiError{Failure::malformed, 0, "", what() + ": " + whole.error().message, {}};
    return std::nullopt;
  }
  /// Never when objects were handed out: the caller would see them again.
  bool may_be_sent_again() const override { return !any_delivered_; }

 public:
  /// Why we gave the answer up, if we did.
  const std::string& fault() const { return fault_; }

 private:
  const std::function<void(const json::Value&)>& each_;
  ListSplitter splitter_;
  json::Document document_;
  bool any_delivered_ = false;
  std::string fault_;
};

ApiError never_ending(const std::string& what) {
  return {Failure::cancelled, 0, "", what + ": a blocking call on the transport's own thread would never end", {}};
}

/// After its latch has opened.
Result<Response> result_of(Call& call) {
  if (call.error) return std::unexpected(std::move(*call.error));
  return Response{call.status, std::move(call.body)};
}

}  // namespace

ApiError error_from_transport(std::string_view what, const TransportError& error) {
  return {error.failure, 0, "", fmt::format("{}: {}: {}", what, to_string(error.failure), error.message), {}};
}

Result<Object> object_of(Result<Response> answer) {
  if (!answer) return std::unexpected(std::move(answer.error()));
  bool valid = false;
  Object object = Object::parse(std::move(answer->body), valid);
  if (!valid) return std::unexpected(ApiError{Failure::malformed, 0, "", "the answer is not JSON", {}});
  return object;
}

Result<Response> Pending::wait() {
  call_->latch().wait();
  return result_of(*call_);
}

bool Pending::wait_for(std::chrono::milliseconds limit) const {
  CallLatch& latch = call_->latch();
  std::unique_lock lock(latch.mutex);
  return latch.condition.wait_for(lock, limit, [&latch] { return latch.left == 0; });
}

void Pending::cancel() { call_->cancel(); }

std::expected<std::unique_ptr<Client>, Error> Client::connect(Config config, const ClientOptions& options) {
  auto transport = TRY(Transport::start(std::move(config), options.observer));
  return std::unique_ptr<Client>(new Client(std::move(transport), options));
}

Client::Client(std::unique_ptr<Transport> transport, const ClientOptions& options)
    : bucket_(options.rate_limit.per_second > 0 ? std::make_unique<SharedBucket>(options.rate_limit) : nullptr),
      gate_(std::make_unique<ConcurrencyLimit>()),
      seeds_(std::random_device{}()),
      transport_(std::move(transport)) {}

Client::~Client() = default;

std::shared_ptr<Call> Client::begin(Request request, const CallOptions& options, std::shared_ptr<CallLatch> latch) {
  auto call = std::make_shared<Call>(*transport_, CallLimits{bucket_.get(), gate_.get()}, std::move(request), options,
                                     seeds_.fetch_add(0x9E3779B97F4A7C15U), std::move(latch));
  call->begin();
  return call;
}

Pending Client::start(Request request, const CallOptions& options) {
  return Pending(begin(std::move(request), options, std::make_shared<CallLatch>()));
}

Result<Response> Client::send(Request request, const CallOptions& options) {
  if (transport_->on_own_thread()) return std::unexpected(never_ending(request.method + " " + request.path));
  return start(std::move(request), options).wait();
}

std::vector<Result<Response>> Client::send_many(std::vector<Request> requests, const CallOptions& options) {
  std::vector<Result<Response>> out;
  out.reserve(requests.size());
  if (transport_->on_own_thread()) {
    for (const Request& request : requests)
      out.emplace_back(std::unexpected(never_ending(request.method + " " + request.path)));
    return out;
  }
  const auto latch = std::make_shared<CallLatch>();
  latch->left = requests.size();
  std::vector<std::shared_ptr<Call>> calls;
  calls.reserve(requests.size());
  for (Request& request : requests) calls.push_back(begin(std::move(request), options, latch));
  latch->wait();
  for (const auto& call : calls) out.push_back(result_of(*call));
  return out;
}

Result<Response> Client::request(std::string_view method, std::string path, std::string body,
                                 std::string_view content_type, bool idempotent, const CallOptions& options) {
  return send({.method = std::string(method),
               .path = std::move(path),
               .body = std::move(body),
               .content_type = std::string(content_type),
               .idempotent = idempotent},
              options);
}

Result<Object> Client::get(const ResourceType& type, std::string_view ns, std::string_view name,
                           const CallOptions& options) {
  return object_of(send(Request::get(type, ns, name), options));
}

Result<void> Client::list(const ResourceType& type, std::string_view ns, const ListOptions& list_options,
                          const std::function<void(const json::Value& object)>& each, const CallOptions& options) {
  std::string token;
  do {
    Request request;
    request.path = collection_path(type, ns) + Query()
                                                   .add("labelSelector", list_options.label_selector)
                                                   .add("fieldSelector", list_options.field_selector)
                                                   .add("limit", std::to_string(list_options.page_size))
                                                   .add("continue", token)
                                                   .text();
    if (transport_->on_own_thread()) return std::unexpected(never_ending("GET " + request.path));
    const auto call = std::make_shared<ListCall>(each, *transport_, CallLimits{bucket_.get(), gate_.get()},
                                                 std::move(request), options, seeds_.fetch_add(0x9E3779B97F4A7C15U));
    call->begin();
    call->latch().wait();
    if (!call->fault().empty())
      return std::unexpected(ApiError{Failure::malformed, 0, "", call->what() + ": " + call->fault(), {}});
    if (auto& error = call->error; error) return std::unexpected(std::move(*error));
    token = call->page.continue_token;
  } while (!token.empty());
  return {};
}

Result<Object> Client::create(const ResourceType& type, std::string_view ns, std::string json, bool dry_run,
                              const CallOptions& options) {
  return object_of(send(Request::create(type, ns, std::move(json), dry_run), options));
}

Result<Object> Client::replace(const ResourceType& type, std::string_view ns, std::string_view name, std::string json,
                               std::string_view subresource, const CallOptions& options) {
  return object_of(send(Request::replace(type, ns, name, std::move(json), subresource), options));
}

Result<Object> Client::apply(const ResourceType& type, std::string_view ns, std::string_view name, std::string json,
                             const ApplyOptions& apply_options, const CallOptions& options) {
  return object_of(send(Request::apply(type, ns, name, std::move(json), apply_options), options));
}

Result<Object> Client::patch(const ResourceType& type, std::string_view ns, std::string_view name, PatchType patch_type,
                             std::string json, std::string_view subresource, const CallOptions& options) {
  return object_of(send(Request::patch(type, ns, name, patch_type, std::move(json), subresource), options));
}

Result<void> Client::remove(const ResourceType& type, std::string_view ns, std::string_view name,
                            const DeleteOptions& delete_options, const CallOptions& options) {
  TRY(send(Request::remove(type, ns, name, delete_options), options));
  return {};
}

}  // namespace stackgate::kube
