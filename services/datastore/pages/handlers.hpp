// The pages, by the files that answer them.
#pragma once
#include "services/datastore/pages/visit.hpp"

namespace stackgate::datastore::pages {

web::Answer get_repositories(Visit& visit);  // list.cpp
web::Answer get_account(Visit& visit);
web::Answer get_sign_in(Visit& visit);  // sign_in.cpp
web::Answer post_sign_in(Visit& visit);
web::Answer post_sign_out(Visit& visit);
web::Answer get_new(Visit& visit);  // create.cpp
web::Answer post_new(Visit& visit);
web::Answer get_tokens(Visit& visit);  // tokens.cpp
web::Answer post_token(Visit& visit);
web::Answer post_revoke(Visit& visit);
web::Answer get_tree(Visit& visit);      // tree.cpp
web::Answer get_blob(Visit& visit);      // blob.cpp
web::Answer get_raw(Visit& visit);       // raw.cpp
web::Answer get_commits(Visit& visit);   // commits.cpp
web::Answer get_refs(Visit& visit);      // refs.cpp
web::Answer get_commit(Visit& visit);    // commit.cpp
web::Answer get_settings(Visit& visit);  // settings.cpp
web::Answer post_settings(Visit& visit);
web::Answer post_rename(Visit& visit);
web::Answer post_delete(Visit& visit);
web::Answer get_upload(Visit& visit);  // upload.cpp
web::Answer post_upload(Visit& visit);
web::Answer redirect_git_address(Visit& visit);  // tree.cpp

}  // namespace stackgate::datastore::pages
