#include "services/datastore/git/pack_writer.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "services/datastore/git/library.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/crypto/digest.hpp"

namespace stackgate::datastore::git {
namespace {

constexpr std::size_t pack_buffer = 256 * 1024;

void append_be32(std::string& out, std::uint64_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<char>((value >> shift) & 0xff));
}

/// Type and size, 4 bits and then 7 at a time.
std::string object_head(ObjectType type, std::uint64_t size) {
  std::string out;
  unsigned byte = (static_cast<unsigned>(type) << 4U) | static_cast<unsigned>(size & 15U);
  for (size >>= 4U; size != 0; size >>= 7U) {
    out.push_back(static_cast<char>(byte | 0x80U));
    byte = static_cast<unsigned>(size & 0x7fU);
  }
  out.push_back(static_cast<char>(byte));
  return out;
}

std::string_view raw(const crypto::Sha1& hash) { return {reinterpret_cast<const char*>(hash.data()), hash.size()}; }

/// SHA-1 of a whole file, which is mapped rather than read into memory.
Expected<crypto::Sha1> hash_of_file(int fd, std::uint64_t size) {
  void* mapped = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
  if (mapped == MAP_FAILED) return system_error(errno, "the pack cannot be read again");
  ::madvise(mapped, size, MADV_SEQUENTIAL);
  const crypto::Sha1 out = crypto::sha1({static_cast<const char*>(mapped), size});
  ::munmap(mapped, size);
  return out;
}

}  // namespace

/// Level 1: half the time of the default for a tenth more bytes, and upkeep packs again anyway.
struct PackWriter::Deflater {
  z_stream stream{};
  bool good = deflateInit(&stream, 1) == Z_OK;
  Deflater() = default;
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;
  ~Deflater() {
    if (good) deflateEnd(&stream);
  }
};

PackWriter::PackWriter(std::string repository) : folder_(std::move(repository) + "/objects/pack") {}

PackWriter::~PackWriter() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

Expected<void> PackWriter::begin() {
  std::string path = folder_ + "/tmp_pack_XXXXXX";  // git prunes what begins like this
  file_ = files::File(::mkostemp(path.data(), O_CLOEXEC));
  if (!file_ && errno == ENOENT) return git_error_of(Fault::broken, fmt::format("there is no folder {}", folder_));
  if (!file_) return system_error(errno, "a pack cannot be made");
  path_ = path;
  deflater_ = std::make_unique<Deflater>();
  if (!deflater_->good) return git_error_of(Fault::broken, "zlib has no memory");
  buffer_.reserve(pack_buffer + 64 * 1024);
  std::uint32_t unused = 0;
  return put(std::string_view("PACK\0\0\0\2\0\0\0\0", 12), unused);  // how many follows at the end
}

Expected<void> PackWriter::flush() {
  if (const int fault = files::write_all(file_.fd(), buffer_); fault != 0)
    return system_error(fault, "a pack cannot be written");
  buffer_.clear();
  return {};
}

Expected<void> PackWriter::put(std::string_view bytes, std::uint32_t& crc) {
  crc = static_cast<std::uint32_t>(crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
  buffer_.append(bytes);
  written_ += bytes.size();
  return buffer_.size() < pack_buffer ? Expected<void>{} : flush();
}

Expected<Oid> PackWriter::add(ObjectType type, std::string_view content) {
  if (content.size() >= 0xffff'ffffU) return git_error_of(Fault::invalid, "one object has more than 4 GiB");
  git_oid id;
  // libgit2's hash notices content made to collide; OpenSSL's does not.
  if (const int code = git_odb_hash(&id, content.data(), content.size(), static_cast<git_object_t>(type)); code != 0)
    return library_error(code, "an object cannot be hashed");
  const std::string name(reinterpret_cast<const char*>(id.id), GIT_OID_RAWSZ);
  if (known_.contains(name)) return to_oid(id);
  if (path_.empty()) TRY(begin());
  Entry entry{name, written_, static_cast<std::uint32_t>(crc32_z(0, nullptr, 0))};
  TRY(put(object_head(type, content.size()), entry.crc));

  z_stream& z = deflater_->stream;
  deflateReset(&z);
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  z.avail_in = static_cast<uInt>(content.size());
  char piece[32 * 1024];
  for (int state = Z_OK; state != Z_STREAM_END;) {
    z.next_out = reinterpret_cast<Bytef*>(piece);
    z.avail_out = sizeof piece;
    state = deflate(&z, Z_FINISH);
    if (state != Z_OK && state != Z_STREAM_END) return git_error_of(Fault::broken, "zlib failed");
    TRY(put({piece, sizeof piece - z.avail_out}, entry.crc));
  }
  known_.emplace(name, entries_.size());
  entries_.push_back(std::move(entry));
  return to_oid(id);
}

std::string PackWriter::index(std::string_view pack_hash) const {
  std::vector<const Entry*> sorted;
  sorted.reserve(entries_.size());
  for (const Entry& each : entries_) sorted.push_back(&each);
  std::ranges::sort(sorted, {}, [](const Entry* each) -> const std::string& { return each->id; });
  std::string out("\377tOc\0\0\0\2", 8), large;
  std::size_t count = 0;
  for (unsigned first = 0; first < 256; ++first) {
    while (count < sorted.size() && static_cast<unsigned char>(sorted[count]->id[0]) <= first) ++count;
    append_be32(out, count);
  }
  for (const Entry* each : sorted) out += each->id;
  for (const Entry* each : sorted) append_be32(out, each->crc);
  for (const Entry* each : sorted) {
    if (each->offset < 0x8000'0000U) {
      append_be32(out, each->offset);
    } else {
      append_be32(out, 0x8000'0000U | (large.size() / 8));
      append_be32(large, each->offset >> 32U);
      append_be32(large, each->offset & 0xffff'ffffU);
    }
  }
  out += large;
  out += pack_hash;
  out += raw(crypto::sha1(out));
  return out;
}

Expected<void> PackWriter::finish() {
  finished_ = true;
  if (path_.empty()) return {};
  const auto failed = [](std::string_view what) { return system_error(errno, what); };
  TRY(flush());
  std::string count;
  append_be32(count, entries_.size());
  if (::pwrite(file_.fd(), count.data(), count.size(), 8) != static_cast<ssize_t>(count.size()))
    return failed("a pack cannot be written");
  const auto hash = TRY(hash_of_file(file_.fd(), written_));
  if (const int fault = files::write_all(file_.fd(), raw(hash)); fault != 0)
    return system_error(fault, "a pack cannot be written");
  if (::fchmod(file_.fd(), 0444) != 0 || ::fsync(file_.fd()) != 0) return failed("a pack cannot be written");
  file_.close();

  const std::string stem = fmt::format("{}/pack-{}", folder_, crypto::to_hex(hash));
  std::string index_path = folder_ + "/tmp_idx_XXXXXX";
  files::File index_file(::mkostemp(index_path.data(), O_CLOEXEC));
  if (!index_file) return failed("a pack's index cannot be made");
  const std::string text = index(raw(hash));
  int fault = files::write_all(index_file.fd(), text);
  if (fault == 0 && (::fchmod(index_file.fd(), 0444) != 0 || ::fsync(index_file.fd()) != 0)) fault = errno;
  // The pack first: a reader that sees an index opens the pack.
  if (fault == 0 && ::rename(path_.c_str(), (stem + ".pack").c_str()) != 0) fault = errno;
  if (fault == 0) path_.clear();
  if (fault == 0 && ::rename(index_path.c_str(), (stem + ".idx").c_str()) != 0) fault = errno;
  if (fault == 0) fault = files::sync_directory(folder_);
  if (fault != 0) {
    ::unlink(index_path.c_str());
    return system_error(fault, "a pack cannot be written");
  }
  return {};
}

}  // namespace stackgate::datastore::git
