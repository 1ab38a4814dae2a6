// Git's smart HTTP protocol (https://git-scm.com/docs/http-protocol, gitprotocol-v2(5)): clone, fetch, push.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "services/datastore/backend.hpp"
#include "services/kit/web/route.hpp"

namespace stackgate::datastore::smart_http {

struct Options {
  unsigned children = 8;              // git processes at the same time
  std::chrono::seconds wait{30};      // for one of them to end, before 503
  std::chrono::seconds silence{600};  // a git process without a byte in or out for so long is killed
  std::uint64_t push_bytes = 0;       // the largest pack that is taken; 0: no limit
};

/// "/{owner}/{repo}.git/info/refs" and its neighbours, and the same without ".git". `backend` must outlive the routes.
/// A push calls Repositories::touch, and moves the default branch when the first push went to another one.
std::vector<web::Route> routes(Backend& backend, Options options = {});

}  // namespace stackgate::datastore::smart_http
