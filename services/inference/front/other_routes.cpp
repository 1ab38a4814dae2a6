// /v1/embeddings, /tokenize, /detokenize, /tokenizer_info, /v1/models.
#include <utility>

#include "services/inference/api/other_answers.hpp"
#include "services/inference/api/other_requests.hpp"
#include "services/inference/front/answering.hpp"
#include "services/inference/front/handlers.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/web/json.hpp"

namespace stackgate::inference {
namespace {

class EmbeddingAnswering final : public Answering {
 public:
  EmbeddingAnswering(FrontPtr front, std::shared_ptr<web::Deferred> later, AnswerFacts facts, bool base64)
      : Answering(std::move(front), std::move(later), std::move(facts)), base64_(base64) {}

 private:
  std::string events(const Progress&) override { return {}; }
  std::string last_events(const Usage&) override { return {}; }
  std::string whole(const Usage& usage) override {
    std::vector<std::vector<float>> vectors;
    for (Choice& each : choices()) vectors.push_back(std::move(each.embedding));
    return embeddings_answer(facts().model, vectors, base64_, usage.prompt_tokens);
  }

  const bool base64_;
};

ServedModel base_of(const Front& front) {
  return {.id = front.model->name,
          .created = front.model->created,
          .owned_by = "stackgate",
          .root = front.model->root,
          .context = front.model->limits.context};
}

/// The model that a request for tokens names, if it names one, must be there: all have the same tokenizer.
std::expected<void, web::Failure> known(const Front& front, const std::string& model) {
  if (!model.empty()) (void)TRY(adapter_of(front, model, {}));
  return {};
}

}  // namespace

web::Answer embed(const FrontPtr& front, web::Call& call) {
  if (!front->options.embeddings)
    return bad_parameter("parameter-not-served", "input", "is not served: this server gives no embeddings",
                         "start it without --no-embeddings");
  auto request = read_embedding(*TRY(body_of(call)), front->model->limits);
  if (!request) return bad_request(std::move(request.error()));
  const std::string adapter = TRY(adapter_of(*front, request->model, request->peft_name));
  Job job{.kind = Job::Kind::embed};
  job.last_state = front->options.last_token_embeddings;
  AnswerFacts facts{.model = request->model};
  Generation generation;
  generation.max_tokens = 0;
  for (const Prompt& each : request->inputs) {
    const EncodedPrompt prompt = TRY(encode(*front, each, "input", false, true));
    (void)TRY(add_choices(*front, generation, prompt, 0, "input", "input", job));
    facts.prompt_tokens += prompt.ids->size();
  }
  auto later = TRY(call.defer());
  std::make_shared<EmbeddingAnswering>(front, std::move(later), std::move(facts), request->base64)
      ->begin(std::move(job), adapter);
  return web::Later{};
}

web::Answer tokenize(const FrontPtr& front, web::Call& call) {
  const auto request = read_tokenize(*TRY(body_of(call)), front->model->limits);
  if (!request) return bad_request(request.error());
  (void)TRY(known(*front, request->model));
  const std::string text = request->chat ? TRY(render_chat(*front, *request->chat)) : request->prompt;
  const std::vector<TokenId> ids =
      TRY(encode_text(*front, text, request->add_special_tokens, request->chat ? "messages" : "prompt"));
  std::optional<std::vector<std::string>> names;
  if (request->return_token_strs) {
    names.emplace();
    for (const TokenId id : ids) names->push_back(front->model->tokenizer->token_text(id));
  }
  return web::json_answer(tokenize_answer(ids, front->model->limits.context, names));
}

web::Answer detokenize(const FrontPtr& front, web::Call& call) {
  const auto request = read_detokenize(*TRY(body_of(call)), front->model->limits);
  if (!request) return bad_request(request.error());
  (void)TRY(known(*front, request->model));
  return web::json_answer(
      detokenize_answer(front->model->tokenizer->decode(request->tokens, {.skip_special_tokens = false})));
}

web::Answer tokenizer_info(const FrontPtr& front, web::Call&) {
  return web::json_answer(front->model->tokenizer_config);
}

web::Answer list_models(const FrontPtr& front, web::Call&) {
  std::vector<ServedModel> models = front->adapters.list();
  models.insert(models.begin(), base_of(*front));
  return web::json_answer(models_answer(models));
}

web::Answer show_model(const FrontPtr& front, web::Call& call) {
  const std::string_view id = call.parameter("id");
  if (id == front->model->name) return web::json_answer(model_answer(base_of(*front)));
  for (const ServedModel& each : front->adapters.list())
    if (each.id == id) return web::json_answer(model_answer(each));
  return no_such_model(id, "model");
}

}  // namespace stackgate::inference
