#include "services/guardrail/front/front.hpp"
#include "services/kit/web/deferred.hpp"
#include "services/kit/web/json.hpp"

namespace stackgate::guardrail {
namespace {

constexpr std::uint64_t largest_body = 10U << 20U;
constexpr std::size_t small_body = 16U << 10U;  // its turn takes less than handing it to another thread and back

struct Row {
  std::string_view method, pattern;
  web::Answer (*handle)(const FrontPtr&, web::Call&);
};

constexpr Row rows[] = {
    {"POST", "/v1/chat/completions", chat},
    {"POST", "/v1/guardrail/chat/completions", chat},
    {"POST", "/v1/guardrail/completions", complete},
    {"POST", "/v1/checks", check},
    {"POST", "/v1/guardrail/checks", microservice_check},
    {"GET", "/v1/configs", list_configurations},
    {"GET", "/v1/rails/configs", list_configurations},
    {"GET", "/v1/models", list_models},
    {"GET", "/v1/guardrail/models", list_models},
    {"DELETE", "/v1/threads/{thread}", remove_thread},
};

}  // namespace

web::Answer list_configurations(const FrontPtr& front, web::Call&) {
  return web::json_answer(front->configurations.list());
}

/// The endpoint's own answer.
web::Answer list_models(const FrontPtr& front, web::Call& call) {
  auto later = call.defer();
  if (!later) return std::move(later.error());
  front->models->list_models(front->endpoint, [client = *later](ModelResult<std::string> answer) {
    if (answer) return client->answer(web::json_answer(std::move(*answer)));
    client->answer(web::Failure{.status = answer.error().status, .message = answer.error().message});
  });
  return web::Later{};
}

web::Answer remove_thread(const FrontPtr& front, web::Call& call) {
  if (!front->threads) return web::Failure{404, "No conversations are kept."};
  auto later = call.defer();
  if (!later) return std::move(later.error());
  front->threads->remove(std::string(call.parameter("thread")),
                         [client = *later](std::expected<bool, web::Failure> removed) {
                           if (!removed) return client->answer(std::move(removed.error()));
                           if (!*removed) return client->answer(web::Failure{404, "There is no such thread."});
                           client->answer(http::Response{.status = 204});
                         });
  return web::Later{};
}

std::vector<web::Route> routes(const FrontPtr& front) {
  std::vector<web::Route> out;
  for (const Row& each : rows) {
    web::Route route{each.method,
                     each.pattern,
                     [front, handle = each.handle](web::Call& call) { return handle(front, call); },
                     {.dialect = web::Dialect::openai}};
    if (each.method == "POST") {
      route.options.body_bytes = largest_body;
      // A share for each request: all may come from one gateway. Calls of models are what is bounded.
      route.place = [front](web::Call& call) {
        using Where = web::Placement::Where;
        const bool quick = call.request().body.size() <= small_body && front->configurations.are_quick();
        return web::Placement{quick ? Where::io_thread : Where::pool, std::string(call.request_id())};
      };
    }
    out.push_back(std::move(route));
  }
  return out;
}

}  // namespace stackgate::guardrail
