// The calls, by the files that answer them; those of the multipart transfer stand in parts.hpp.
#pragma once
#include "services/datastore/backend.hpp"
#include "services/datastore/repositories/record.hpp"
#include "services/kit/web/call.hpp"

namespace stackgate::datastore::lfs {

using Handle = web::Answer(const Backend& backend, web::Call& call);

// transfer.cpp (https://github.com/git-lfs/git-lfs/blob/main/docs/api/basic-transfers.md)
Handle put_object, get_object, verify_object;  // PUT and GET …/objects/{oid}, POST …/verify
// lock_handlers.cpp: POST and GET …/locks, POST …/locks/verify (once for every pushed reference), …/locks/{id}/unlock
Handle create_lock, get_locks, verify_locks, remove_lock;

// answer_batch.cpp: for git-lfs and for Hugging Face clients, which differ only in how the actions prove themselves.

enum class Proof : std::uint8_t {
  header,  // tokens in the actions' headers: git-lfs sends them
  url,     // signed URLs: Hugging Face clients send no headers
};

/// `owner`, `name`: as the path has them.
web::Answer answer_batch(const Backend& backend, web::Call& call, std::string_view owner, std::string_view name,
                         Proof proof);

}  // namespace stackgate::datastore::lfs
