#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "services/inference/api/other_answers.hpp"
#include "services/inference/upstream/state.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/http/text.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/log/log.hpp"
#include "services/kit/relay/relay.hpp"
#include "services/kit/web/deferred.hpp"
#include "services/kit/web/errors.hpp"
#include "services/kit/web/json.hpp"

namespace stackgate::inference::upstream {
namespace {

constexpr std::uint64_t largest_body = 10U << 20U;
constexpr std::uint64_t largest_quick_body = 64U << 10U;  // read on the I/O thread
constexpr std::size_t largest_error = 64U << 10U;
constexpr std::size_t most_parked = 1'000;
constexpr int seconds_again = 1;

using ImplPtr = std::shared_ptr<Upstream::Impl>;
using PassagePtr = std::shared_ptr<Passage>;

struct Place {  // of a request at a replica, as long as it lasts
  std::shared_ptr<std::atomic<std::size_t>> count;
  explicit Place(std::shared_ptr<std::atomic<std::size_t>> in_flight) : count(std::move(in_flight)) { ++*count; }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  ~Place() { --*count; }
};

/// An engine's words for what went wrong: OpenAI's form, vLLM's older one, FastAPI's.
std::string message_of(std::string_view body) {
  json::Document document;
  const auto root = json::parse(body, document, {.max_depth = 64});
  if (!root || !root->is_object()) return "the upstream gave no reason that can be read";
  for (const std::string_view text : {json::text(&*root, {"error", "message"}), json::text(&*root, {"message"}),
                                      json::text(&*root, {"detail"}), json::text(&*root, {"error"})})
    if (!text.empty()) return std::string(text);
  return json::to_json(*root).substr(0, 1'000);
}

struct Refusal {
  http_client::Answer answer;
  std::string text{};
};

/// Its status in our form.
void refuse(const PassagePtr& passage, const std::shared_ptr<Refusal>& refusal, std::shared_ptr<Place> place) {
  refusal->answer.read([passage, refusal, place](std::expected<std::string, Error> piece) mutable {
    if (piece && !piece->empty() && refusal->text.size() < largest_error) {
      refusal->text += *piece;
      return refuse(passage, refusal, std::move(place));
    }
    const http_client::Head& head = refusal->answer.head();
    web::Failure failure{.status = head.status, .message = message_of(refusal->text)};
    if (const auto again = head.header("retry-after")) failure.headers.emplace_back("Retry-After", *again);
    passage->client->answer(std::move(failure));
  });
}

void answered(const ImplPtr& impl, const PassagePtr& passage, std::size_t replica, std::shared_ptr<Place> place,
              std::expected<http_client::Answer, Error> answer) {
  if (!answer) {
    if (!passage->gone) {
      const std::scoped_lock lock(impl->mutex);
      impl->known[replica].healthy = false;  // until the next round
      impl->known[replica].fault = "gave no answer to a request";
    }
    impl->requests.at({"no_answer"}).add();
    return relay::pass_back(passage->client, std::move(answer), std::move(place));
  }
  const int status = answer->head().status;
  const Attempt attempt{.status = status, .names_adapter = !passage->adapter.empty(), .made = passage->made};
  if (repetition(attempt, 1) == Repeat::after_sync) {
    {
      const std::scoped_lock lock(impl->mutex);
      impl->known[replica].has.erase(passage->adapter);
    }
    return impl->park(passage);
  }
  impl->requests.at({status < 400 ? "answered" : "refused"}).add();
  if (status >= 400) return refuse(passage, std::make_shared<Refusal>(Refusal{std::move(*answer)}), std::move(place));
  relay::pass_back(passage->client, std::move(answer), std::move(place));
}

web::Failure not_now(std::string message) {
  return {.status = 503, .message = std::move(message), .headers = {{"Retry-After", std::to_string(seconds_again)}}};
}

web::Answer pass(const ImplPtr& impl, web::Call& call) {
  const auto document = TRY(call.json());
  if (!document->root.is_object()) return web::Failure{400, "the body must be a JSON object"};
  const std::string model(json::text(&document->root, {"model"}));
  const std::string peft_name(json::text(&document->root, {"peft_name"}));
  if (model.empty())
    return bad_request({{.rule = "parameter-missing",
                         .path = "model",
                         .value = {},
                         .problem = "is missing, or no text",
                         .fix = "GET /v1/models lists the names"}});
  auto passage = std::make_shared<Passage>();
  {
    const std::scoped_lock lock(impl->mutex);
    if (impl->names_there.empty()) return not_now("no upstream has answered yet; try again in a moment");
    const std::string adapter = TRY(adapter_for(model, peft_name, {impl->names_there, impl->adapters.state}));
    passage->model = model;
    if (!adapter.empty()) {
      const auto found = impl->by_name.find(adapter);
      if (found == impl->by_name.end()) {
        passage->adapter = passage->model = adapter;  // it has just come: the next round knows it
      } else {
        const WantedAdapter& wanted = impl->wanted[found->second];
        if (!wanted.hindrance.empty())
          return web::Failure{503, fmt::format("The adapter `{}` cannot be served: {}.", adapter, wanted.hindrance)};
        passage->adapter = passage->model = wanted.name;
      }
    }
  }
  passage->path = call.request().path;
  passage->body = TRY(call.body());
  passage->request = TRY(relay::forwarded(call, ""));
  std::erase_if(passage->request.headers, [](const auto& header) {
    return http::equal_ignoring_case(header.first, "authorization") ||
           http::equal_ignoring_case(header.first, "api-key") || http::equal_ignoring_case(header.first, "cookie") ||
           http::equal_ignoring_case(header.first, "accept-encoding");  // refusals are read
  });
  passage->request.head = impl->options.head;
  passage->client = TRY(call.defer());
  impl->dispatch(passage);
  return web::Later{};
}

std::vector<ServedModel> models_of(const Upstream::Impl& impl) {
  std::vector<ServedModel> out;
  const std::scoped_lock lock(impl.mutex);
  for (const Known& each : impl.known) {
    if (!each.healthy) continue;
    const std::string& base = base_of(each.models).id;
    const auto add = [&](const ListedModel& model, std::string owner) {
      if (std::ranges::find(out, model.id, &ServedModel::id) == out.end())
        out.push_back({.id = model.id,
                       .created = model.created,
                       .owned_by = std::move(owner),
                       .root = model.root,
                       .parent = model.parent,
                       .context = model.context});
    };
    for (const ListedModel& model : each.models) add(model, model.owned_by);
    for (const auto& [name, index] : impl.by_name)
      if (each.has.contains(impl.wanted[index].name))
        add({.id = name, .root = impl.wanted[index].path, .parent = base, .context = base_of(each.models).context},
            "peft");
  }
  return out;
}

web::Answer show(const ImplPtr& impl, web::Call& call) {
  const auto all = models_of(*impl);
  const std::string_view name = call.parameter("id");
  const auto found = std::ranges::find(all, name, &ServedModel::id);
  if (found == all.end()) return no_such_model(name, "model");
  return web::json_answer(model_answer(*found));
}

}  // namespace

void Upstream::Impl::park(const PassagePtr& passage) {
  {
    const std::scoped_lock lock(mutex);
    if (!stopped && !passage->waited && parked.size() < most_parked) {
      passage->waited = true;
      parked.push_back(passage);
      periodic->wake();
      return;
    }
  }
  requests.at({"not_loaded"}).add();
  passage->client->answer(
      not_now(fmt::format("The adapter `{}` is on no upstream at present; the log tells why.", passage->adapter)));
}

void Upstream::Impl::dispatch(const PassagePtr& passage) {
  if (passage->gone) return;
  std::optional<std::size_t> chosen;
  std::shared_ptr<Place> place;
  http_client::Request request = passage->request;
  std::optional<std::int64_t> number;
  bool somebody = false;
  {
    const std::scoped_lock lock(mutex);
    std::vector<ReplicaFacts> facts;
    for (const Known& each : known) {
      const bool has = passage->adapter.empty()
                           ? std::ranges::find(each.models, passage->model, &ListedModel::id) != each.models.end()
                           : each.has.contains(passage->adapter);
      facts.push_back({.healthy = each.healthy, .has_adapter = has, .in_flight = *each.in_flight});
      somebody |= each.healthy;
    }
    chosen = choose(facts, turn++);
    if (chosen) {
      Known& replica = known[*chosen];
      place = std::make_shared<Place>(replica.in_flight);
      if (!authorization.empty()) request.headers.emplace_back("Authorization", authorization);
      if (kind == Kind::llama_server) number = passage->adapter.empty() ? -1 : replica.numbers[passage->adapter];
    }
  }
  if (!chosen && (passage->adapter.empty() || !somebody)) {
    requests.at({"no_upstream"}).add();
    return passage->client->answer(not_now("no upstream is ready; try again in a moment"));
  }
  if (!chosen) return park(passage);
  auto body = rewrite(passage->body, passage->model, number);
  if (!body) return passage->client->answer(web::Failure{400, "the body: " + body.error()});
  request.body = std::move(*body);
  request.url = replicas[*chosen].origin() + passage->path;
  ++passage->made;
  auto opening = client.open(std::move(request), [self = shared_from_this(), passage, at = *chosen,
                                                  place](std::expected<http_client::Answer, Error> answer) mutable {
    answered(self, passage, at, std::move(place), std::move(answer));
  });
  passage->client->on_closed([opening, weak = std::weak_ptr(passage)]() mutable {
    if (const auto still = weak.lock()) still->gone = true;
    opening.cancel();
  });
}

Upstream::Impl::Impl(Options given, Adapters functions, metrics::Registry& registry)
    : options(std::move(given)),
      adapters(std::move(functions)),
      control({.retries = 0, .user_agent = "stackgate-inference"}),
      client({.pause = options.head, .retries = 0, .user_agent = "stackgate-inference"}),
      requests(registry.counter("stackgate_inference_upstream_requests_total", "Requests passed on, by how they ended.",
                                {"result"})),
      calls(registry.counter("stackgate_inference_upstream_adapter_calls_total", "Adapters that engines were told of.",
                             {"action", "result"})),
      kind(options.kind) {
  for (std::string origin : options.urls) {
    while (origin.ends_with('/')) origin.pop_back();
    if (origin.ends_with("/v1")) origin.resize(origin.size() - 3);
    replicas.emplace_back(control, std::move(origin));
  }
  known.resize(replicas.size());
}

Upstream::Upstream(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
Upstream::~Upstream() { stop(); }

std::shared_ptr<Upstream> Upstream::start(Options options, Adapters adapters, metrics::Registry& metrics) {
  auto impl = std::make_shared<Impl>(std::move(options), std::move(adapters), metrics);
  impl->periodic = std::make_unique<run::Periodic>(std::chrono::milliseconds(0),
                                                   [raw = impl.get()](const std::stop_token&) { return raw->round(); });
  return std::shared_ptr<Upstream>(new Upstream(std::move(impl)));
}

void Upstream::stop() {
  std::deque<PassagePtr> waiting;
  {
    const std::scoped_lock lock(impl_->mutex);
    if (std::exchange(impl_->stopped, true)) return;
    std::swap(waiting, impl_->parked);
  }
  impl_->periodic.reset();
}

std::expected<void, Error> Upstream::ready() const {
  const std::scoped_lock lock(impl_->mutex);
  if (std::ranges::any_of(impl_->known, &Known::healthy)) return {};
  std::string faults;
  for (std::size_t i = 0; i < impl_->known.size(); ++i)
    faults += fmt::format("{}{}: {}", i == 0 ? "" : "; ", impl_->replicas[i].origin(), impl_->known[i].fault);
  return std::unexpected(Error{std::move(faults)});
}

std::vector<web::Route> Upstream::routes(const std::shared_ptr<Upstream>& upstream) {
  const auto impl = upstream->impl_;
  std::vector<web::Route> out;
  for (const std::string_view pattern : {"/v1/chat/completions", "/v1/completions", "/v1/embeddings"})
    out.push_back({"POST",
                   pattern,
                   [impl, upstream](web::Call& call) { return pass(impl, call); },
                   {.dialect = web::Dialect::openai, .body_bytes = largest_body},
                   [](web::Call& call) {
                     const bool quick = call.request().body.size() <= largest_quick_body;
                     return web::Placement{quick ? web::Placement::Where::io_thread : web::Placement::Where::pool,
                                           std::string(call.request_id())};  // all may come from one gateway
                   }});
  const web::RouteOptions quick{.dialect = web::Dialect::openai, .on_io_thread = true};
  out.push_back({"GET", "/v1/models",
                 [impl](web::Call&) -> web::Answer { return web::json_answer(models_answer(models_of(*impl))); },
                 quick});
  out.push_back({"GET", "/v1/models/{id...}", [impl](web::Call& call) { return show(impl, call); }, quick});
  return out;
}

}  // namespace stackgate::inference::upstream
