#include "services/puller/transfer/download.hpp"

#include <chrono>
#include <memory>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "services/kit/base/backoff.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/log/log.hpp"
#include "services/puller/transfer/content.hpp"

namespace stackgate::puller {
namespace download_detail {

constexpr int most_failures = 6;  // in a row, without progress between them
constexpr std::uint64_t progress_that_counts = 64U << 10U;
constexpr std::uint64_t flush_step = 16U << 20U;
constexpr std::uint64_t largest_record = 64U << 10U;
using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds longest_held{50};
constexpr BackoffLimits waits{std::chrono::milliseconds(500), std::chrono::milliseconds(15'000)};

PartRecord record_of(const Place& place, const RemoteFile& file) {
  const auto text = files::read_file(place.record_path(file), largest_record);
  return text ? read_part_record(*text) : PartRecord{};
}

/// A file while it comes in.
class Part {
 public:
  Part(const Place& place, const RemoteFile& file) : place_(place), file_(file), path_(place.part_path(file)) {}

  /// What is here is hashed, unless that has been done.
  Result<void> open(const Counter& counter) {
    if (descriptor_) return {};
    descriptor_ = files::File(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
    if (!descriptor_) return std::unexpected(failure_of_system("write " + path_, errno));
    record_ = record_of(place_, file_);
    const std::uint64_t here = bytes_here(place_, file_);
    resumed_ = here > 0;
    hash_ = std::make_unique<ContentHash>(file_);
    TRY(hash_local(path_, here, *hash_, [&] { return counter.stop.load(); }));
    return cut(here);
  }

  /// From the first byte on, with what the answer says of itself.
  Result<void> begin(Counter& counter, std::string etag) {
    counter.downloaded -= hash_->size();
    hash_ = std::make_unique<ContentHash>(file_);
    resumed_ = false;
    TRY(cut(0));
    record_ = {.identity = identity_of(file_), .etag = std::move(etag)};
    const std::string path = place_.record_path(file_), text = write_part_record(record_);
    const files::File out(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666));
    if (!out) return std::unexpected(failure_of_system("write " + path, errno));
    if (const int error = files::write_all(out.fd(), text))
      return std::unexpected(failure_of_system("write " + path, error));
    return {};
  }

  std::span<char> space() { return hash_->space(); }
  Result<void> take(std::span<const char> bytes, Counter& counter) {
    if (const int error = files::write_all(descriptor_.fd(), {bytes.data(), bytes.size()}))
      return std::unexpected(failure_of_system("write " + path_, error));
    hash_->add(bytes);
    counter.downloaded += bytes.size();
    if (hash_->size() - flushed_ < flush_step) return {};
    // So that the disk works meanwhile, and the last sync is short.
    (void)::sync_file_range(descriptor_.fd(), static_cast<off64_t>(flushed_),
                            static_cast<off64_t>(hash_->size() - flushed_), SYNC_FILE_RANGE_WRITE);
    flushed_ = hash_->size();
    return {};
  }

  Result<Sums> finish() {
    if (::fsync(descriptor_.fd()) != 0) return std::unexpected(failure_of_system("sync " + path_, errno));
    descriptor_.close();
    return hash_->finish();
  }
  /// The bytes are no good.
  void discard(Counter& counter, std::uint64_t size) {
    counter.downloaded -= size;
    descriptor_.close();
    ::unlink(path_.c_str());
    ::unlink(place_.record_path(file_).c_str());
  }

  std::uint64_t size() const { return hash_->size(); }
  const std::string& etag() const { return record_.etag; }
  bool resumed() const { return resumed_; }

 private:
  Result<void> cut(std::uint64_t size) {
    flushed_ = size;
    if (::ftruncate(descriptor_.fd(), static_cast<off_t>(size)) != 0 ||
        ::lseek(descriptor_.fd(), static_cast<off_t>(size), SEEK_SET) < 0)
      return std::unexpected(failure_of_system("write " + path_, errno));
    return {};
  }

  const Place& place_;
  const RemoteFile& file_;
  const std::string path_;
  files::File descriptor_;
  PartRecord record_;
  std::unique_ptr<ContentHash> hash_;
  std::uint64_t flushed_ = 0;
  bool resumed_ = false;
};

bool is_whole(const RemoteFile& file, const Part& part) { return file.size && part.size() == *file.size; }

/// The body, to its end.
Result<void> read_body(const Download& download, http_client::Answer& answer, const RemoteFile& file,
                       std::optional<std::uint64_t> size, Part& part) {
  Counter& counter = download.counter;
  for (;;) {
    if (counter.stop) return std::unexpected(Failure{Cause::stopped, "stopped"});
    // A whole piece, so that there are few writes; less where bytes come slowly: a kill must not take much.
    const std::span<char> space = part.space();
    const auto filled = answer.read_full(space, longest_held);
    if (!filled) return std::unexpected(failure_of_call(filled.error().message));
    if (size && part.size() + *filled > *size)
      return std::unexpected(Failure{Cause::bad_answer, file.path + ": more bytes come than were listed"});
    if (*filled > 0) {
      TRY(part.take(space.first(*filled), counter));
      download.fail_point("part");
      continue;
    }
    if (size && part.size() < *size)
      return std::unexpected(Failure{Cause::network, file.path + ": the answer ends before the file does"});
    return {};
  }
}

/// One request, from what is here to the file's end.
Result<void> fetch_rest(const Download& download, const RemoteFile& file, const std::string& url, Part& part) {
  for (std::uint64_t from = part.size();; from = 0) {
    auto answer = TRY(download.fetcher.open(url, range_headers(from, part.etag())));
    const http_client::Head& head = answer.head();
    if (head.status >= 400 && head.status != 412 && head.status != 416)
      return std::unexpected(Fetcher::failure_of(answer, url));
    const Body body = TRY(body_of(file, from,
                                  {.status = head.status,
                                   .content_range = head.header("content-range"),
                                   .content_length = head.header("content-length"),
                                   .etag = head.header("etag"),
                                   .content_encoding = head.header("content-encoding")}));
    if (body.start_over) continue;
    if (body.begins == 0) TRY(part.begin(download.counter, strong_etag(head.header("etag"))));
    return read_body(download, answer, file, body.size ? body.size : file.size, part);
  }
}

/// Repeated as long as it gets on.
Result<void> fetch_all(const Download& download, const RemoteFile& file, const std::string& url, Part& part) {
  int failures = 0;
  while (!is_whole(file, part)) {
    const std::uint64_t before = part.size();
    auto done = fetch_rest(download, file, url, part);
    if (done) return {};
    if (!may_pass(done.error().cause) || download.counter.stop) return done;
    if (part.size() > before + progress_that_counts) failures = 0;
    if (++failures > most_failures) return done;
    log::warning("a download is interrupted and goes on",
                 {{"file", file.path}, {"at", part.size()}, {"cause", sentence(done.error())}});
    std::this_thread::sleep_for(backoff_wait(waits, failures - 1, Jitter::draw()));
  }
  return {};
}

}  // namespace download_detail

void Counter::set_file(std::string_view path) {
  const std::scoped_lock lock(mutex_);
  file_ = path;
}

Progress Counter::now() const {
  const std::scoped_lock lock(mutex_);
  return {.downloaded = downloaded, .total = total, .file = file_};
}

std::uint64_t bytes_here(const Place& place, const RemoteFile& file) {
  const auto size = size_of(place.part_path(file));
  return size ? bytes_to_keep(file, download_detail::record_of(place, file), *size) : 0;
}

Result<Sums> Download::run(const RemoteFile& file, const std::string& url) const {
  using namespace download_detail;
  for (bool again = false;; again = true) {
    Part part(place, file);
    TRY(part.open(counter));
    const bool resumed = part.resumed();
    TRY(fetch_all(*this, file, url, part));
    fail_point("fetched");
    Sums sums = TRY(part.finish());
    if (auto fault = fault_of_content(file, sums)) {
      part.discard(counter, sums.size);
      // The bytes of an earlier process may have been lost with the power: once from the beginning.
      if (resumed && !again) continue;
      return std::unexpected(std::move(*fault));
    }
    TRY(place.keep_whole(file));
    fail_point("kept");
    return sums;
  }
}

}  // namespace stackgate::puller
