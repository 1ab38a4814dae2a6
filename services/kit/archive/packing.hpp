// libarchive's writing side, as both writers use it. Only their .cpp files include it.
#pragma once
#include <cerrno>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include "services/kit/archive/entry_name.hpp"
#include "services/kit/archive/tar_gz_writer.hpp"
#include "services/kit/base/freed.hpp"
#include "services/kit/base/try.hpp"

namespace stackgate::archive {

/// The format is set on `handle` before open(). Stays where it was made: libarchive keeps its address.
class Packing {
 public:
  explicit Packing(PackedTo to) : to_(std::move(to)) {}
  /// Freeing what is open closes it: padding what an entry lacks ends at the first block that is not taken.
  ~Packing() { abandoned_ = true; }
  Packing(const Packing&) = delete;
  Packing& operator=(const Packing&) = delete;

  void open(int block_bytes) {
    archive_write_set_bytes_per_block(handle.get(), block_bytes);
    archive_write_set_bytes_in_last_block(handle.get(), 1);
    opened_ = archive_write_open2(handle.get(), this, nullptr, &Packing::take, nullptr, nullptr) == ARCHIVE_OK;
  }

  /// A file's header; `complete` adds what the format wants in it.
  template <class Complete>
  std::expected<void, std::string> begin(const std::string& name, Complete complete) {
    TRY(check(opened_));
    if (const auto clean = clean_name(name); !clean || *clean != name || name.empty())
      return std::unexpected(fmt::format("\"{}\" cannot be packed: {}", name, clean ? "no plain name" : clean.error()));
    const std::unique_ptr<archive_entry, Freed<archive_entry_free>> header(archive_entry_new());
    archive_entry_set_pathname(header.get(), name.c_str());
    archive_entry_set_filetype(header.get(), AE_IFREG);
    archive_entry_set_perm(header.get(), 0644);
    complete(header.get());
    return check(archive_write_header(handle.get(), header.get()) == ARCHIVE_OK);
  }

  std::expected<void, std::string> data(std::string_view bytes) {
    return check(archive_write_data(handle.get(), bytes.data(), bytes.size()) == static_cast<la_ssize_t>(bytes.size()));
  }

  std::expected<void, std::string> finish() {
    return check(opened_ && archive_write_close(handle.get()) == ARCHIVE_OK);
  }

  /// The error of `to` before libarchive's own.
  std::expected<void, std::string> check(bool good) {
    if (refused_) return std::unexpected(*refused_);
    if (good) return {};
    const char* const why = archive_error_string(handle.get());
    return std::unexpected(fmt::format("the archive cannot be written: {}", why != nullptr ? why : "unknown"));
  }

 private:
  /// Reports no error of `to`: libarchive frees all its layers of archives only that it could close. check() has it.
  static la_ssize_t take(::archive* handle, void* self, const void* bytes, size_t size) {
    auto& packing = *static_cast<Packing*>(self);
    if (packing.abandoned_) {
      archive_set_error(handle, EIO, "abandoned");
      return -1;
    }
    if (!packing.refused_)
      if (auto done = packing.to_({static_cast<const char*>(bytes), size}); !done)
        packing.refused_ = std::move(done.error());
    return static_cast<la_ssize_t>(size);
  }

  PackedTo to_;
  std::optional<std::string> refused_;
  bool opened_ = false, abandoned_ = false;

 public:
  const std::unique_ptr<::archive, Freed<archive_write_free>> handle{archive_write_new()};  // last: calls take()
};

}  // namespace stackgate::archive
