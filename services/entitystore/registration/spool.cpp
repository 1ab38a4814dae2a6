#include "services/entitystore/registration/spool.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include "services/kit/base/out_of_space.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/crypto/digest.hpp"

namespace stackgate::entitystore {
namespace spool_detail {

namespace fs = std::filesystem;

std::expected<std::string, std::string> read_instance(const std::string& path) {
  std::string name;
  if (std::ifstream in(path); in) std::getline(in, name);
  if (name.size() == 32) return name;
  name = crypto::random_hex(16);
  std::ofstream out(path, std::ios::trunc);
  out << name << "\n";
  out.flush();
  if (!out) return std::unexpected(fmt::format("cannot write {}", path));
  return name;
}

}  // namespace spool_detail

ServiceError storage_error(std::string_view what, int code) {
  const bool full = is_out_of_space(code);
  return {full ? ServiceFault::full : ServiceFault::broken,
          fmt::format("{}: {}", what, full ? "the disk is full" : std::strerror(code))};
}

std::expected<void, ServiceError> write_all(int fd, std::string_view bytes) {
  const int fault = files::write_all(fd, bytes);
  if (fault != 0) return std::unexpected(storage_error("cannot write the upload", fault));
  return {};
}

std::expected<Spool, std::string> Spool::open(std::string_view data_dir) {
  const std::string folder = fmt::format("{}/spool", data_dir);
  std::error_code error;
  spool_detail::fs::create_directories(folder, error);
  if (error) return std::unexpected(fmt::format("cannot make {}: {}", folder, error.message()));
  const std::string path = fmt::format("{}/entitystore.lock", data_dir);
  files::File lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock) return std::unexpected(fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  if (::flock(lock.fd(), LOCK_EX | LOCK_NB) != 0)
    return std::unexpected(
        fmt::format("{} is in use by another entitystore; give each replica a --data-dir of its own", data_dir));
  auto instance = TRY(spool_detail::read_instance(fmt::format("{}/instance", data_dir)));
  return Spool(folder, std::move(instance), std::move(lock));
}

std::string Spool::folder(std::string_view id) const { return fmt::format("{}/{}", folder_, id); }
std::string Spool::archive(std::string_view id) const { return fmt::format("{}/{}/adapter.tar.gz", folder_, id); }
std::string Spool::archive_part(std::string_view id) const { return archive(id) + ".part"; }
std::string Spool::file(std::string_view id, std::size_t number) const {
  return fmt::format("{}/{}/{}", folder_, id, number);
}

std::expected<void, ServiceError> Spool::make(std::string_view id) const {
  std::error_code error;
  spool_detail::fs::create_directories(folder(id), error);
  if (error) return std::unexpected(storage_error("cannot make a folder for the upload", error.value()));
  return {};
}

std::expected<void, ServiceError> Spool::keep(std::string_view id) const {
  if (::rename(archive_part(id).c_str(), archive(id).c_str()) != 0)
    return std::unexpected(storage_error("cannot keep the upload", errno));
  return {};
}

void Spool::remove(std::string_view id) const {
  if (id.empty() || id.find('/') != std::string_view::npos) return;
  std::error_code ignored;
  spool_detail::fs::remove_all(folder(id), ignored);
}

std::vector<std::string> Spool::all() const {
  std::vector<std::string> out;
  std::error_code error;
  for (spool_detail::fs::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error))
    out.push_back(it->path().filename().string());
  return out;
}

}  // namespace stackgate::entitystore
