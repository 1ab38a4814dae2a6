#include "services/kit/web/fault.hpp"

#include "services/kit/web/arrival.hpp"
#include "services/kit/web/errors.hpp"

namespace stackgate::web {

http::Response answer_fault(Site& site, const http::Fault& fault) {
  http::Request unread;
  unread.peer = fault.peer;
  const http::Request& request = fault.request != nullptr ? *fault.request : unread;
  const Match match = fault.request != nullptr ? site.router.match(request.method, request.path) : Match{};
  Arrival arrival = begin_arrival(request, match.route, site.config);
  arrival.at -= std::chrono::duration_cast<std::chrono::steady_clock::duration>(fault.took);
  arrival.began -= std::chrono::duration_cast<std::chrono::system_clock::duration>(fault.took);
  site.meters.arrived();
  http::Response response = render({fault.status, std::string(fault.reason)}, match.dialect,
                                   {.request_id = arrival.request_id, .documentation = site.config.documentation_url});
  add_common_headers(response, arrival.request_id);
  record(arrival, {fault.status, response.body.size()}, site.meters, site.config);
  return response;
}

}  // namespace stackgate::web
