// The batch call (https://github.com/git-lfs/git-lfs/blob/main/docs/api/batch.md) as values: request, what is known
// about the files, and what to answer. Pure.
#pragma once
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "services/datastore/lfs/large_files.hpp"
#include "services/kit/json/value.hpp"
#include "services/kit/web/answer.hpp"

namespace stackgate::datastore::lfs {

enum class Operation : std::uint8_t { download, upload };
std::string_view to_string(Operation operation);

struct Wanted {
  std::string oid;  // as it came
  std::uint64_t size = 0;
  std::string fault{};  // not empty: malformed, and why
};

struct BatchRequest {
  Operation operation = Operation::download;
  bool basic = true, multipart = false;  // transfers that the client can
  std::string hash_algo{};               // as it came, to be given back
  std::vector<Wanted> objects{};

  std::vector<std::string> oids() const;  // the well-formed ones
};

inline constexpr std::size_t batch_objects = 1000;

/// 422 for what is no batch, 409 for another hash, 413 for too many objects. Faults of one object stand with it.
std::expected<BatchRequest, web::Failure> parse_batch(const json::Value& body);

struct Facts {
  std::span<const Known> known;  // LargeFiles::look_up
  Limits limits{};
  Usage usage{};                             // looked at when limits ask
  bool direct = false;                       // the store presigns and may be used so
  std::uint64_t largest_put = 5ULL << 30U;   // of one presigned PUT
  std::uint64_t parts_from = 256ULL << 20U;  // multipart, where the client can: files of that size and more
};

enum class Step : std::uint8_t {
  none,             // upload: we have it
  refuse,           // `status` and `message`
  upload,           // through us
  upload_direct,    // presigned PUT, then verify
  upload_parts,     // multipart transfer
  download,         // through us
  download_direct,  // presigned GET
};

struct Decision {
  Wanted file;
  Step step = Step::none;
  int status = 0;
  std::string message{};
  Stat stat{};  // of downloads
};

struct Plan {
  std::string transfer = "basic";
  std::vector<Decision> objects;
};

Plan decide(const BatchRequest& request, const Facts& facts);

struct Link {
  std::string href;
  std::vector<std::pair<std::string, std::string>> header{};
  std::int64_t expires_in = 0;  // seconds; 0: not said
};

struct Actions {
  std::optional<Link> upload{}, verify{}, download{};
};

/// The answer's body. `actions[i]` belong to `plan.objects[i]`.
std::string render(const BatchRequest& request, const Plan& plan, std::span<const Actions> actions);

}  // namespace stackgate::datastore::lfs
