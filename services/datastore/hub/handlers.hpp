// The calls, by the files that answer them. The type stands in the path: /api/models, /api/datasets, /api/spaces.
#pragma once
#include "services/datastore/backend.hpp"
#include "services/datastore/repositories/record.hpp"
#include "services/kit/web/call.hpp"

namespace stackgate::datastore::hub {

using Handle = web::Answer(const Backend& backend, web::Call& call);
using HandleTyped = web::Answer(const Backend& backend, web::Call& call, RepositoryType type);

Handle get_whoami;                                             // accounts.cpp
Handle create_repository, delete_repository, move_repository;  // manage.cpp
HandleTyped put_settings;
HandleTyped get_info, get_list;                                // info.cpp
HandleTyped get_tree, post_paths_info;                         // tree.cpp
HandleTyped get_commits, get_refs;                             // history.cpp
HandleTyped post_branch, delete_branch, post_tag, delete_tag;  // branches.cpp
HandleTyped post_preupload;                                    // upload.cpp
Handle post_batch;
HandleTyped post_commit;           // commit.cpp
HandleTyped get_resolve, get_raw;  // resolve.cpp
Handle post_validate_yaml;         // other.cpp
HandleTyped refuse_xet, go_to_page, go_to_tree, go_to_blob;

}  // namespace stackgate::datastore::hub
