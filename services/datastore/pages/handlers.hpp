// The pages, by the files that answer them.
#pragma once
#include "services/datastore/pages/visit.hpp"

namespace stackgate::datastore::pages {

using Handle = web::Answer(Visit& visit);

Handle get_repositories, get_account;                          // list.cpp
Handle get_sign_in, post_sign_in, post_sign_out;               // sign_in.cpp
Handle get_new, post_new;                                      // create.cpp
Handle get_tokens, post_token, post_revoke;                    // tokens.cpp
Handle get_tree, redirect_git_address;                         // tree.cpp
Handle get_blob, get_raw, get_commits, get_refs, get_commit;   // files of their names
Handle get_settings, post_settings, post_rename, post_delete;  // settings.cpp
Handle get_upload, post_upload;                                // upload.cpp

}  // namespace stackgate::datastore::pages
