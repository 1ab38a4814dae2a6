// What a client writes into a request's head, through the readers of kit/web: paths against a routing table, queries,
// ranges, conditions, credentials, traces. Whatever is accepted keeps its promises.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "services/kit/base/percent.hpp"
#include "services/kit/base/time.hpp"
#include "services/kit/web/basic_auth.hpp"
#include "services/kit/web/conditional.hpp"
#include "services/kit/web/media_type.hpp"
#include "services/kit/web/multipart.hpp"
#include "services/kit/web/ranges.hpp"
#include "services/kit/web/request_record.hpp"
#include "services/kit/web/router.hpp"
#include "services/kit/web/trace_context.hpp"

namespace {

using namespace stackgate::web;

void demand(bool holds) {
  if (!holds) std::abort();
}

const Router& table() {
  static const Router router = [] {
    const Handler nothing = [](Call&) -> Answer { return Streamed{}; };
    return *Router::compile({{"GET", "/{a}/{b}", nothing},
                             {"GET", "/{a}/{b}.git/info/refs", nothing},
                             {"POST", "/{a}/{b}.git/info/{rest...}", nothing},
                             {"GET", "/a/{b}/c", nothing},
                             {"PUT", "/a/b/{rest...}", nothing},
                             {"GET", "/{rest...}", nothing}});
  }();
  return router;
}

void route(std::string_view path) {
  const Match match = table().match("GET", path);
  demand((match.route != nullptr) == path.starts_with('/'));
  for (const auto& [name, raw] : match.parameters.all())
    demand(raw.data() >= path.data() && raw.data() + raw.size() <= path.data() + path.size());
}

void ranges(std::string_view text, std::uint64_t size) {
  const RangeRequest request = read_range(text, size);
  demand((request.kind == RangeRequest::Kind::parts) == !request.ranges.empty());
  for (std::size_t i = 0; i < request.ranges.size(); ++i) {
    const ByteRange& a = request.ranges[i];
    demand(a.count > 0 && a.first < size && a.count <= size - a.first);
    for (std::size_t j = i + 1; j < request.ranges.size(); ++j) {
      const ByteRange& b = request.ranges[j];
      demand(a.first + a.count < b.first || b.first + b.count < a.first);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 8) {
    case 0:
      return route(text), 0;
    case 1: {
      const auto decoded = percent_decode(text);
      if (decoded) demand(percent_decode(stackgate::percent_encode(*decoded)) == decoded);
      const Query query = Query::parse(text);
      demand(query.pairs().size() <= 1000);
      demand(loggable_target(text, text).size() <= 1024);
      return 0;
    }
    case 2:
      return ranges(text, data[0]), ranges(text, UINT64_MAX), 0;
    case 3: {
      demand(!etag_listed(text, "\"a\"", false) || etag_listed(text, "\"a\"", true));
      const auto time = stackgate::from_http_date(text);
      if (time) demand(stackgate::from_http_date(stackgate::to_http_date(*time)) == time);
      return 0;
    }
    case 4: {
      const Credentials got = parse_authorization(text);
      demand(got.scheme == Credentials::Scheme::basic || got.user.empty());
      return 0;
    }
    case 5: {
      const TraceContext trace = continue_trace(text, text);
      demand(parse_traceparent("00-" + trace.trace_id + "-" + trace.span_id + "-01").has_value());
      return 0;
    }
    case 6:
      (void)accepts(text, "a/b");
      (void)media_parameter(text, "boundary");
      (void)parse_part_head(text);
      return 0;
    default: {
      const auto segments = parse_pattern(text);
      if (segments) demand(!segments->empty());
      return 0;
    }
  }
}
