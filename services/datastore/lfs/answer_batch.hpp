// The batch call for git-lfs and for Hugging Face clients, which differ only in how the actions prove themselves.
#pragma once
#include "services/datastore/backend.hpp"
#include "services/datastore/repositories/record.hpp"
#include "services/kit/web/call.hpp"

namespace stackgate::datastore::lfs {

enum class Proof : std::uint8_t {
  header,  // tokens in the actions' headers: git-lfs sends them
  url,     // signed URLs: Hugging Face clients send no headers
};

/// `owner`, `name`: as the path has them.
web::Answer answer_batch(const Backend& backend, web::Call& call, std::string_view owner, std::string_view name,
                         Proof proof);

}  // namespace stackgate::datastore::lfs
