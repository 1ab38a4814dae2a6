#include "certs/file_watch.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

namespace stackgate::certs {

FileWatch::FileWatch(const std::vector<std::string>& files) {
  // Without inotify (the user's limit is used up) the caller's time-out still finds every change.
  inotify_ = ::inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  stop_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  for (const auto& file : files) {
    auto directory = std::filesystem::path(file).parent_path().string();
    if (directory.empty()) directory = ".";
    if (std::find(directories_.begin(), directories_.end(), directory) == directories_.end())
      directories_.push_back(directory);
  }
  add_watches();
}

FileWatch::~FileWatch() {
  if (inotify_ >= 0) ::close(inotify_);
  if (stop_ >= 0) ::close(stop_);
}

// Again at each wait: the directory may not have been there, or may have been replaced. A second watch of the same
// directory is the first one.
void FileWatch::add_watches() {
  for (const auto& directory : directories_) {
    ::inotify_add_watch(
        inotify_, directory.c_str(),
        IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_DELETE | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR);
  }
}

FileWatch::Woken FileWatch::wait(std::chrono::milliseconds at_most) {
  add_watches();
  pollfd waiting[] = {{stop_, POLLIN, 0}, {inotify_, POLLIN, 0}};
  const int ready = ::poll(waiting, inotify_ >= 0 ? 2 : 1, static_cast<int>(at_most.count()));
  if ((waiting[0].revents & POLLIN) != 0) return Woken::stopped;
  if (ready <= 0 || (waiting[1].revents & POLLIN) == 0) return Woken::time_over;
  alignas(inotify_event) char events[4096];
  while (::read(inotify_, events, sizeof events) > 0) {
  }
  return Woken::changed;
}

void FileWatch::stop() {
  const std::uint64_t one = 1;
  (void)!::write(stop_, &one, sizeof one);
}

}  // namespace stackgate::certs
