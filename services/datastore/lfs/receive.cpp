// Bytes that pass through this process: hashed while they are stored.
#include <algorithm>
#include <array>
#include <thread>

#include "services/datastore/clock.hpp"
#include "services/datastore/lfs/large_files.hpp"
#include "services/datastore/lfs/statements.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/crypto/digest.hpp"
#include "services/kit/crypto/hash_beside.hpp"

namespace stackgate::datastore::lfs {

namespace {

struct Counted {
  std::string oid;
  std::uint64_t size = 0;
};

/// A whole piece, less only at the end: few writes, and few turns between the threads.
Expected<std::size_t> read_piece(const Source& source, std::span<char> space) {
  std::size_t filled = 0;
  while (filled < space.size()) {
    const auto got = TRY(source(space.subspan(filled)));
    if (got == 0) break;
    filled += got;
  }
  return filled;
}

/// Reads to the end, hashing, into `upload` unless it is null. Stops as soon as more than `largest` bytes have come.
Expected<Counted> pass_through(const Source& source, std::uint64_t largest, objects::Upload* upload) {
  crypto::HashBeside hash;
  std::uint64_t size = 0;
  for (;;) {
    const std::span<char> space = hash.space();
    const auto got = TRY(read_piece(source, space));
    if (got == 0) break;
    size += got;
    if (size > largest) return Counted{{}, size};
    hash.add(got);
    if (upload == nullptr) continue;
    TRY(upload->write({space.data(), got}));
  }
  return Counted{crypto::to_hex(hash.finish()), size};
}

}  // namespace

Source from(http::BodyReader& body) {
  return [&body](std::span<char> space) -> Expected<std::size_t> {
    auto got = body.read(space);
    if (got) return *got;
    return std::unexpected(ServiceError{
        .fault = ServiceFault::body, .message = std::move(got.error().error.message), .status = got.error().status});
  };
}

Source from(objects::Download& file) {
  return [&file](std::span<char> space) -> Expected<std::size_t> {
    auto got = file.read(space);
    if (got) return *got;
    return std::unexpected(got.error());
  };
}

Expected<void> LargeFiles::receive(std::int64_t repository, std::string_view oid, std::uint64_t size,
                                   const Source& source) {
  if (!is_oid(oid))
    return std::unexpected(ServiceError{ServiceFault::invalid, "a large file's id is 64 lower-case hex digits"});
  const std::array one{std::string(oid)};
  const auto known = TRY(look_up(repository, one));
  const bool here = !known.empty() && known.front().stat.state == State::trusted;
  const bool counted_already = !known.empty() && known.front().linked;  // also what waits to be hashed
  if (auto fits = admit(repository, size, size); !counted_already && !fits) return fits;
  std::unique_ptr<objects::Upload> upload;
  if (!here) {  // otherwise the sender only has to show that it has the bytes
    upload = TRY(store_.create(key_of(oid), size));
  }
  const auto counted = TRY(pass_through(source, size, upload.get()));
  if (counted.size != size)
    return std::unexpected(ServiceError{
        ServiceFault::invalid, counted.size > size ? "more bytes came than the announced " + std::to_string(size)
                                                   : std::to_string(counted.size) + " bytes came; " +
                                                         std::to_string(size) + " were announced"});
  if (counted.oid != oid)
    return std::unexpected(ServiceError{ServiceFault::invalid, "the bytes have the SHA-256 " + counted.oid +
                                                                   ", not the announced " + std::string(oid)});
  if (upload) TRY(upload->commit());
  return record(repository, oid, size);
}

Expected<void> LargeFiles::record(std::int64_t repository, std::string_view oid, std::uint64_t size) {
  using namespace std::chrono_literals;
  const ServiceError removed{ServiceFault::unavailable, "the file was being removed at this moment; send it again"};
  for (int attempt = 0;; ++attempt) {
    bool leaving = false;  // collect() is about to remove the file
    auto done = link_within_limits(repository, oid, [&](sql::Session& session) -> sql::Expected<void> {
      leaving = false;
      const std::string id(oid);
      auto row = TRY(session.run(
          "INSERT INTO lfs_objects (oid, size, state, touched_at) VALUES ($1, $2, 'present', $3) "
          "ON CONFLICT (oid) DO UPDATE SET touched_at = excluded.touched_at WHERE lfs_objects.state = 'present' "
          "RETURNING oid",
          {id, static_cast<std::int64_t>(size), seconds_now()}));
      leaving = row.rows.empty();
      if (leaving) return {};
      TRY(
          session.run("INSERT INTO lfs_links (repository_id, oid, touched_at) VALUES ($1, $2, $3) "
                      "ON CONFLICT (repository_id, oid) DO UPDATE SET touched_at = excluded.touched_at",
                      {repository, id, seconds_now()}));
      TRY(session.run("DELETE FROM lfs_incoming WHERE repository_id = $1 AND oid = $2", {repository, id}));
      return {};
    });
    if (!done && done.error().fault == ServiceFault::quota) {
      // The bytes are in their place, and perhaps nobody's: then they go now.
      Collected ignored;
      const std::array one{std::string(oid)};
      (void)collect_unknown(one, ignored);
    }
    if (!done) return done;
    if (!leaving) break;
    if (attempt == 100) return std::unexpected(removed);
    std::this_thread::sleep_for(50ms);
  }
  // Whoever removed the file did so before our row could stand; nobody will now. So this look settles it.
  const auto there = store_.stat(key_of(oid));
  if (there && there->size == size) return {};
  if (!there && there.error().fault != objects::Fault::missing) return std::unexpected(there.error());
  (void)unlink(repository, oid);
  (void)database_.run(
      "DELETE FROM lfs_objects WHERE oid = $1 AND NOT EXISTS (SELECT 1 FROM lfs_links l WHERE l.oid = $2)",
      {std::string(oid), std::string(oid)});
  return std::unexpected(removed);
}

Expected<LargeFiles::Taken> LargeFiles::take_in(std::int64_t repository, std::uint64_t largest, const Source& source) {
  std::uint64_t most = largest == 0 ? UINT64_MAX : largest;
  if (limits_.file != 0) most = std::min(most, limits_.file);
  const std::string key = "incoming/browser/" + crypto::random_hex(16);
  auto upload = TRY(store_.create(key, std::nullopt));
  const auto counted = TRY(pass_through(source, most, upload.get()));
  if (counted.size > most)
    return std::unexpected(
        ServiceError{ServiceFault::too_large, "the file has more than the allowed " + std::to_string(most) + " bytes"});
  TRY(upload->commit());
  auto again = TRY(store_.open(key));
  auto moved = receive(repository, counted.oid, counted.size, from(*again));
  (void)store_.remove(key);
  if (!moved) return std::unexpected(moved.error());
  return Taken{counted.oid, counted.size};
}

}  // namespace stackgate::datastore::lfs
