// The calls, by the files that answer them. The type stands in the path: /api/models, /api/datasets, /api/spaces.
#pragma once
#include "services/datastore/backend.hpp"
#include "services/datastore/repositories/record.hpp"
#include "services/kit/web/call.hpp"

namespace stackgate::datastore::hub {

// accounts.cpp
web::Answer get_whoami(const Backend& backend, web::Call& call);

// manage.cpp
web::Answer create_repository(const Backend& backend, web::Call& call);
web::Answer delete_repository(const Backend& backend, web::Call& call);
web::Answer move_repository(const Backend& backend, web::Call& call);
web::Answer put_settings(const Backend& backend, web::Call& call, RepositoryType type);

// info.cpp
web::Answer get_info(const Backend& backend, web::Call& call, RepositoryType type);
web::Answer get_list(const Backend& backend, web::Call& call, RepositoryType type);

// tree.cpp
web::Answer get_tree(const Backend& backend, web::Call& call, RepositoryType type);
web::Answer post_paths_info(const Backend& backend, web::Call& call, RepositoryType type);

// history.cpp
web::Answer get_commits(const Backend& backend, web::Call& call, RepositoryType type);
web::Answer get_refs(const Backend& backend, web::Call& call, RepositoryType type);

// branches.cpp
web::Answer post_branch(const Backend& backend, web::Call& call, RepositoryType type);
web::Answer delete_branch(const Backend& backend, web::Call& call, RepositoryType type);
web::Answer post_tag(const Backend& backend, web::Call& call, RepositoryType type);
web::Answer delete_tag(const Backend& backend, web::Call& call, RepositoryType type);

// upload.cpp
web::Answer post_preupload(const Backend& backend, web::Call& call, RepositoryType type);
web::Answer post_batch(const Backend& backend, web::Call& call);

// commit.cpp
web::Answer post_commit(const Backend& backend, web::Call& call, RepositoryType type);

// resolve.cpp
web::Answer get_resolve(const Backend& backend, web::Call& call, RepositoryType type);
web::Answer get_raw(const Backend& backend, web::Call& call, RepositoryType type);

// other.cpp
web::Answer post_validate_yaml(const Backend& backend, web::Call& call);
web::Answer refuse_xet(const Backend& backend, web::Call& call, RepositoryType type);
web::Answer go_to_page(const Backend& backend, web::Call& call, RepositoryType type);
web::Answer go_to_tree(const Backend& backend, web::Call& call, RepositoryType type);
web::Answer go_to_blob(const Backend& backend, web::Call& call, RepositoryType type);

}  // namespace stackgate::datastore::hub
