#include "services/kit/archive/tar_gz_writer.hpp"

#include <cerrno>
#include <optional>
#include <utility>

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include "services/kit/archive/entry_name.hpp"
#include "services/kit/base/try.hpp"

namespace stackgate::archive {

struct TarGzWriter::Impl {
  Impl(PackedTo packed_to, int level) : to(std::move(packed_to)) {
    archive_write_add_filter_gzip(tar.get());
    archive_write_set_filter_option(tar.get(), "gzip", "compression-level", std::to_string(level).c_str());
    archive_write_set_filter_option(tar.get(), "gzip", "timestamp", nullptr);
    // GNU's dialect takes names as bytes; for pax libarchive converts them from the locale's encoding, and crashes in
    // C.
    archive_write_set_format_gnutar(tar.get());
    archive_write_set_bytes_per_block(tar.get(), 128 << 10);
    archive_write_set_bytes_in_last_block(tar.get(), 1);
    opened = archive_write_open2(tar.get(), this, nullptr, &Impl::take, nullptr, nullptr) == ARCHIVE_OK;
  }
  /// Freeing what is open closes it: padding what an entry lacks ends at the first block that is not taken.
  ~Impl() { abandoned = true; }

  /// Reports no error of `to`: libarchive frees all its layers of archives only that it could close. check() has it.
  static la_ssize_t take(::archive* tar, void* self, const void* bytes, size_t size) {
    auto& impl = *static_cast<Impl*>(self);
    if (impl.abandoned) {
      archive_set_error(tar, EIO, "abandoned");
      return -1;
    }
    if (!impl.refused) {
      if (auto done = impl.to({static_cast<const char*>(bytes), size}); !done) impl.refused = std::move(done.error());
    }
    return static_cast<la_ssize_t>(size);
  }

  std::expected<void, std::string> check(bool good) {
    if (refused) return std::unexpected(*refused);
    if (good) return {};
    const char* const why = archive_error_string(tar.get());
    return std::unexpected(fmt::format("the archive cannot be written: {}", why != nullptr ? why : "unknown"));
  }

  PackedTo to;
  std::optional<std::string> refused;
  bool opened = false, abandoned = false;
  std::string name;
  std::uint64_t left = 0;  // bytes of the open file
  std::unique_ptr<::archive, int (*)(::archive*)> tar{archive_write_new(), archive_write_free};  // last: calls take()
};

TarGzWriter::TarGzWriter(PackedTo to, int level) : impl_(std::make_unique<Impl>(std::move(to), level)) {}
TarGzWriter::~TarGzWriter() = default;
TarGzWriter::TarGzWriter(TarGzWriter&&) noexcept = default;
TarGzWriter& TarGzWriter::operator=(TarGzWriter&&) noexcept = default;

std::expected<void, std::string> TarGzWriter::begin(const Entry& entry) {
  TRY(impl_->check(impl_->opened));
  if (const auto clean = clean_name(entry.name); !clean || *clean != entry.name || entry.name.empty())
    return std::unexpected(
        fmt::format("\"{}\" cannot be packed: {}", entry.name, clean ? "no plain name" : clean.error()));
  const std::unique_ptr<archive_entry, void (*)(archive_entry*)> header(archive_entry_new(), archive_entry_free);
  archive_entry_set_pathname(header.get(), entry.name.c_str());
  archive_entry_set_filetype(header.get(), AE_IFREG);
  archive_entry_set_perm(header.get(), 0644);
  archive_entry_set_mtime(header.get(), 0, 0);
  archive_entry_set_size(header.get(), static_cast<la_int64_t>(entry.size));
  impl_->name = entry.name;
  impl_->left = entry.size;
  return impl_->check(archive_write_header(impl_->tar.get(), header.get()) == ARCHIVE_OK);
}

std::expected<void, std::string> TarGzWriter::data(std::string_view bytes) {
  if (bytes.size() > impl_->left)
    return std::unexpected(fmt::format("\"{}\" has more bytes than it was begun with", impl_->name));
  impl_->left -= bytes.size();
  return impl_->check(archive_write_data(impl_->tar.get(), bytes.data(), bytes.size()) ==
                      static_cast<la_ssize_t>(bytes.size()));
}

std::expected<void, std::string> TarGzWriter::end() {
  if (impl_->left > 0)
    return std::unexpected(fmt::format("\"{}\" ends {} bytes before its size", impl_->name, impl_->left));
  return impl_->check(archive_write_finish_entry(impl_->tar.get()) == ARCHIVE_OK);
}

std::expected<void, std::string> TarGzWriter::finish() {
  return impl_->check(impl_->opened && archive_write_close(impl_->tar.get()) == ARCHIVE_OK);
}

}  // namespace stackgate::archive
