#include "services/kit/archive/tar_gz.hpp"

#include <cerrno>
#include <memory>
#include <set>
#include <utility>

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include "services/kit/archive/entry_name.hpp"
#include "services/kit/base/freed.hpp"

namespace stackgate::archive {
namespace tar_gz_detail {

constexpr std::size_t block_bytes = std::size_t{256} << 10U;

class Reading {
 public:
  Reading(Source source, Sink& sink, const TarLimits& limits)
      : gunzip_(std::move(source), limits.gunzip), sink_(sink), limits_(limits), block_(block_bytes) {}

  Outcome run() {
    const std::unique_ptr<::archive, Freed<archive_read_free>> tar(archive_read_new());
    tar_ = tar.get();
    archive_read_support_filter_none(tar_);
    archive_read_support_format_tar(tar_);
    if (archive_read_open(tar_, this, nullptr, &Reading::give, nullptr) == ARCHIVE_OK)
      entries();
    else
      broken();
    if (!error_ && !outcome_.failed && good_) drain();
    if (error_ && error_->ours)
      outcome_.failed = error_->message;
    else if (error_)
      add("adapter-archive-gzip", "adapter", error_->message, "pack it with: tar -czf adapter.tar.gz …");
    outcome_.packed = gunzip_.packed();
    outcome_.unpacked = gunzip_.unpacked();
    return std::move(outcome_);
  }

 private:
  static la_ssize_t give(::archive* tar, void* self, const void** block) {
    auto& reading = *static_cast<Reading*>(self);
    const auto got = reading.gunzip_.read(reading.block_);
    if (!got) {
      reading.error_ = got.error();
      archive_set_error(tar, EIO, "unreadable");
      return -1;
    }
    *block = reading.block_.data();
    return static_cast<la_ssize_t>(*got);
  }

  void add(std::string_view rule, std::string path, std::string problem, std::string fix) {
    if (outcome_.findings.size() >= limits_.findings) return;
    outcome_.findings.push_back(
        {.rule = rule, .path = std::move(path), .problem = std::move(problem), .fix = std::move(fix)});
  }

  /// The tar stream cannot be read on. The gzip stream's own fault says more when there is one.
  void broken() {
    good_ = false;
    if (error_) return;
    const char* why = archive_error_string(tar_);
    add("adapter-archive-tar", "adapter", fmt::format("is no whole tar archive: {}", why != nullptr ? why : "unknown"),
        "pack it with: tar -czf adapter.tar.gz …");
  }

  void entries() {
    std::size_t count = 0;
    while (true) {
      archive_entry* entry = nullptr;
      const int result = archive_read_next_header(tar_, &entry);
      if (result == ARCHIVE_EOF) return;
      if (result != ARCHIVE_OK && result != ARCHIVE_WARN) return broken();
      if (++count > limits_.entries) {
        good_ = false;
        return add("adapter-archive-entries", "adapter", fmt::format("has more than {} entries", limits_.entries),
                   "pack only the adapter's files");
      }
      if (!one(entry)) return;
    }
  }

  /// False ends the reading.
  bool one(archive_entry* entry) {
    const char* raw = archive_entry_pathname_utf8(entry);
    if (raw == nullptr) raw = archive_entry_pathname(entry);
    auto name = clean_name(raw == nullptr ? "" : raw);
    if (!name) {
      add("adapter-archive-name", "adapter", fmt::format("entry {} {}", shown(raw), name.error()),
          "pack the files with relative names");
      return true;
    }
    const auto type = archive_entry_filetype(entry);
    const std::string path = fmt::format("adapter[{}]", *name);
    if (archive_entry_hardlink(entry) != nullptr || type == AE_IFLNK) {
      add("adapter-archive-link", path, "is a link", "pack the files themselves: tar --dereference --hard-dereference");
      return true;
    }
    if (type == AE_IFDIR) return true;
    if (type != AE_IFREG) {
      add("adapter-archive-device", path, "is a device, a pipe or a socket", "pack regular files only");
      return true;
    }
    if (name->empty()) {
      add("adapter-archive-name", "adapter", "has an entry without a name", "pack the files with relative names");
      return true;
    }
    if (is_litter(*name)) {
      outcome_.litter.push_back(std::move(*name));
      return true;
    }
    if (archive_entry_sparse_count(entry) > 0) {
      add("adapter-archive-sparse", path, "is a sparse file", "pack without --sparse");
      return true;
    }
    if (!is_new(*name, path)) return true;
    const auto size = archive_entry_size(entry);
    if (size < 0) {
      add("adapter-archive-tar", path, "has no size", "pack it with: tar -czf adapter.tar.gz …");
      return good_ = false;
    }
    return copy({std::move(*name), static_cast<std::uint64_t>(size)});
  }

  static std::string shown(const char* raw) {
    std::string out = "\"";
    for (const char* c = raw == nullptr ? "" : raw; *c != 0 && out.size() < 120; ++c)
      out += static_cast<unsigned char>(*c) < 0x20 || static_cast<unsigned char>(*c) >= 0x7f ? '?' : *c;
    return out + '"';
  }

  bool is_new(const std::string& name, const std::string& path) {
    if (!names_.insert(name).second) {
      add("adapter-archive-duplicate", path, "stands in the archive twice", "pack each file once");
      return false;
    }
    // A file "a" beside "a/b" cannot lie in one folder. Names behind "a/" in order are those inside it.
    const auto inside = names_.lower_bound(name + "/");
    bool clash = inside != names_.end() && inside->starts_with(name + "/");
    for (auto slash = name.rfind('/'); slash != std::string::npos && slash > 0; slash = name.rfind('/', slash - 1))
      clash = clash || names_.contains(name.substr(0, slash));
    if (clash) add("adapter-archive-duplicate", path, "is a file and a folder at once", "give them different names");
    return !clash;
  }

  bool copy(Entry entry) {
    if (auto begun = sink_.begin(entry); !begun) return fail(begun.error());
    while (true) {
      const void* bytes = nullptr;
      std::size_t size = 0;
      la_int64_t offset = 0;
      const int result = archive_read_data_block(tar_, &bytes, &size, &offset);
      if (result == ARCHIVE_EOF) break;
      if (result != ARCHIVE_OK && result != ARCHIVE_WARN) return broken(), false;
      if (size == 0) continue;
      if (auto done = sink_.data({static_cast<const char*>(bytes), size}); !done) return fail(done.error());
    }
    if (auto ended = sink_.end(); !ended) return fail(ended.error());
    outcome_.files.push_back(std::move(entry));
    return true;
  }

  bool fail(std::string why) {
    outcome_.failed = std::move(why);
    return good_ = false;
  }

  /// What follows the tar's end is read for the checksum that ends it.
  void drain() {
    while (true) {
      const auto got = gunzip_.read(block_);
      if (!got) return void(error_ = got.error());
      if (*got == 0) return;
    }
  }

  Gunzip gunzip_;
  Sink& sink_;
  const TarLimits& limits_;
  std::vector<char> block_;
  ::archive* tar_ = nullptr;
  std::optional<ReadError> error_;
  std::set<std::string> names_;
  bool good_ = true;
  Outcome outcome_;
};

}  // namespace tar_gz_detail

Outcome read_tar_gz(Source source, Sink& sink, const TarLimits& limits) {
  return tar_gz_detail::Reading(std::move(source), sink, limits).run();
}

}  // namespace stackgate::archive
