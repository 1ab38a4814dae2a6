// One pack written by ourselves: objects go straight to a file, deflated one by one, so memory stays flat; then pack
// and index are synced and appear together. Far cheaper than a file (and an fsync) for each object. No deltas: upkeep
// makes them later. Format: gitformat-pack(5). One thread at a time.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "services/datastore/git/objects.hpp"
#include "services/kit/files/file.hpp"

namespace stackgate::datastore::git {

enum class ObjectType : std::uint8_t { commit = 1, tree = 2, blob = 3, tag = 4 };

class PackWriter {
 public:
  /// Nothing is created before the first object.
  explicit PackWriter(std::string repository);
  /// What was not finished is deleted.
  ~PackWriter();
  PackWriter(const PackWriter&) = delete;
  PackWriter& operator=(const PackWriter&) = delete;

  /// Its id, and the object is in the pack (once).
  Expected<Oid> add(ObjectType type, std::string_view content);
  bool finished() const { return finished_; }
  /// After it, all objects are found by every reader, and survive a power cut.
  Expected<void> finish();

 private:
  struct Deflater;
  struct Entry {
    std::string id;  // 20 raw bytes
    std::uint64_t offset;
    std::uint32_t crc;
  };
  Expected<void> begin();
  Expected<void> flush();
  Expected<void> put(std::string_view bytes, std::uint32_t& crc);
  std::string index(std::string_view pack_hash) const;

  const std::string folder_;
  std::string path_;  // the temporary pack; empty before begin() and after finish()
  files::File file_;
  std::string buffer_;
  bool finished_ = false;
  std::uint64_t written_ = 0;  // bytes, the buffer's included
  std::unique_ptr<Deflater> deflater_;
  std::vector<Entry> entries_;
  std::unordered_map<std::string, std::size_t> known_;
};

}  // namespace stackgate::datastore::git
