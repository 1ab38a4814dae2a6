// GET /v1/adapters/{id}/archive: the tar.gz, for those who have a signed URL; see Downloads in api.hpp.
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "services/entitystore/api/handlers.hpp"
#include "services/entitystore/archive/layout.hpp"
#include "services/kit/crypto/signed_query.hpp"
#include "services/kit/web/send.hpp"

namespace stackgate::entitystore {
namespace download_detail {

/// A reply that is pushed to us, to be pulled. The second thread ends with this object.
class Pulled {
 public:
  Pulled(const Datastore& datastore, std::string url, std::uint64_t offset)
      : thread_([this, &datastore, url = std::move(url), offset] { push(datastore, url, offset); }) {}
  ~Pulled() {
    {
      const std::lock_guard lock(mutex_);
      cancelled_ = true;
    }
    changed_.notify_all();
  }
  Pulled(const Pulled&) = delete;
  Pulled& operator=(const Pulled&) = delete;

  /// Waits for the reply's first bytes: what is wrong with it can still be told then.
  std::expected<void, web::Failure> begun() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ended_ || !waiting_.empty(); });
    if (failure_) return std::unexpected(*failure_);
    return {};
  }

  std::expected<std::size_t, Error> read(std::span<char> space) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ended_ || !waiting_.empty(); });
    if (waiting_.empty()) {
      if (failure_) return std::unexpected(Error{failure_->message});
      return 0;
    }
    const std::size_t size = std::min(space.size(), waiting_.size() - taken_);
    std::memcpy(space.data(), waiting_.data() + taken_, size);
    taken_ += size;
    if (taken_ == waiting_.size()) {
      waiting_.clear();
      taken_ = 0;
      lock.unlock();
      changed_.notify_all();
    }
    return size;
  }

 private:
  static constexpr std::size_t most = std::size_t{256} << 10U;

  /// Nobody is left to read, or the datastore takes its time to begin. Once bytes flow, the client's own limits hold.
  bool hopeless(std::chrono::steady_clock::time_point until) {
    const std::lock_guard lock(mutex_);
    return cancelled_ || (!begun_ && std::chrono::steady_clock::now() > until);
  }

  bool take(std::string_view bytes) {
    std::unique_lock lock(mutex_);
    begun_ = true;
    changed_.wait(lock, [this] { return cancelled_ || waiting_.size() < most; });
    if (cancelled_) return false;
    waiting_ += bytes;
    lock.unlock();
    changed_.notify_all();
    return true;
  }

  void push(const Datastore& datastore, const std::string& url, std::uint64_t offset) {
    const auto patience = datastore.options().patience;
    const auto until = std::chrono::steady_clock::now() + patience;
    fetch::Client client({.connect = patience / 2, .pause = datastore.options().transfer_pause, .retries = 1});
    fetch::Call call{.url = url};
    call.give_up = [this, until] { return hopeless(until); };
    if (offset > 0) call.headers.emplace_back("Range", fmt::format("bytes={}-", offset));
    if (!datastore.authorization().empty()) call.headers.emplace_back("Authorization", datastore.authorization());
    call.take_body = [this](std::string_view bytes) { return take(bytes); };
    auto reply = client.call(call);
    if (reply && reply->status >= 300 && reply->status < 400) {
      // To the object store, whose URL carries its own signature: nothing of ours may go with it.
      call.url = std::string(reply->header("Location").value_or(""));
      std::erase_if(call.headers, [](const auto& header) { return header.first == "Authorization"; });
      reply = client.call(call);
    }
    const int wanted = offset > 0 ? 206 : 200;
    const std::lock_guard lock(mutex_);
    ended_ = true;
    if (!reply && !begun_ && std::chrono::steady_clock::now() > until)
      failure_ = {
          .status = 503,
          .message = unanswered(fmt::format("it gave no byte of the archive for {} ms", patience.count())).message,
          .headers = {{"Retry-After", "5"}}};
    else if (!reply)
      failure_ = {
          .status = 503, .message = unanswered(reply.error().message).message, .headers = {{"Retry-After", "5"}}};
    else if (reply->status != wanted)
      failure_ = {.status = 502, .message = refused("give the archive", *reply).message};
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::string waiting_;
  std::size_t taken_ = 0;
  bool ended_ = false, cancelled_ = false, begun_ = false;
  std::optional<web::Failure> failure_;
  std::jthread thread_;
};

}  // namespace download_detail

web::Answer get_archive(const Api& api, web::Call& call) {
  const auto found = find_adapter(api, call);
  if (!found) return found.error();
  const Record& record = (*found)->record;
  if (download_url(api, call, record).empty())
    return web::Failure{.status = 409,
                        .message = fmt::format("the adapter is {} and has no archive", to_string(record.status))};
  if (api.downloads == Downloads::direct) {
    note_access(api, call, record.id, "redirect");  // the bytes go past this service
    return http::Response{.status = 302,
                          .content_type = "text/plain",
                          .headers = {{"Location", download_url(api, call, record)}, {"Cache-Control", "no-store"}}};
  }
  const auto allowed = crypto::verify_query(api.signing_key(), "GET", call.request().path, call.request().query,
                                            std::chrono::system_clock::now());
  if (!allowed)
    return web::Failure{
        .status = 403, .message = fmt::format("{}; GET /v1/adapters/{} gives a fresh one", allowed.error(), record.id)};
  const std::string url =
      wire::resolve_url(api.datastore.base(), record.repository, record.commit, archive::archive_name);
  note_access(api, call, record.id, "download", record.archive_bytes);
  return web::send_content(
      call,
      {.size = record.archive_bytes,
       .type = "application/gzip",
       .validators = {.etag = fmt::format("\"{}\"", record.archive_sha256)},
       .headers = {{"Content-Disposition",
                    web::content_disposition("attachment", fmt::format("{}-{}.tar.gz", record.name, record.version))}},
       .open = [&api, url](std::uint64_t offset) -> std::expected<web::ReadPart, web::Failure> {
         auto pulled = std::make_shared<download_detail::Pulled>(api.datastore, url, offset);
         if (auto begun = pulled->begun(); !begun) return std::unexpected(begun.error());
         return [pulled](std::span<char> space) { return pulled->read(space); };
       }});
}

}  // namespace stackgate::entitystore
