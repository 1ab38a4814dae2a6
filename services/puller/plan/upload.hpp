// An upload to the entitystore: the multipart body around the archive, and what its answers mean. Pure and thread-safe.
// Source: POST /v1/adapters in services/entitystore/README.md; RFC 7578.
#pragma once
#include <string>
#include <string_view>

#include "services/puller/plan/failure.hpp"

namespace stackgate::puller {

/// What stands before and behind the archive's bytes.
struct UploadFrame {
  std::string content_type{}, before{}, behind{};
};
/// `boundary` stands in neither the metadata nor the archive: take a random one.
UploadFrame upload_frame(std::string_view boundary, std::string_view metadata_json);

/// The metadata is a JSON object with a name, a base model and a version; the rest is the entitystore's affair.
Result<void> check_metadata(std::string_view json, std::string_view where);

struct Registered {
  std::string id{};
  bool was_there = false;  // with the same content, from an earlier attempt
};
/// The answer to the POST; `location` and `known_sha256` are its headers, `sha256` is the archive's.
Result<Registered> read_registered(int status, std::string_view body, std::string_view location,
                                   std::string_view known_sha256, std::string_view sha256);

/// What GET /v1/adapters/{id} says of it.
enum class Storing : std::uint8_t { goes_on, ready, waits_for_approval };
Result<Storing> read_storing(int status, std::string_view body, std::string_view id);

}  // namespace stackgate::puller
