// Waits until something happens in the directories of some files. A hint, not a proof: look at the files themselves.
#pragma once
#include <chrono>
#include <string>
#include <vector>

namespace stackgate::certs {

class FileWatch {
 public:
  /// Directories, not files, are watched: a mounted secret is changed by swapping a symbolic link beside the files.
  explicit FileWatch(const std::vector<std::string>& files);
  ~FileWatch();
  FileWatch(const FileWatch&) = delete;
  FileWatch& operator=(const FileWatch&) = delete;

  enum class Woken : std::uint8_t { changed, time_over, stopped };
  /// Returns at a change, after `at_most`, or when stop() has been called.
  Woken wait(std::chrono::milliseconds at_most);
  /// From any thread; every later wait() answers `stopped`.
  void stop();

 private:
  void add_watches();

  int inotify_ = -1, stop_ = -1;
  std::vector<std::string> directories_;
};

}  // namespace stackgate::certs
