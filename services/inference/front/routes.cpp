#include <chrono>

#include <fmt/format.h>

#include "services/inference/api/other_answers.hpp"
#include "services/inference/front/front.hpp"
#include "services/inference/front/handlers.hpp"
#include "services/kit/base/version.hpp"
#include "services/kit/web/json.hpp"

namespace stackgate::inference {
namespace {

constexpr std::uint64_t largest_body = 10U << 20U;

using Handle = web::Answer (*)(const FrontPtr&, web::Call&);

web::Answer metadata(const FrontPtr& front, web::Call&) {
  return web::json_answer([&](json::Writer& w) {
    w.object([&] {
      w.member("version", version);
      w.array("modelInfo", [&] {
        w.object([&] {
          w.member("shortName", front->model->name);
          w.member("modelUrl", front->model->root);
          w.member("maxModelLen", std::uint64_t{front->model->limits.context});
        });
      });
    });
  });
}

web::Answer versions(const FrontPtr&, web::Call&) { return web::json_answer(version_answer()); }

/// NIM's shape: the model's licence. Its publisher's words are in its directory, or nowhere.
web::Answer license(const FrontPtr& front, web::Call&) {
  const BaseModel& model = *front->model;
  if (model.license_file.empty())
    return web::Failure{.status = 404,
                        .message = fmt::format("The directory of the model `{}` has no LICENSE file; ask where it is "
                                               "from.",
                                               model.name),
                        .type = "NotFoundError"};
  return web::json_answer([&](json::Writer& w) {
    w.object([&] {
      w.member("name", model.name);
      w.member("path", model.license_file);
      w.member("size", static_cast<std::uint64_t>(model.license.size()));
      w.member("type", "file");
      w.member("content", model.license);
    });
  });
}

struct Row {
  std::string_view method, pattern;
  Handle handle;
  bool quick = false;  // answered on the I/O thread
};

constexpr Row rows[] = {
    {"POST", "/v1/chat/completions", chat},
    {"POST", "/v1/completions", complete},
    {"POST", "/v1/embeddings", embed},
    {"GET", "/v1/models", list_models, true},
    {"GET", "/v1/models/{id...}", show_model, true},
    {"POST", "/tokenize", tokenize},
    {"POST", "/v1/tokenize", tokenize},
    {"POST", "/detokenize", detokenize},
    {"POST", "/v1/detokenize", detokenize},
    {"GET", "/tokenizer_info", tokenizer_info, true},
    {"GET", "/v1/tokenizer_info", tokenizer_info, true},
    {"GET", "/v1/metadata", metadata, true},
    {"GET", "/v1/license", license, true},
    {"GET", "/v1/version", versions, true},
    {"GET", "/version", versions, true},
};

}  // namespace

AdapterNames no_adapters() {
  return {.state = [](std::string_view) { return AdapterState::unknown; },
          .list = [] { return std::vector<ServedModel>(); },
          .acquire = [](const std::string& name,
                        const AdapterNames::Acquired& then) { then(std::unexpected(no_such_model(name, "model"))); }};
}

std::vector<web::Route> routes(const std::shared_ptr<const Front>& front) {
  std::vector<web::Route> out;
  for (const Row& each : rows) {
    web::Route route{each.method,
                     each.pattern,
                     [front, handle = each.handle](web::Call& call) { return handle(front, call); },
                     {.dialect = web::Dialect::openai, .on_io_thread = each.quick}};
    if (each.method == "POST") {
      route.options.body_bytes = largest_body;
      // A share for each request: all may come from one gateway. The engine's queue is what is bounded.
      route.place = [](web::Call& call) {
        return web::Placement{web::Placement::Where::pool, std::string(call.request_id())};
      };
    }
    out.push_back(std::move(route));
  }
  return out;
}

}  // namespace stackgate::inference
