// A large file as an answer: ranges, conditions, HEAD; from disk with sendfile.
#pragma once
#include <string>

#include "services/datastore/backend.hpp"
#include "services/datastore/git/objects.hpp"
#include "services/datastore/lfs/large_files.hpp"
#include "services/kit/web/call.hpp"
#include "services/kit/web/send.hpp"

namespace stackgate::datastore::lfs {

/// `head`: type, headers and validators are taken from it. The ETag of a large file is its oid.
web::Answer serve(const Backend& backend, web::Call& call, const Stat& file, web::Content head);

/// A file that Git has itself, likewise; beyond 4 MiB whole, from its beginning.
web::Answer send_blob(web::Call& call, git::Repository& git, const git::Entry& entry, web::Content head);

/// Where the file may be fetched straight from the store, with what the answer there shall say; nothing when bytes pass
/// through us.
std::optional<std::string> direct_url(const Backend& backend, const Stat& file, std::string_view file_name,
                                      std::string_view type);

}  // namespace stackgate::datastore::lfs
