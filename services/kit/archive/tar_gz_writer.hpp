// Files packed as a tar.gz that read_tar_gz and every tar take; a Sink, so that an archive can be read straight into
// it. The same files give the same bytes: no times, no owners. libarchive stays behind tar_gz_writer.cpp.
#pragma once
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "services/kit/archive/tar_gz.hpp"

namespace stackgate::archive {

/// Gets the packed bytes in order; its error ends the writing and is returned by the call that made it.
using PackedTo = std::function<std::expected<void, std::string>(std::string_view bytes)>;

/// begin(), data() as often as needed, end(), for each file; then finish(). After an error only the destructor may be
/// called. What was not finished is no whole archive. Not thread-safe.
class TarGzWriter : public Sink {
 public:
  /// `level`: gzip's, 1 (fast; weights hardly get smaller) to 9.
  explicit TarGzWriter(PackedTo to, int level = 1);
  ~TarGzWriter() override;
  TarGzWriter(TarGzWriter&&) noexcept;
  TarGzWriter& operator=(TarGzWriter&&) noexcept;

  /// The name must be as clean_name() returns it. `entry.size` bytes must follow, neither more nor fewer.
  std::expected<void, std::string> begin(const Entry& entry) override;
  std::expected<void, std::string> data(std::string_view bytes) override;
  std::expected<void, std::string> end() override;
  std::expected<void, std::string> finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stackgate::archive
