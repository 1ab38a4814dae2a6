// Short-lived permissions that the batch answer hands out, so that no password travels with each file:
//   - a JSON Web Token (HS256) in the action's header, for git-lfs;
//   - a signed URL, for Hugging Face clients, which send no header of the action.
// Each is for one repository, one operation, one file. Pure.
#pragma once
#include <chrono>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "services/datastore/lfs/batch.hpp"

namespace stackgate::datastore::lfs {

struct Grant {
  std::int64_t repository = 0;
  std::int64_t user = 0;
  Operation operation = Operation::download;
  std::string oid{};
  std::uint64_t size = 0;
  std::string upload{};  // in parts: the store's id of the upload
  unsigned parts = 0;    // and how many there will be

  /// Permission to upload a file is also one to read it.
  bool allows(std::int64_t of_repository, Operation wanted, std::string_view of_oid) const;
};

/// What others who hold the secret sign, as Gitea does for `git-lfs-authenticate`: for the batch call of one
/// repository.
struct RepositoryGrant {
  std::int64_t repository = 0;
  std::int64_t user = 0;
  Operation operation = Operation::download;

  bool allows(std::int64_t of_repository, Operation wanted) const {
    return repository == of_repository && (operation == wanted || operation == Operation::upload);
  }
};

inline constexpr std::chrono::seconds grant_life{1800};
/// Hugging Face clients ask once for up to 256 files and never again: the last one may be an afternoon away.
inline constexpr std::chrono::seconds url_life{6 * 3600};

/// Whether an Authorization header's value is a JSON Web Token at all, and not a personal token.
std::optional<std::string_view> bearer_jwt(std::string_view authorization);

/// Claims: RepoID, UserID, Op, Oid, Size, nbf, exp.
std::string sign_grant(std::string_view key, const Grant& grant, std::chrono::system_clock::time_point now);
/// The error is for the log.
std::expected<Grant, std::string> read_grant(std::string_view key, std::string_view token,
                                             std::chrono::system_clock::time_point now);

/// Claims: RepoID, UserID, Op, exp, perhaps nbf. Nothing that names a file: those are for transfers. A key of 43
/// characters of base64url also counts as the 32 bytes that it spells, which is how Gitea reads its LFS_JWT_SECRET.
std::expected<RepositoryGrant, std::string> read_repository_grant(std::string_view key, std::string_view token,
                                                                  std::chrono::system_clock::time_point now);

/// The query of a signed URL; `method` and `path` (raw, as the client will send it) belong to what is signed.
std::string sign_url(std::string_view key, std::string_view method, std::string_view path, const Grant& grant,
                     std::chrono::system_clock::time_point now);
/// The error is fit for the client. `oid` stands in the path.
std::expected<Grant, std::string> read_url(std::string_view key, std::string_view method, std::string_view path,
                                           std::string_view query, std::string_view oid,
                                           std::chrono::system_clock::time_point now);

}  // namespace stackgate::datastore::lfs
