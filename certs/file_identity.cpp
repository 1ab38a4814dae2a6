#include "certs/file_identity.hpp"

#include <cerrno>
#include <cstring>
#include <mutex>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "certs/file_watch.hpp"
#include "certs/reloader.hpp"
#include "services/kit/base/time.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::certs {
namespace file_detail {

constexpr std::size_t max_file_bytes = 1024 * 1024;
constexpr std::chrono::hours between_warnings{1};

std::expected<std::string, Error> read_file(const std::string& path) {
  const auto fail = [&](std::string_view why) {
    return std::unexpected(Error{fmt::format("cannot read {}: {}", path, why)});
  };
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a FIFO must not hold us
  if (fd < 0) return fail(std::strerror(errno));
  struct stat about{};
  std::string text;
  if (::fstat(fd, &about) != 0 || !S_ISREG(about.st_mode)) {
    ::close(fd);
    return fail("it is no regular file");
  }
  char part[16 * 1024];
  ssize_t n = 0;
  while ((n = ::read(fd, part, sizeof part)) > 0 && text.size() <= max_file_bytes)
    text.append(part, static_cast<std::size_t>(n));
  const int error = errno;
  ::close(fd);
  if (n < 0) return fail(std::strerror(error));
  if (text.size() > max_file_bytes) return fail("it is larger than 1 MiB, which no certificate is");
  return text;
}

std::expected<PemPair, Error> read_pair(const FileIdentityOptions& options) {
  auto certificates = TRY(read_file(options.certificate_file));
  auto key = TRY(read_file(options.key_file));
  return PemPair{std::move(certificates), std::move(key)};
}

}  // namespace file_detail

struct FileIdentity::Impl {
  const FileIdentityOptions options;
  FileWatch watch;
  mutable std::mutex mutex;
  Reloader reloader;  // under the mutex
  Time warned{};      // of the watching thread alone
  std::thread thread;

  explicit Impl(FileIdentityOptions o) : options(std::move(o)), watch({options.certificate_file, options.key_file}) {}

  void look(Time now) {
    const auto read = file_detail::read_pair(options);
    const std::lock_guard lock(mutex);
    switch (reloader.offer(read, now)) {
      case Reloader::Outcome::unchanged:
        break;
      case Reloader::Outcome::accepted: {
        const Description& leaf = reloader.identity()->leaf;
        log::info("certificate loaded", {{"file", options.certificate_file},
                                         {"subject", leaf.subject},
                                         {"names", fmt::format("{}", fmt::join(leaf.dns_names, ","))},
                                         {"key", leaf.key_type},
                                         {"not_after", to_rfc3339(reloader.identity()->not_after)}});
        if (leaf.dns_names.empty() && leaf.ip_addresses.empty()) {
          log::warning("the certificate names no host: the API server will refuse it",
                       {{"file", options.certificate_file}});
        }
        warned = {};
        break;
      }
      case Reloader::Outcome::refused:
        log::error(reloader.identity() ? "new certificate refused, the old one stays"
                                       : "certificate refused, there is none to serve",
                   {{"file", options.certificate_file}, {"error", reloader.error()}});
        break;
    }
    if (const auto& identity = reloader.identity()) warn_of_age(*identity, now);
  }

  void warn_of_age(const Identity& identity, Time now) {
    const Age age = age_of(identity.leaf.not_before, identity.not_after, now);
    if (age == Age::fresh || now - warned < file_detail::between_warnings) return;
    warned = now;
    const std::string end = to_rfc3339(identity.not_after);
    if (age == Age::expired) {
      log::error("the certificate has expired: clients refuse it",
                 {{"file", options.certificate_file}, {"not_after", end}});
    } else {
      log::warning("the certificate ends soon and has not been renewed",
                   {{"file", options.certificate_file}, {"not_after", end}});
    }
  }

  void run() {
    for (;;) {
      FileWatch::Woken woken = watch.wait(options.poll);
      if (woken == FileWatch::Woken::changed) {
        for (int i = 0; i < 20 && woken == FileWatch::Woken::changed; ++i) woken = watch.wait(options.settle);
      }
      if (woken == FileWatch::Woken::stopped) return;
      look(std::chrono::system_clock::now());
    }
  }
};

std::string why_not_ready(const IdentityStatus& status, Time now) {
  if (!status.serving) return status.error.empty() ? "there is no certificate yet" : status.error;
  switch (age_of(status.serving->not_before, status.not_after, now)) {
    case Age::expired:
      return fmt::format("the certificate expired at {}", to_rfc3339(status.not_after));
    case Age::not_yet_valid:
      return fmt::format("the certificate is not valid before {}", to_rfc3339(status.serving->not_before));
    case Age::fresh:
    case Age::late:
      break;
  }
  return {};
}

std::shared_ptr<FileIdentity> FileIdentity::start(FileIdentityOptions options) {
  auto impl = std::make_unique<Impl>(std::move(options));
  impl->look(std::chrono::system_clock::now());
  sigset_t all, before;  // signals are main's business
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  impl->thread = std::thread([raw = impl.get()] { raw->run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return std::shared_ptr<FileIdentity>(new FileIdentity(std::move(impl)));
}

FileIdentity::FileIdentity(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

FileIdentity::~FileIdentity() {
  impl_->watch.stop();
  impl_->thread.join();
}

std::shared_ptr<ssl_ctx_st> FileIdentity::current() const {
  const std::lock_guard lock(impl_->mutex);
  const auto& identity = impl_->reloader.identity();
  return identity ? identity->context : nullptr;
}

IdentityStatus FileIdentity::status() const {
  const std::lock_guard lock(impl_->mutex);
  IdentityStatus status;
  if (const auto& identity = impl_->reloader.identity()) {
    status.serving = identity->leaf;
    status.not_after = identity->not_after;
  }
  status.error = impl_->reloader.error();
  status.reloads = impl_->reloader.accepted();
  status.failures = impl_->reloader.refused();
  return status;
}

}  // namespace stackgate::certs
