// The routes of each API, which serve.cpp registers. `backend` must outlive them.
#pragma once
#include <chrono>
#include <cstdint>
#include <vector>

#include "services/datastore/backend.hpp"
#include "services/kit/web/route.hpp"

namespace stackgate::datastore {

namespace smart_http {
struct Options {
  unsigned children = 8;              // git processes at the same time
  std::chrono::seconds wait{30};      // for one of them to end, before 503
  std::chrono::seconds silence{600};  // a git process without a byte in or out for so long is killed
  std::uint64_t push_bytes = 0;       // the largest pack that is taken; 0: no limit
};

/// Git's smart HTTP protocol (https://git-scm.com/docs/http-protocol, gitprotocol-v2(5)): clone, fetch, push.
/// "/{owner}/{repo}.git/info/refs" and its neighbours, and the same without ".git". A push calls Repositories::touch,
/// and moves the default branch when the first push went to another one.
std::vector<web::Route> routes(Backend& backend, Options options = {});
}  // namespace smart_http

namespace lfs {
/// Git LFS over HTTP (https://github.com/git-lfs/git-lfs/tree/main/docs/api): batch, basic transfer, locks.
/// "/{owner}/{repo}.git/info/lfs/…", and the same without ".git".
std::vector<web::Route> routes(const Backend& backend);
}  // namespace lfs

namespace gitea {
/// The part of Gitea's API (https://docs.gitea.com/api) that scripts use around repositories: /api/v1, and NeMo's
/// /v1/datastore/namespaces.
std::vector<web::Route> routes(Backend& backend);
}  // namespace gitea

namespace hub {
/// The Hugging Face API below /v1/hf, as the JavaScript and the Python client call it.
std::vector<web::Route> routes(const Backend& backend);
}  // namespace hub

namespace pages {
/// The web interface: pages for people, at "/". What an account could be called is never a page of ours.
std::vector<web::Route> routes(Backend& backend);
}  // namespace pages

}  // namespace stackgate::datastore
