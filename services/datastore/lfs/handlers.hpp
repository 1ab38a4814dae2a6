// The calls, by the files that answer them; those of the multipart transfer stand in parts.hpp.
#pragma once
#include "services/datastore/backend.hpp"
#include "services/datastore/repositories/record.hpp"
#include "services/kit/web/call.hpp"

namespace stackgate::datastore::lfs {

// transfer.cpp (https://github.com/git-lfs/git-lfs/blob/main/docs/api/basic-transfers.md)
web::Answer put_object(const Backend& backend, web::Call& call);     // PUT  …/objects/{oid}
web::Answer get_object(const Backend& backend, web::Call& call);     // GET  …/objects/{oid}
web::Answer verify_object(const Backend& backend, web::Call& call);  // POST …/verify

// lock_handlers.cpp
web::Answer create_lock(const Backend& backend, web::Call& call);  // POST …/locks
web::Answer get_locks(const Backend& backend, web::Call& call);    // GET  …/locks
web::Answer verify_locks(const Backend& backend,
                         web::Call& call);  // POST …/locks/verify: once for every pushed reference
web::Answer remove_lock(const Backend& backend, web::Call& call);  // POST …/locks/{id}/unlock

// answer_batch.cpp: for git-lfs and for Hugging Face clients, which differ only in how the actions prove themselves.

enum class Proof : std::uint8_t {
  header,  // tokens in the actions' headers: git-lfs sends them
  url,     // signed URLs: Hugging Face clients send no headers
};

/// `owner`, `name`: as the path has them.
web::Answer answer_batch(const Backend& backend, web::Call& call, std::string_view owner, std::string_view name,
                         Proof proof);

}  // namespace stackgate::datastore::lfs
