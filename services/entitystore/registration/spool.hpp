// Where uploads lie until they are in the datastore: <data>/spool/<adapter>/. Thread-safe.
#pragma once
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/base/service_error.hpp"
#include "services/kit/files/file.hpp"

namespace stackgate::entitystore {

class Spool {
 public:
  /// Makes the folder and takes it for this process: a second one on the same folder is an error.
  static std::expected<Spool, std::string> open(std::string_view data_dir);
  /// The same after a restart on the same folder: whose uploads these are.
  const std::string& instance() const { return instance_; }

  std::string folder(std::string_view id) const;
  std::string archive(std::string_view id) const;       // whole, or not there
  std::string archive_part(std::string_view id) const;  // being written
  std::string file(std::string_view id, std::size_t number) const;

  std::expected<void, ServiceError> make(std::string_view id) const;
  /// archive_part becomes archive. It outlives this process, not the machine: nobody has been told that the upload is
  /// safe before the datastore has it, and a resumed one is checked by its hash.
  std::expected<void, ServiceError> keep(std::string_view id) const;
  void remove(std::string_view id) const;
  std::vector<std::string> all() const;

 private:
  Spool(std::string folder, std::string instance, files::File lock)
      : folder_(std::move(folder)), instance_(std::move(instance)), lock_(std::move(lock)) {}
  std::string folder_, instance_;
  files::File lock_;
};

/// From errno: ServiceFault::full when the disk is, else broken; the message names the cause ("the disk is full").
ServiceError storage_error(std::string_view what, int code);

/// Writes all of it.
std::expected<void, ServiceError> write_all(int fd, std::string_view bytes);

}  // namespace stackgate::entitystore
