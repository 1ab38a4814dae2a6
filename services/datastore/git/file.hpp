// Files and directories, the way a repository needs them: whole, then visible, then safe.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "services/datastore/git/objects.hpp"

namespace stackgate::datastore::git {

/// Owns a descriptor.
class File {
 public:
  File() = default;
  explicit File(int fd) : fd_(fd) {}
  File(File&& other) noexcept : fd_(other.release()) {}
  File& operator=(File&& other) noexcept;
  ~File() { close(); }
  int fd() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release() {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }
  void close();

 private:
  int fd_ = -1;
};

/// All of it, through short writes and signals; 0 or errno.
int write_all(int fd, std::string_view bytes);
int sync_directory(const std::string& path);
/// A small file; Fault::missing when there is none, Fault::full beyond `most` bytes.
Expected<std::string> read_file(const std::string& path, std::uint64_t most);

}  // namespace stackgate::datastore::git
