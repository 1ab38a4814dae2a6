// Requests that the server below ends itself (a malformed head, a body too large or too slow), answered as the App
// answers all others: in the dialect of their route, with an id, in the log and in the figures.
#pragma once
#include "services/kit/http/server.hpp"
#include "services/kit/web/app_state.hpp"

namespace stackgate::web {

/// On the I/O thread.
http::Response answer_fault(AppState& state, const http::Fault& fault);

}  // namespace stackgate::web
