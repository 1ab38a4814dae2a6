#include "services/guardrail/models/client.hpp"

#include <utility>

#include "services/guardrail/models/call.hpp"

namespace stackgate::guardrail {
namespace {

using Functions = OutgoingCall::Functions;
using StatePtr = std::shared_ptr<ModelCallHandle::State>;

/// A call takes the place of the one before it (the list of models) behind the same handle.
void start(const std::shared_ptr<ModelClient::Impl>& impl, const StatePtr& state, OutgoingRequest request,
           Functions functions) {
  const auto call = std::make_shared<OutgoingCall>(impl, std::move(request), std::move(functions));
  {
    const std::scoped_lock lock(state->mutex);
    if (state->cancelled) return;
    state->call = call;
  }
  impl->start(call);
}

OutgoingRequest list_request(const ModelEndpoint& endpoint) {
  return {
      .endpoint = endpoint, .method = "GET", .url = endpoint_url(endpoint.base_url, "models"), .task = "list_models"};
}

std::expected<ModelAnswer, std::string> read_list(std::string body) {
  const auto names = read_model_names(body);
  if (!names) return std::unexpected(names.error());
  return ModelAnswer{.text = names->front(), .body = std::move(body)};
}

/// Of a body that is to be written once the model's name is known.
using Write = std::move_only_function<std::expected<std::string, std::string>(const ModelEndpoint& endpoint,
                                                                              std::string_view model)>;

struct Ask {
  OutgoingRequest request;
  Write write;
  Functions functions;
};

void start_with_model(const std::shared_ptr<ModelClient::Impl>& impl, const StatePtr& state, Ask ask,
                      std::string_view model) {
  auto body = ask.write(ask.request.endpoint, model);
  if (!body) {
    impl->engine->run([end = std::move(ask.functions.end), why = std::move(body.error())]() mutable {
      end(std::unexpected(ModelFailure{.status = 400, .message = why, .type = "invalid_request_error", .cause = why}));
    });
    return;
  }
  ask.request.body = std::move(*body);
  start(impl, state, std::move(ask.request), std::move(ask.functions));
}

ModelCallHandle start_named(const std::shared_ptr<ModelClient::Impl>& impl, Ask ask) {
  auto state = std::make_shared<ModelCallHandle::State>();
  const ModelEndpoint& endpoint = ask.request.endpoint;
  const std::string model = endpoint.model.empty() ? impl->first_model(endpoint.base_url) : endpoint.model;
  if (!model.empty()) {
    start_with_model(impl, state, std::move(ask), model);
    return ModelCallHandle(std::move(state));
  }
  OutgoingRequest list = list_request(endpoint);
  auto then = [impl, state, ask = std::move(ask)](ModelResult<ModelAnswer> answer) mutable {
    if (!answer) return ask.functions.end(std::unexpected(std::move(answer.error())));
    impl->remember_first_model(ask.request.endpoint.base_url, answer->body);
    start_with_model(impl, state, std::move(ask), answer->text);
  };
  start(impl, state, std::move(list), {.read = read_list, .end = std::move(then)});
  return ModelCallHandle(std::move(state));
}

Ask completion(const ModelEndpoint& endpoint, ModelRequest request, bool stream) {
  OutgoingRequest outgoing{
      .endpoint = endpoint,
      .url = endpoint_url(endpoint.base_url, endpoint.completion ? "completions" : "chat/completions"),
      .task = request.task,
      .deadline = request.deadline,
      .stream = stream};
  auto write = [request = std::move(request), stream](const ModelEndpoint& whom, std::string_view model) {
    return write_model_body(whom, request, model, stream);
  };
  auto read = [text_mode = endpoint.completion](std::string body) {
    auto answer = read_answer(body, text_mode);
    if (answer) answer->body = std::move(body);
    return answer;
  };
  return {.request = std::move(outgoing), .write = std::move(write), .functions = {.read = std::move(read), .end = {}}};
}

auto body_only(std::move_only_function<void(ModelResult<std::string>)> then) {
  return [then = std::move(then)](ModelResult<ModelAnswer> answer) mutable {
    if (!answer) return then(std::unexpected(std::move(answer.error())));
    then(std::move(answer->body));
  };
}

}  // namespace

void ModelCallHandle::cancel() {
  if (!state_) return;
  std::shared_ptr<OutgoingCall> call;
  {
    const std::scoped_lock lock(state_->mutex);
    state_->cancelled = true;
    call = std::exchange(state_->call, nullptr);
  }
  if (call) call->cancel();
}

void ModelCallHandle::resume() {
  if (!state_) return;
  std::shared_ptr<OutgoingCall> call;
  {
    const std::scoped_lock lock(state_->mutex);
    call = state_->call;
  }
  if (call) call->resume();
}

ModelClient::ModelClient(ModelClientOptions options, metrics::Registry& registry)
    : impl_(std::make_shared<Impl>(std::move(options), registry)) {}

ModelClient::~ModelClient() { impl_->stop(); }

ModelCallHandle ModelClient::ask(const ModelEndpoint& endpoint, ModelRequest request, OnModelAnswer then) const {
  Ask ask = completion(endpoint, std::move(request), false);
  ask.functions.end = std::move(then);
  return start_named(impl_, std::move(ask));
}

ModelCallHandle ModelClient::stream(const ModelEndpoint& endpoint, ModelRequest request,
                                    ModelStreamFunctions functions) const {
  Ask ask = completion(endpoint, std::move(request), true);
  ask.functions.delta = std::move(functions.delta);
  ask.functions.end = std::move(functions.end);
  return start_named(impl_, std::move(ask));
}

ModelCallHandle ModelClient::embed(
    const ModelEndpoint& endpoint, std::vector<std::string> texts,
    std::move_only_function<void(ModelResult<std::vector<std::vector<float>>>)> then) const {
  const auto vectors = std::make_shared<std::vector<std::vector<float>>>();
  auto read = [vectors, count = texts.size()](const std::string& body) -> std::expected<ModelAnswer, std::string> {
    auto found = read_embeddings(body, count);
    if (!found) return std::unexpected(std::move(found.error()));
    *vectors = std::move(*found);
    return ModelAnswer{};
  };
  auto end = [vectors, then = std::move(then)](ModelResult<ModelAnswer> answer) mutable {
    if (!answer) return then(std::unexpected(std::move(answer.error())));
    then(std::move(*vectors));
  };
  return start_named(
      impl_,
      {.request = {.endpoint = endpoint, .url = endpoint_url(endpoint.base_url, "embeddings"), .task = "embeddings"},
       .write = [texts = std::move(texts)](const ModelEndpoint&, std::string_view model)
           -> std::expected<std::string, std::string> { return write_embeddings_body(model, texts); },
       .functions = {.read = std::move(read), .end = std::move(end)}});
}

ModelCallHandle ModelClient::list_models(const ModelEndpoint& endpoint,
                                         std::move_only_function<void(ModelResult<std::string>)> then) const {
  auto state = std::make_shared<ModelCallHandle::State>();
  start(impl_, state, list_request(endpoint), {.read = read_list, .end = body_only(std::move(then))});
  return ModelCallHandle(std::move(state));
}

ModelCallHandle ModelClient::post(const std::string& url, const std::string& key_variable, std::string json,
                                  std::string task,
                                  std::move_only_function<void(ModelResult<std::string>)> then) const {
  auto state = std::make_shared<ModelCallHandle::State>();
  auto read = [](std::string body) -> std::expected<ModelAnswer, std::string> {
    return ModelAnswer{.body = std::move(body)};
  };
  ModelEndpoint endpoint{.type = "server", .base_url = endpoint_origin(url), .api_key_env = key_variable};
  start(impl_, state, {.endpoint = std::move(endpoint), .url = url, .body = std::move(json), .task = std::move(task)},
        {.read = read, .end = body_only(std::move(then))});
  return ModelCallHandle(std::move(state));
}

}  // namespace stackgate::guardrail
