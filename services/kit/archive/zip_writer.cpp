#include "services/kit/archive/zip_writer.hpp"

#include <cerrno>
#include <optional>

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include "services/kit/archive/entry_name.hpp"
#include "services/kit/base/try.hpp"

namespace stackgate::archive {

struct ZipWriter::Impl {
  explicit Impl(PackedTo packed_to) : to(std::move(packed_to)) {
    archive_write_set_format_zip(zip.get());
    archive_write_set_bytes_per_block(zip.get(), 64 << 10);
    archive_write_set_bytes_in_last_block(zip.get(), 1);
    opened = archive_write_open2(zip.get(), this, nullptr, &Impl::take, nullptr, nullptr) == ARCHIVE_OK;
  }
  /// Freeing what is open closes it: what it writes then goes nowhere.
  ~Impl() { abandoned = true; }

  /// Reports no error of `to`: check() has it (tar_gz_writer.cpp says why).
  static la_ssize_t take(::archive* zip, void* self, const void* bytes, size_t size) {
    auto& impl = *static_cast<Impl*>(self);
    if (impl.abandoned) {
      archive_set_error(zip, EIO, "abandoned");
      return -1;
    }
    if (!impl.refused)
      if (auto done = impl.to({static_cast<const char*>(bytes), size}); !done) impl.refused = std::move(done.error());
    return static_cast<la_ssize_t>(size);
  }

  std::expected<void, std::string> check(bool good) {
    if (refused) return std::unexpected(*refused);
    if (good) return {};
    const char* const why = archive_error_string(zip.get());
    return std::unexpected(fmt::format("the archive cannot be written: {}", why != nullptr ? why : "unknown"));
  }

  PackedTo to;
  std::optional<std::string> refused;
  bool opened = false, abandoned = false;
  std::unique_ptr<::archive, int (*)(::archive*)> zip{archive_write_new(), archive_write_free};  // last: calls take()
};

ZipWriter::ZipWriter(PackedTo to) : impl_(std::make_unique<Impl>(std::move(to))) {}
ZipWriter::~ZipWriter() = default;

std::expected<void, std::string> ZipWriter::begin(const std::string& name) {
  TRY(impl_->check(impl_->opened));
  if (const auto clean = clean_name(name); !clean || *clean != name || name.empty())
    return std::unexpected(fmt::format("\"{}\" cannot be packed: {}", name, clean ? "no plain name" : clean.error()));
  const std::unique_ptr<archive_entry, void (*)(archive_entry*)> header(archive_entry_new(), archive_entry_free);
  archive_entry_set_pathname(header.get(), name.c_str());
  archive_entry_set_filetype(header.get(), AE_IFREG);
  archive_entry_set_perm(header.get(), 0644);
  return impl_->check(archive_write_header(impl_->zip.get(), header.get()) == ARCHIVE_OK);
}

std::expected<void, std::string> ZipWriter::data(std::string_view bytes) {
  return impl_->check(archive_write_data(impl_->zip.get(), bytes.data(), bytes.size()) ==
                      static_cast<la_ssize_t>(bytes.size()));
}

std::expected<void, std::string> ZipWriter::finish() {
  return impl_->check(impl_->opened && archive_write_close(impl_->zip.get()) == ARCHIVE_OK);
}

}  // namespace stackgate::archive
