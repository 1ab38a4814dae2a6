// Large files: their bytes in the object store, their records and links to repositories in the database. Thread-safe;
// calls block (database, disk, S3).
//
// A file is found under "lfs/ab/cd/<oid>" and is there only with the right bytes: what passes through this process is
// hashed on its way, what a client sends straight to S3 lands under "incoming/…", belongs to the one repository it was
// sent for, and is copied to its place by promote() after hashing (unverified until then). A repository sees a file
// only when it is linked to it, and only who has shown the bytes (or may read a repository that has them) gets a link.
#pragma once
#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/base/service_error.hpp"
#include "services/kit/http/body.hpp"
#include "services/kit/objects/store.hpp"
#include "services/kit/sql/database.hpp"

namespace stackgate::datastore::lfs {

template <typename T>
using Expected = std::expected<T, ServiceError>;

/// 64 lower-case hex digits.
bool is_oid(std::string_view text);
/// "lfs/ab/cd/<oid>".
std::string key_of(std::string_view oid);
/// Where a direct upload of a repository lands.
std::string incoming_key(std::int64_t repository, std::string_view oid);

enum class State : std::uint8_t { trusted, unverified };

/// A file as one repository sees it.
struct Stat {
  std::uint64_t size = 0;
  State state = State::trusted;
  std::string key;  // in the object store
};

/// The same for a batch; also files that only other repositories have (linked = false).
struct Known {
  std::string oid;
  Stat stat;
  bool linked = false;
  std::int64_t touched = 0;  // when the link was last made or asked for; seconds since 1970
};

struct Limits {  // bytes; 0: none
  std::uint64_t file = 0;
  std::uint64_t repository = 0;
  std::uint64_t total = 0;
};

struct Usage {
  std::uint64_t repository = 0, total = 0;  // bytes
};

struct Collected {
  std::uint64_t unlinked = 0, removed = 0, bytes = 0, orphans = 0;
};

struct Fsck {
  std::uint64_t files = 0, bytes = 0;
  std::vector<std::string> faults;  // one line each; empty: clean
  bool clean() const { return faults.empty(); }
};

/// The next bytes of a body; 0 is the end.
using Source = std::function<Expected<std::size_t>(std::span<char>)>;
Source from(http::BodyReader& body);
Source from(objects::Download& file);

class LargeFiles {
 public:
  LargeFiles(sql::Database& database, objects::Store& store, Limits limits = {});
  const Limits& limits() const { return limits_; }

  /// Nothing when the file is not linked to the repository, whether or not it is on this server.
  Expected<std::optional<Stat>> stat(std::int64_t repository, std::string_view oid);
  /// Those of `oids` that are here, in one statement.
  Expected<std::vector<Known>> look_up(std::int64_t repository, std::span<const std::string> oids);
  Expected<bool> is_linked(std::int64_t repository, std::string_view oid);
  /// For a caller who has shown that it may read the file. ServiceFault::missing when it is not here.
  Expected<void> link(std::int64_t repository, std::string_view oid);
  Expected<void> unlink(std::int64_t repository, std::string_view oid);
  /// Keeps links from being collected before their commit arrives. Cheap when they are fresh.
  Expected<void> touch(std::int64_t repository, std::span<const Known> files);
  /// Repositories that have the file, at most `limit`, other than this one.
  Expected<std::vector<std::int64_t>> holders(std::string_view oid, std::int64_t except, std::size_t limit = 20);
  Expected<Usage> usage(std::int64_t repository);
  /// Whether `more` bytes fit the limits.
  Expected<void> admit(std::int64_t repository, std::uint64_t size, std::uint64_t more);

  /// Reads the body to its end into the store, hashing. Stored and linked when hash and size are right, otherwise no
  /// trace of it stays. The same file may come several times at once.
  Expected<void> receive(std::int64_t repository, std::string_view oid, std::uint64_t size, const Source& source);
  /// Bytes whose hash is not known before: kept aside under a random key while they are hashed, then as receive().
  /// `largest`: 0 for no limit besides limits().
  struct Taken {
    std::string oid;
    std::uint64_t size = 0;
  };
  Expected<Taken> take_in(std::int64_t repository, std::uint64_t largest, const Source& source);

  Expected<std::unique_ptr<objects::Download>> open(const Stat& file, std::uint64_t offset = 0);
  /// Nothing where the store cannot, and for what is not hashed yet: it goes through us until then.
  std::optional<std::string> presign(const Stat& file, const objects::PresignOptions& options);

  /// After a direct upload: is it in the store with that size? Then it is linked, unverified. ServiceFault::missing and
  /// ::invalid otherwise. A file that is linked already is well, and touched.
  Expected<void> confirm(std::int64_t repository, std::string_view oid, std::uint64_t size);
  /// Hashes one waiting direct upload and puts it in its place, or drops it with its link when it is not what it
  /// claimed. False: none waits. Replicas share the work: one is claimed for `claim`.
  Expected<bool> promote(std::chrono::seconds claim = std::chrono::minutes(30));

  /// Which files of a repository its Git objects name; ServiceFault::missing for a repository that cannot be read now,
  /// which then keeps everything.
  using Referenced =
      std::function<Expected<void>(std::int64_t repository, const std::function<void(std::string_view)>&)>;
  /// Removes links that no pointer names and files without a link, both only when untouched for `grace`, and what
  /// interrupted uploads left. Safe beside uploads and other replicas.
  Expected<Collected> collect(std::chrono::seconds grace, const Referenced& referenced);
  /// Holds records against the store; `hash` reads every byte.
  Expected<Fsck> fsck(bool hash);

 private:
  Expected<void> record(std::int64_t repository, std::string_view oid, std::uint64_t size);
  /// Runs `work` in one transaction, after which the repository has `oid`. When that is new, and the sums of what is
  /// linked and stored then lie above a limit, nothing of it stays: however many upload at once, no sum exceeds one.
  Expected<void> link_within_limits(std::int64_t repository, std::string_view oid,
                                    const std::function<sql::Expected<void>(sql::Session&)>& work);
  Expected<void> drop_incoming(std::int64_t repository, std::string_view oid);
  Expected<void> collect_links(std::int64_t before, const Referenced& referenced, Collected& out);
  Expected<void> collect_files(std::int64_t before, Collected& out);
  Expected<void> collect_unknown(std::span<const std::string> oids, Collected& out);
  Expected<void> collect_orphans(std::chrono::seconds grace, Collected& out);

  sql::Database& database_;
  objects::Store& store_;
  const Limits limits_;
};

}  // namespace stackgate::datastore::lfs
