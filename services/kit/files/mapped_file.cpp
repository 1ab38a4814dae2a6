#include "services/kit/files/mapped_file.hpp"

#include <cerrno>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "services/kit/files/file.hpp"

namespace stackgate::files {

std::expected<MappedFile, int> MappedFile::open(const std::string& path) {
  const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // a FIFO must not hold us
  if (!file) return std::unexpected(errno == ENOTDIR ? ENOENT : errno);
  struct stat facts{};
  if (::fstat(file.fd(), &facts) != 0) return std::unexpected(errno);
  if (!S_ISREG(facts.st_mode)) return std::unexpected(ENOENT);
  const auto size = static_cast<std::size_t>(facts.st_size);
  if (size == 0) return MappedFile();
  void* const at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.fd(), 0);
  if (at == MAP_FAILED) return std::unexpected(errno);
  return MappedFile({static_cast<std::byte*>(at), size});
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

void MappedFile::will_need() const {
  if (!bytes_.empty()) ::madvise(bytes_.data(), bytes_.size(), MADV_WILLNEED);
}

}  // namespace stackgate::files
