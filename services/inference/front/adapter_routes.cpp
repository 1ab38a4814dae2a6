#include "services/inference/front/adapter_routes.hpp"

#include <utility>

#include "services/inference/api/other_requests.hpp"
#include "services/inference/front/handlers.hpp"
#include "services/kit/base/time.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/web/deferred.hpp"
#include "services/kit/web/json.hpp"

namespace stackgate::inference {
namespace {

using StorePtr = std::shared_ptr<AdapterStore>;

std::string_view word(Residency residency) {
  switch (residency) {
    case Residency::resident:
      return "resident";
    case Residency::memory:
      return "memory";
    case Residency::disk:
      break;
  }
  return "disk";
}

void write(json::Writer& w, const std::vector<AdapterPlace>& places) {
  w.array("upstreams", [&] {
    for (const AdapterPlace& each : places)
      w.object([&] {
        w.member("upstream", each.upstream);
        w.member("state", each.state);
        if (!each.reason.empty()) w.member("reason", each.reason);
      });
  });
}

void write(json::Writer& w, const AdapterInfo& info, const AdapterPlaces& places) {
  w.object([&] {
    w.member("id", info.id);
    w.member("name", info.name);
    w.member("version", info.version);
    w.member("state", to_string(info.fitness));
    if (!info.reason.empty()) w.member("reason", info.reason);
    if (info.next_attempt_in)
      w.member("next_attempt_in_seconds", static_cast<std::int64_t>(info.next_attempt_in->count()));
    if (info.fitness == Fitness::fit) {
      w.member("rank", std::uint64_t{info.rank});
      if (places)
        write(w, places(info.version.empty() ? info.name : info.name + "@" + info.version));
      else
        w.member("residency", word(info.residency));
    }
    w.member("source", info.source);
    if (!info.created_at.empty()) w.member("created_at", info.created_at);
    w.member("at_run_time", info.at_run_time);
  });
}

web::Answer list(const StorePtr& store, const AdapterPlaces& places) {
  return web::json_answer([&](json::Writer& w) {
    w.object([&] {
      w.member("object", "list");
      w.array("data", [&] {
        for (const AdapterInfo& each : store->list()) write(w, each, places);
      });
    });
  });
}

web::Answer refresh(const StorePtr& store, web::Call&) {
  store->refresh();
  return web::json_answer(R"({"status":"refreshing"})", {}, 202);
}

http::Response text_answer(std::string text) { return {200, "text/plain; charset=utf-8", {}, std::move(text)}; }

web::Answer load(const StorePtr& store, web::Call& call) {
  auto request = read_load_adapter(*TRY(body_of(call)));
  if (!request) return bad_request(std::move(request.error()));
  auto later = TRY(call.defer());
  store->load(request->name, request->path, request->in_place,
              [later = std::move(later), name = request->name](std::expected<void, web::Failure> done) {
                if (!done) return later->answer(std::move(done.error()));
                later->answer(text_answer(adapter_loaded(name)));
              });
  return web::Later{};
}

web::Answer unload(const StorePtr& store, web::Call& call) {
  const auto name = read_unload_adapter(*TRY(body_of(call)));
  if (!name) return bad_request(name.error());
  (void)TRY(store->unload(*name));
  return text_answer(adapter_unloaded(*name));
}

}  // namespace

AdapterNames names_of(const std::shared_ptr<AdapterStore>& store, std::shared_ptr<const BaseModel> base) {
  return {.state = [store](std::string_view name) { return store->state(name); },
          .list =
              [store, base = std::move(base)] {
                std::vector<ServedModel> out;
                for (const NamedAdapter& each : store->named()) {
                  const auto created = from_rfc3339(each.created_at);
                  out.push_back({.id = each.name,
                                 .created = created ? created->time_since_epoch().count() : base->created,
                                 .owned_by = "peft",
                                 .root = each.source,
                                 .parent = base->name,
                                 .context = base->limits.context});
                }
                return out;
              },
          .acquire =
              [store](const std::string& name, AdapterNames::Acquired then) {
                store->acquire(name, [then = std::move(then)](std::expected<ServedAdapterPtr, web::Failure> got) {
                  if (!got) return then(std::unexpected(std::move(got.error())));
                  then(AdapterUse{.key = (*got)->key, .weights = weights_of(*got), .name = (*got)->name});
                });
              }};
}

std::vector<web::Route> adapter_routes(const std::shared_ptr<AdapterStore>& store, bool run_time,
                                       AdapterPlaces places) {
  using Handle = web::Answer (*)(const StorePtr&, web::Call&);
  const auto route = [&](std::string_view method, std::string_view pattern, Handle handle) {
    return web::Route{method,
                      pattern,
                      [store, handle](web::Call& call) { return handle(store, call); },
                      {.dialect = web::Dialect::openai}};
  };
  std::vector<web::Route> out{{"GET",
                               "/v1/adapters",
                               [store, places = std::move(places)](web::Call&) { return list(store, places); },
                               {.dialect = web::Dialect::openai}},
                              route("POST", "/v1/adapters/refresh", refresh)};
  if (!run_time) return out;
  out.push_back(route("POST", "/v1/load_lora_adapter", load));
  out.push_back(route("POST", "/v1/unload_lora_adapter", unload));
  return out;
}

}  // namespace stackgate::inference
