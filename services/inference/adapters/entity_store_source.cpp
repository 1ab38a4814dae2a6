// An entitystore as a source: services/entitystore/README.md has its API.
#include <condition_variable>
#include <mutex>

#include <fmt/format.h>

#include "services/inference/adapters/unpack.hpp"
#include "services/kit/http_client/client.hpp"
#include "services/kit/http_client/url.hpp"

namespace stackgate::inference {
namespace {

using namespace std::chrono_literals;

constexpr unsigned most_redirects = 5;

/// Whether trying again may help.
bool may_pass(int status) { return status == 408 || status == 429 || status >= 500; }

std::string root_of(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  if (url.ends_with("/v1")) url.resize(url.size() - 3);
  return url;
}

/// Blocking reads that end when `stop` does.
class Body {
 public:
  Body(http_client::Answer answer, std::stop_token stop) : answer_(std::move(answer)), stop_(std::move(stop)) {}

  std::expected<std::size_t, archive::ReadError> read(std::span<char> space) {
    if (at_ == piece_.size()) {
      auto piece = next();
      if (!piece) return std::unexpected(archive::ReadError{true, piece.error().message});
      piece_ = std::move(*piece);
      at_ = 0;
    }
    const std::size_t count = piece_.copy(space.data(), space.size(), at_);
    at_ += count;
    return count;
  }

 private:
  struct Waiting {
    std::mutex mutex;
    std::condition_variable_any changed;
    std::optional<std::expected<std::string, Error>> piece;
  };
  std::expected<std::string, Error> next() {
    const auto waiting = std::make_shared<Waiting>();
    answer_.read([waiting](std::expected<std::string, Error> piece) {
      const std::lock_guard lock(waiting->mutex);
      waiting->piece = std::move(piece);
      waiting->changed.notify_all();
    });
    std::unique_lock lock(waiting->mutex);
    if (!waiting->changed.wait(lock, stop_, [&] { return waiting->piece.has_value(); }))
      return std::unexpected(Error{"stopped"});
    return std::move(*waiting->piece);
  }

  http_client::Answer answer_;
  std::stop_token stop_;
  std::string piece_;
  std::size_t at_ = 0;
};

class EntityStoreSource final : public AdapterSource {
 public:
  explicit EntityStoreSource(EntityStoreOptions options)
      : options_(std::move(options)),
        root_(root_of(options_.url)),
        client_({.head = 15s, .pause = 20s, .whole = 0s, .retries = 1, .user_agent = "stackgate-inference"}) {}

  std::expected<std::optional<AdapterList>, std::string> list(const std::stop_token& stop) override {
    http_client::Request request{.url = root_ + "/v1/adapters?status=ready", .largest_reply = 64U << 20U, .whole = 60s};
    if (!etag_.empty()) request.headers.emplace_back("If-None-Match", etag_);
    const auto reply = call(std::move(request), stop);
    if (!reply) return std::unexpected(reply.error().reason);
    if (reply->status == 304 && !etag_.empty()) return std::nullopt;
    if (reply->status != 200)
      return std::unexpected(fmt::format("the entitystore answers GET /v1/adapters with {}", reply->status));
    auto list = read_adapter_list(reply->body, root_);
    if (!list) return std::unexpected("the entitystore: " + list.error());
    // A list with a fault is asked for again: it may be whole then.
    etag_ = list->fault.empty() ? std::string(reply->header("ETag").value_or("")) : "";
    return std::move(*list);
  }

  std::expected<void, FetchFailure> fetch(const AdapterRecord& record, const std::string& directory,
                                          const std::stop_token& stop) override {
    const auto reply = call({.url = fmt::format("{}/v1/adapters/{}", root_, record.id), .whole = 30s}, stop);
    if (!reply) return std::unexpected(reply.error());
    if (reply->status != 200)
      return std::unexpected(
          FetchFailure{fmt::format("the entitystore answers GET /v1/adapters/{} with {}", record.id, reply->status),
                       may_pass(reply->status)});
    const auto download = read_adapter_detail(reply->body, record.id);
    if (!download) return std::unexpected(FetchFailure{"the entitystore: " + download.error()});
    auto answer = open(download->url);
    if (!answer) return std::unexpected(answer.error());
    Body body(std::move(*answer), stop);
    return unpack_adapter([&](std::span<char> space) { return body.read(space); }, directory, *download,
                          {.packed = options_.largest_archive});
  }

 private:
  std::expected<http_client::Response, FetchFailure> call(http_client::Request request, const std::stop_token& stop) {
    authorize(request);
    request.give_up = [&] { return stop.stop_requested(); };
    auto reply = client_.call(request);
    if (!reply) return std::unexpected(FetchFailure{reply.error().message, true});
    return std::move(*reply);
  }

  /// The archive's bytes, wherever the links lead: to the datastore, to an object store.
  std::expected<http_client::Answer, FetchFailure> open(const std::string& link) const {
    std::string from = root_ + "/v1/adapters/x", location = link;
    for (unsigned i = 0; i <= most_redirects; ++i) {
      const auto to = http_client::redirect_of(from, location);
      if (!to) break;
      http_client::Request request{.url = to->url, .pieces = http_client::Pieces::large};
      authorize(request);
      auto answer = client_.open(request);
      if (!answer) return std::unexpected(FetchFailure{answer.error().message, true});
      const int status = answer->head().status;
      if (status == 200) return std::move(*answer);
      if (status < 301 || status > 308 || status == 304 || status == 305)
        return std::unexpected(FetchFailure{
            fmt::format("{} answers with {}", http_client::without_secrets(to->url), status), may_pass(status)});
      from = to->url;
      location = std::string(answer->head().header("Location").value_or(""));
    }
    return std::unexpected(
        FetchFailure{fmt::format("the link to the archive leads nowhere: {}", http_client::without_secrets(location))});
  }

  /// Credentials go to their own origin alone.
  void authorize(http_client::Request& request) const {
    if (!options_.authorization.empty() && http_client::same_origin(root_ + "/", request.url))
      request.headers.emplace_back("Authorization", options_.authorization);
    else if (!options_.datastore_authorization.empty() && http_client::same_origin(options_.datastore_url, request.url))
      request.headers.emplace_back("Authorization", options_.datastore_authorization);
  }

  const EntityStoreOptions options_;
  const std::string root_;
  http_client::Client client_;
  std::string etag_;  // list()'s thread
};

}  // namespace

std::unique_ptr<AdapterSource> make_entity_store_source(EntityStoreOptions options) {
  return std::make_unique<EntityStoreSource>(std::move(options));
}

}  // namespace stackgate::inference
