#include "certs/file_identity.hpp"

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "certs/reloader.hpp"
#include "services/kit/base/time.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/files/file.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::certs {
namespace file_detail {

/// Waits until something happens in the directories of some files. A hint, not a proof: look at the files themselves.
class FileWatch {
 public:
  enum class Woken : std::uint8_t { changed, time_over, stopped };

  /// Directories, not files, are watched: a mounted secret is changed by swapping a symbolic link beside the files.
  explicit FileWatch(const std::vector<std::string>& files) {
    for (const auto& file : files) {
      const auto directory = std::filesystem::path(file).parent_path().string();
      directories_.insert(directory.empty() ? "." : directory);
    }
    add_watches();
  }

  /// Returns at a change, after `at_most`, or when stop() has been called.
  Woken wait(std::chrono::milliseconds at_most) {
    add_watches();
    pollfd waiting[] = {{stop_.fd(), POLLIN, 0}, {inotify_.fd(), POLLIN, 0}};
    const int ready = ::poll(waiting, inotify_ ? 2 : 1, static_cast<int>(at_most.count()));
    if ((waiting[0].revents & POLLIN) != 0) return Woken::stopped;
    if (ready <= 0 || (waiting[1].revents & POLLIN) == 0) return Woken::time_over;
    alignas(inotify_event) char events[4096];
    while (::read(inotify_.fd(), events, sizeof events) > 0) {
    }
    return Woken::changed;
  }
  /// From any thread; every later wait() answers `stopped`.
  void stop() {
    const std::uint64_t one = 1;
    (void)!::write(stop_.fd(), &one, sizeof one);
  }

 private:
  // Again at each wait: the directory may not have been there, or may have been replaced. A second watch of the same
  // directory is the first one.
  void add_watches() {
    for (const auto& directory : directories_)
      ::inotify_add_watch(inotify_.fd(), directory.c_str(),
                          IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_DELETE | IN_ATTRIB | IN_DELETE_SELF |
                              IN_MOVE_SELF | IN_ONLYDIR);
  }

  // Without inotify (the user's limit is used up) the caller's time-out still finds every change.
  const files::File inotify_{::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)};
  const files::File stop_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::set<std::string> directories_;
};

constexpr std::size_t max_file_bytes = 1024 * 1024;
constexpr std::chrono::hours between_warnings{1};

std::expected<std::string, Error> read_file(const std::string& path) {
  const auto fail = [&](std::string_view why) {
    return std::unexpected(Error{fmt::format("cannot read {}: {}", path, why)});
  };
  std::error_code missing;  // open() names it
  if (std::filesystem::exists(path, missing) && !std::filesystem::is_regular_file(path, missing))
    return fail("it is no regular file");
  auto text = files::read_file(path, max_file_bytes);
  if (text) return *std::move(text);
  return fail(text.error() == EFBIG ? "it is larger than 1 MiB, which no certificate is" : std::strerror(text.error()));
}

std::expected<PemPair, Error> read_pair(const FileIdentityOptions& options) {
  auto certificates = TRY(read_file(options.certificate_file));
  auto key = TRY(read_file(options.key_file));
  return PemPair{std::move(certificates), std::move(key)};
}

}  // namespace file_detail

/// Has a thread of its own, no run::Periodic: it waits in the kernel, for directories to change.
struct FileIdentity::Impl {
  const FileIdentityOptions options;
  file_detail::FileWatch watch;
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
      file_detail::FileWatch::Woken woken = watch.wait(options.poll);
      for (int i = 0; i < 20 && woken == file_detail::FileWatch::Woken::changed; ++i)
        woken = watch.wait(options.settle);
      if (woken == file_detail::FileWatch::Woken::stopped) return;
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
  impl->thread = std::thread([raw = impl.get()] { raw->run(); });
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

void add_identity_metrics(metrics::Registry& registry, const std::function<IdentityStatus()>& status) {
  registry.gauge_from("stackgate_certificate_not_after_timestamp_seconds",
                      "End of the served certificate chain, seconds since the epoch; 0 while there is none.", [status] {
                        const IdentityStatus now = status();
                        return now.serving ? static_cast<double>(std::chrono::system_clock::to_time_t(now.not_after))
                                           : 0.0;
                      });
  registry.counter_from("stackgate_certificate_reloads_total", "Certificates taken into use, the first one included.",
                        [status] { return static_cast<double>(status().reloads); });
  registry.counter_from("stackgate_certificate_reload_failures_total", "Certificates that were refused.",
                        [status] { return static_cast<double>(status().failures); });
}

}  // namespace stackgate::certs
