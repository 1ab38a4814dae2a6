#include "services/entitystore/registration/intake.hpp"

#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

#include "services/kit/base/try.hpp"

namespace stackgate::entitystore {

Intake::Intake(const Spool& spool, std::string id, InspectLimits limits)
    : spool_(spool), id_(std::move(id)), limits_(limits) {}

Intake::~Intake() {
  {
    const std::lock_guard lock(mutex_);
    given_up_ = true;
  }
  more_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::expected<void, ServiceError> Intake::begin() {
  TRY(spool_.make(id_));
  file_ = files::File(::open(spool_.archive_part(id_).c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file_) return std::unexpected(storage_error("cannot keep the upload", errno));
  thread_ = std::jthread([this] {
    Inspected result = inspect([this](std::span<char> space) { return read(space); }, spool_, id_, limits_);
    const std::lock_guard lock(mutex_);
    inspected_ = std::move(result);
  });
  return {};
}

std::expected<void, ServiceError> Intake::add(std::string_view bytes) {
  if (!file_) TRY(begin());
  TRY(write_all(file_.fd(), bytes));
  {
    const std::lock_guard lock(mutex_);
    written_ += bytes.size();
  }
  more_.notify_one();
  hash_.add(bytes);
  return {};
}

std::expected<std::size_t, archive::ReadError> Intake::read(std::span<char> space) {
  std::uint64_t ready = 0;
  {
    std::unique_lock lock(mutex_);
    more_.wait(lock, [this] { return written_ > taken_ || whole_ || given_up_; });
    if (given_up_) return std::unexpected(archive::ReadError{true, "the upload was given up"});
    ready = written_ - taken_;
  }
  if (ready == 0) return 0;
  const std::size_t size = std::min<std::uint64_t>(space.size(), ready);
  const ssize_t got = ::pread(file_.fd(), space.data(), size, static_cast<off_t>(taken_));
  if (got <= 0) return std::unexpected(archive::ReadError{true, "cannot read the upload again"});
  taken_ += static_cast<std::uint64_t>(got);
  return static_cast<std::size_t>(got);
}

std::expected<Intake::Outcome, ServiceError> Intake::finish(bool keep) {
  if (!file_) TRY(begin());
  {
    const std::lock_guard lock(mutex_);
    whole_ = true;
  }
  more_.notify_all();
  thread_.join();
  Outcome out{.inspected = std::move(*inspected_), .sha256 = crypto::to_hex(hash_.finish()), .bytes = written_};
  if (out.inspected.failed) return std::unexpected(*out.inspected.failed);
  if (keep && !validate::has_errors(out.inspected.findings)) TRY(spool_.keep(id_));
  return out;
}

std::expected<Intake::Outcome, ServiceError> inspect_again(const Spool& spool, std::string_view id,
                                                           const InspectLimits& limits) {
  const files::File file(::open(spool.archive(id).c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return std::unexpected(storage_error("cannot read the upload again", errno));
  crypto::Sha256Stream hash;
  Intake::Outcome out;
  out.inspected = inspect(
      [&](std::span<char> space) -> std::expected<std::size_t, archive::ReadError> {
        const ssize_t got = ::read(file.fd(), space.data(), space.size());
        if (got < 0) return std::unexpected(archive::ReadError{true, "cannot read the upload again"});
        hash.add({space.data(), static_cast<std::size_t>(got)});
        out.bytes += static_cast<std::uint64_t>(got);
        return static_cast<std::size_t>(got);
      },
      spool, id, limits);
  if (out.inspected.failed) return std::unexpected(*out.inspected.failed);
  out.sha256 = crypto::to_hex(hash.finish());
  return out;
}

}  // namespace stackgate::entitystore
