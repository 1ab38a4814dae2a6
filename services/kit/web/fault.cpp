#include "services/kit/web/fault.hpp"

#include "services/kit/web/errors.hpp"
#include "services/kit/web/request_record.hpp"

namespace stackgate::web {

http::Response answer_fault(AppState& state, const http::Fault& fault) {
  http::Request unread;
  unread.peer = fault.peer;
  const http::Request& request = fault.request != nullptr ? *fault.request : unread;
  const Match match = fault.request != nullptr ? state.router.match(request.method, request.path) : Match{};
  RequestRecord record = begin_record(request, match.route, state.config);
  record.at -= std::chrono::duration_cast<std::chrono::steady_clock::duration>(fault.took);
  record.began -= std::chrono::duration_cast<std::chrono::system_clock::duration>(fault.took);
  state.metrics.arrived();
  http::Response response = render({fault.status, std::string(fault.reason)}, match.dialect,
                                   {.request_id = record.request_id, .documentation = state.config.documentation_url});
  add_common_headers(response, record.request_id);
  finish_record(record, {fault.status, response.body.size()}, state.metrics, state.config);
  return response;
}

}  // namespace stackgate::web
