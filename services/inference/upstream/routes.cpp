// What clients ask: which model a request means, and the lists of models.
#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "services/inference/api/other_answers.hpp"
#include "services/inference/upstream/state.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/http/text.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/relay/relay.hpp"
#include "services/kit/web/errors.hpp"
#include "services/kit/web/json.hpp"

namespace stackgate::inference::upstream {
namespace {

constexpr std::uint64_t largest_body = 10U << 20U;
constexpr std::uint64_t largest_quick_body = 64U << 10U;  // read on the I/O thread

using ImplPtr = std::shared_ptr<Upstream::Impl>;

/// The rest of what is passed on, once it is known whom it is for.
web::Answer send(const ImplPtr& impl, web::Call& call, const PassagePtr& passage) {
  passage->body = TRY(call.body());
  passage->request = TRY(relay::forwarded(call, ""));
  std::erase_if(passage->request.headers, [](const auto& header) {
    return http::equal_ignoring_case(header.first, "authorization") ||
           http::equal_ignoring_case(header.first, "api-key") || http::equal_ignoring_case(header.first, "cookie") ||
           http::equal_ignoring_case(header.first, "accept-encoding");  // refusals are read
  });
  passage->request.head = impl->options.head;
  passage->client = TRY(call.defer());
  impl->open->add(passage);
  passage->client->on_closed([weak = std::weak_ptr(passage)] {
    if (const auto still = weak.lock()) still->leave();
  });
  impl->dispatch(passage);
  return web::Later{};
}

struct Named {
  std::string model, peft_name;
};
std::expected<Named, web::Failure> names_of(web::Call& call) {
  const auto document = TRY(call.json());
  if (!document->root.is_object()) return std::unexpected(web::Failure{400, "the body must be a JSON object"});
  return Named{std::string(json::text(&document->root, {"model"})),
               std::string(json::text(&document->root, {"peft_name"}))};
}

/// "" for a model of the engines' own. Under the lock.
std::expected<std::string, web::Failure> adapter_of(const Upstream::Impl& impl, const Named& named) {
  if (impl.names_there.empty()) return std::unexpected(not_now("no upstream has answered yet; try again in a moment"));
  return adapter_for(named.model, named.peft_name, {impl.names_there, impl.adapters.state});
}

/// Under the lock, and once one has answered.
const std::string& base_there(const Upstream::Impl& impl) {
  return base_of(std::ranges::find_if(impl.known, [](const Known& each) { return !each.models.empty(); })->models).id;
}

web::Answer generate(const ImplPtr& impl, web::Call& call) {
  const Named named = TRY(names_of(call));
  if (named.model.empty())
    return bad_request({{.rule = "parameter-missing",
                         .path = "model",
                         .value = {},
                         .problem = "is missing, or no text",
                         .fix = "GET /v1/models lists the names"}});
  auto passage = std::make_shared<Passage>(impl->open);
  passage->path = call.request().path;
  {
    const std::scoped_lock lock(impl->mutex);
    const std::string adapter = TRY(adapter_of(*impl, named));
    passage->model = named.model;
    passage->counted = base_there(*impl);
    if (!adapter.empty()) {
      const auto found = impl->wanted->by_name.find(adapter);
      if (found == impl->wanted->by_name.end()) {
        passage->adapter = passage->model = adapter;  // it has just come: the next round knows it
      } else {
        const WantedAdapter& wanted = impl->wanted->adapters[found->second];
        if (!wanted.hindrance.empty())
          return web::Failure{503, fmt::format("The adapter `{}` cannot be served: {}.", adapter, wanted.hindrance)};
        passage->adapter = passage->model = wanted.name;
      }
      if (impl->kind == Kind::sglang) passage->model = base_there(*impl);  // and the adapter by a member of its own
    }
  }
  return send(impl, call, passage);
}

/// What an engine may lack, under its own path.
PassagePtr optional_passage(const ImplPtr& impl, std::string_view path) {
  auto out = std::make_shared<Passage>(impl->open);
  out->path = out->optional = path.starts_with("/v1/") && !path.ends_with("/metadata") ? path.substr(3) : path;
  return out;
}

/// An adapter's tokens are its base's.
web::Answer tokens(const ImplPtr& impl, web::Call& call) {
  const Named named = TRY(names_of(call));
  const auto passage = optional_passage(impl, call.request().path);
  {
    const std::scoped_lock lock(impl->mutex);
    if (impl->kind == Kind::llama_server)
      return web::Failure{
          501, fmt::format("The upstream is a llama-server, whose {} takes requests of another form.", passage->path)};
    if (!named.model.empty()) {
      const std::string adapter = TRY(adapter_of(*impl, named));
      passage->model = adapter.empty() ? named.model : base_there(*impl);
    }
  }
  return send(impl, call, passage);
}

web::Answer ask(const ImplPtr& impl, web::Call& call) {
  return send(impl, call, optional_passage(impl, call.request().path));
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
    for (const auto& [name, index] : impl.wanted->by_name)
      if (each.has.contains(impl.wanted->adapters[index].name))
        add({.id = name,
             .root = impl.wanted->adapters[index].path,
             .parent = base,
             .context = base_of(each.models).context},
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

std::vector<web::Route> Upstream::routes(const std::shared_ptr<Upstream>& upstream) {
  const auto impl = upstream->impl_;
  std::vector<web::Route> out;
  const auto post = [&](std::string_view pattern, web::Answer (*handle)(const ImplPtr&, web::Call&)) {
    out.push_back({"POST",
                   pattern,
                   [impl, upstream, handle](web::Call& call) { return handle(impl, call); },
                   {.dialect = web::Dialect::openai, .body_bytes = largest_body},
                   [](web::Call& call) {
                     const bool quick = call.request().body.size() <= largest_quick_body;
                     return web::Placement{quick ? web::Placement::Where::io_thread : web::Placement::Where::pool,
                                           std::string(call.request_id())};  // all may come from one gateway
                   }});
  };
  for (const std::string_view pattern : {"/v1/chat/completions", "/v1/completions", "/v1/embeddings"})
    post(pattern, generate);
  for (const std::string_view pattern : {"/tokenize", "/v1/tokenize", "/detokenize", "/v1/detokenize"})
    post(pattern, tokens);
  const web::RouteOptions quick{.dialect = web::Dialect::openai, .on_io_thread = true};
  for (const std::string_view pattern : {"/tokenizer_info", "/v1/tokenizer_info", "/v1/metadata", "/version"})
    out.push_back({"GET", pattern, [impl](web::Call& call) { return ask(impl, call); }, quick});
  out.push_back(
      {"GET", "/v1/version", [](web::Call&) -> web::Answer { return web::json_answer(version_answer()); }, quick});
  out.push_back({"GET", "/v1/models",
                 [impl](web::Call&) -> web::Answer { return web::json_answer(models_answer(models_of(*impl))); },
                 quick});
  out.push_back({"GET", "/v1/models/{id...}", [impl](web::Call& call) { return show(impl, call); }, quick});
  return out;
}

}  // namespace stackgate::inference::upstream
