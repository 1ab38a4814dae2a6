// POST /v1/completions.
#include <utility>

#include "services/inference/api/completion_answer.hpp"
#include "services/inference/api/completion_request.hpp"
#include "services/inference/front/answering.hpp"
#include "services/inference/front/handlers.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/crypto/digest.hpp"

namespace stackgate::inference {
namespace {

class CompletionAnswering final : public Answering {
 public:
  CompletionAnswering(FrontPtr front, std::shared_ptr<web::Deferred> later, AnswerFacts facts, bool log_probs,
                      std::vector<std::shared_ptr<const PromptText>> echoes)
      : Answering(std::move(front), std::move(later), std::move(facts)),
        log_probs_(log_probs),
        echoes_(std::move(echoes)) {}

 private:
  /// Text and log-probabilities with the prompt before them, where it is echoed.
  CompletionChoice choice(std::uint32_t sequence, std::string& text, std::vector<PositionLogProbs> before,
                          std::vector<PositionLogProbs> log_probs, std::optional<Finish> finish, bool first) const {
    const auto& echo = echoes_[sequence / facts().best_of];
    if (echo && first) text = echo->text + text;
    for (PositionLogProbs& each : log_probs) before.push_back(std::move(each));
    CompletionChoice out{.text = text, .finish = std::move(finish)};
    if (log_probs_) out.log_probs = std::move(before);
    return out;
  }

  std::string events(const Progress& progress) override {
    std::string text = progress.text;
    CompletionChoice one = choice(progress.sequence, text, progress.prompt_log_probs, progress.log_probs,
                                  progress.finish, !choices()[progress.sequence].begun);
    one.index = progress.sequence;
    if (one.text.empty() && !one.finish && (!one.log_probs || one.log_probs->empty())) return {};
    return completion_chunk(head(), {&one, 1}, chunk_usage());
  }

  std::string last_events(const Usage& usage) override {
    return facts().include_usage ? completion_chunk(head(), {}, {.asked = true, .figures = usage}) : std::string();
  }

  std::string whole(const Usage& usage) override {
    const std::vector<const Choice*> wanted = chosen();
    std::vector<std::string> texts(wanted.size());
    std::vector<CompletionChoice> out;
    for (std::uint32_t i = 0; i < wanted.size(); ++i) {
      texts[i] = wanted[i]->text;
      out.push_back(choice(i / facts().n * facts().best_of, texts[i], wanted[i]->prompt_log_probs, wanted[i]->log_probs,
                           wanted[i]->finish, true));
      out.back().index = i;
    }
    return completion_answer(head(), out, usage);
  }

  const bool log_probs_;
  const std::vector<std::shared_ptr<const PromptText>> echoes_;  // of each prompt
};

}  // namespace

web::Answer complete(const FrontPtr& front, web::Call& call) {
  auto request = read_completion(*TRY(body_of(call)), front->model->limits);
  if (!request) return bad_request(std::move(request.error()));
  const Generation& generation = request->generation;
  const std::string adapter = TRY(adapter_of(*front, generation.model, generation.peft_name));
  Job job = TRY(job_of(*front, generation, {}));
  job.prompt_log_probs = request->echo && generation.log_probs;
  AnswerFacts facts{.id = "cmpl-" + crypto::random_hex(24),
                    .model = generation.model,
                    .n = generation.n,
                    .best_of = generation.best_of,
                    .stream = generation.stream,
                    .include_usage = generation.include_usage};
  std::vector<std::shared_ptr<const PromptText>> echoes;
  for (const Prompt& each : request->prompts) {
    const EncodedPrompt prompt = TRY(encode(*front, each, "prompt", request->echo, generation.add_special_tokens));
    (void)TRY(add_choices(*front, generation, prompt, default_max_tokens, "prompt", "max_tokens", job));
    facts.prompt_tokens += prompt.ids->size();
    echoes.push_back(prompt.text);
  }
  auto later = TRY(call.defer());
  std::make_shared<CompletionAnswering>(front, std::move(later), std::move(facts), generation.log_probs.has_value(),
                                        std::move(echoes))
      ->begin(std::move(job), adapter);
  return web::Later{};
}

}  // namespace stackgate::inference
