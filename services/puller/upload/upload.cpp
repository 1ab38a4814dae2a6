#include "services/puller/upload/upload.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "services/kit/base/try.hpp"
#include "services/kit/crypto/digest.hpp"
#include "services/kit/files/file.hpp"
#include "services/kit/http_client/client.hpp"

namespace stackgate::puller {
namespace upload_detail {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t largest_metadata = 1U << 20U, largest_answer = 4U << 20U;
constexpr std::size_t piece_bytes = 256U << 10U;
constexpr auto first_look = 50ms, longest_look = 2'000ms;

/// The whole body, from any place on.
class Body {
 public:
  Body(UploadFrame frame, files::File archive, std::uint64_t archive_bytes, Sent& sent)
      : frame_(std::move(frame)), archive_(std::move(archive)), archive_bytes_(archive_bytes), sent_(sent) {
    sent_.total = archive_bytes_;
  }
  std::uint64_t size() const { return frame_.before.size() + archive_bytes_ + frame_.behind.size(); }
  const std::string& content_type() const { return frame_.content_type; }

  std::size_t read(char* space, std::size_t size) {
    if (at_ < frame_.before.size()) return copy(frame_.before, at_, space, size);
    const std::uint64_t in_archive = at_ - frame_.before.size();
    if (in_archive >= archive_bytes_) return copy(frame_.behind, in_archive - archive_bytes_, space, size);
    const std::size_t wanted = std::min<std::uint64_t>(size, archive_bytes_ - in_archive);
    const ssize_t count = ::pread(archive_.fd(), space, wanted, static_cast<off_t>(in_archive));
    if (count <= 0) {
      error_ = count < 0 ? errno : EIO;  // it has become shorter
      return http_client::body_failed;
    }
    at_ += static_cast<std::uint64_t>(count);
    sent_.bytes = in_archive + static_cast<std::uint64_t>(count);
    return static_cast<std::size_t>(count);
  }
  bool rewind() {
    at_ = 0;
    sent_.bytes = 0;
    return true;
  }
  int error() const { return error_; }

 private:
  std::size_t copy(std::string_view from, std::uint64_t at, char* space, std::size_t size) {
    const std::size_t count = std::min<std::size_t>(size, from.size() - at);
    std::memcpy(space, from.data() + at, count);
    at_ += count;
    return count;
  }

  const UploadFrame frame_;
  const files::File archive_;
  const std::uint64_t archive_bytes_;
  Sent& sent_;
  std::uint64_t at_ = 0;
  int error_ = 0;
};

Result<std::string> sha256_of(const files::File& file, std::uint64_t bytes, const std::string& path) {
  crypto::Sha256Stream hash;
  std::string piece(piece_bytes, '\0');
  for (std::uint64_t at = 0; at < bytes;) {
    const ssize_t count = ::pread(file.fd(), piece.data(), piece.size(), static_cast<off_t>(at));
    if (count <= 0) return std::unexpected(failure_of_system("read " + path, count < 0 ? errno : EIO));
    hash.add({piece.data(), static_cast<std::size_t>(count)});
    at += static_cast<std::uint64_t>(count);
  }
  return crypto::to_hex(hash.finish());
}

std::string header_of(const http_client::Head& head, std::string_view name) {
  return std::string(head.header(name).value_or(""));
}

Result<Storing> wait_until_stored(const http_client::Client& client, const UploadSettings& settings,
                                  const http_client::Headers& headers, const std::string& id) {
  const auto until = Clock::now() + settings.storing;
  for (std::chrono::milliseconds pause = first_look;;
       pause = std::min(pause * 2, std::chrono::milliseconds(longest_look))) {
    const auto reply =
        client.call({.url = settings.url + "/v1/adapters/" + id, .headers = headers, .largest_reply = largest_answer});
    if (!reply) return std::unexpected(failure_of_call(reply.error().message));
    const Storing now = TRY(read_storing(reply->status, reply->body, id));
    if (now != Storing::goes_on) return now;
    if (Clock::now() >= until)
      return std::unexpected(
          Failure{Cause::network,
                  fmt::format("the entitystore has {} since {} s and has not stored it", id, settings.storing.count()),
                  "see whether it reaches the datastore; the upload may be tried again"});
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace upload_detail

Result<Uploaded> upload(const UploadSettings& settings, Sent& sent) {
  using namespace upload_detail;
  const auto metadata = files::read_file(settings.metadata, largest_metadata);
  if (!metadata) return std::unexpected(failure_of_system("read " + settings.metadata, metadata.error()));
  TRY(check_metadata(*metadata, settings.metadata));
  files::File archive(::open(settings.archive.c_str(), O_RDONLY | O_CLOEXEC));
  if (!archive) {
    Failure failure = failure_of_system("open " + settings.archive, errno);
    if (errno == ENOENT)
      failure = {Cause::missing, failure.message, "train first: the archive is what a finished training leaves"};
    return std::unexpected(std::move(failure));
  }
  const off_t size = ::lseek(archive.fd(), 0, SEEK_END);
  if (size <= 0)
    return std::unexpected(
        Failure{Cause::missing, settings.archive + " is empty", "train first, or name another file"});
  const auto bytes = static_cast<std::uint64_t>(size);

  Uploaded out{.sha256 = TRY(sha256_of(archive, bytes, settings.archive))};
  Body body(upload_frame("stackgate-" + crypto::random_hex(16), *metadata), std::move(archive), bytes, sent);
  http_client::Options options;
  options.ca_text = settings.ca_text;
  options.user_agent = "stackgate-puller";
  const http_client::Client client(options);
  http_client::Headers headers;
  if (!settings.authorization.empty()) headers.emplace_back("Authorization", settings.authorization);
  http_client::Request post{.method = "POST", .url = settings.url + "/v1/adapters", .headers = headers};
  post.headers.emplace_back("Content-Type", body.content_type());
  post.read_body = [&](char* space, std::size_t room) { return body.read(space, room); };
  post.body_size = body.size();
  post.rewind = [&] { return body.rewind(); };
  post.repeatable = true;
  post.largest_reply = largest_answer;
  const auto reply = client.call(post);
  if (!reply)
    return std::unexpected(body.error() != 0 ? failure_of_system("read " + settings.archive, body.error())
                                             : failure_of_call(reply.error().message));
  out.registered = TRY(read_registered(reply->status, reply->body, header_of(*reply, "location"),
                                       header_of(*reply, "x-adapter-sha256"), out.sha256));
  out.waits_for_approval =
      TRY(wait_until_stored(client, settings, headers, out.registered.id)) == Storing::waits_for_approval;
  return out;
}

}  // namespace stackgate::puller
