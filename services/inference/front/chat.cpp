// POST /v1/chat/completions.
#include <utility>

#include "services/inference/api/chat_answer.hpp"
#include "services/inference/api/chat_request.hpp"
#include "services/inference/front/answering.hpp"
#include "services/inference/front/handlers.hpp"
#include "services/inference/front/tool_calls.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/crypto/digest.hpp"

namespace stackgate::inference {
namespace {

constexpr std::size_t id_digits = 24;

std::vector<ToolCall> with_ids(std::vector<FoundCall>&& found) {
  std::vector<ToolCall> out;
  out.reserve(found.size());
  for (FoundCall& each : found)
    out.push_back({.id = "call_" + crypto::random_hex(id_digits),
                   .name = std::move(each.name),
                   .arguments = std::move(each.arguments),
                   .index = static_cast<std::uint32_t>(out.size())});
  return out;
}

/// A text that ended by itself, and was calls.
void finish_by_calls(ChatChoice& choice) {
  if (!choice.tool_calls.empty() && choice.finish && choice.finish->reason == FinishReason::stop)
    choice.finish->reason = FinishReason::tool_calls;
}

class ChatAnswering final : public Answering {
 public:
  ChatAnswering(FrontPtr front, std::shared_ptr<web::Deferred> later, AnswerFacts facts, ChatRequest request)
      : Answering(std::move(front), std::move(later), std::move(facts)), request_(std::move(request)) {
    for (std::uint32_t i = 0; i < this->facts().best_of; ++i)
      finders_.emplace_back(request_.tool_choice, request_.tools);
  }

 private:
  std::optional<ChatLogProbs> log_probs(std::vector<PositionLogProbs> positions) const {
    if (!request_.generation.log_probs) return std::nullopt;
    return ChatLogProbs{std::move(positions), *request_.generation.log_probs > 0};
  }

  std::string events(const Progress& progress) override {
    std::string out;
    if (!choices()[progress.sequence].begun) out = chat_begin_chunk(head(), progress.sequence, chunk_usage());
    ToolCallFinder& finder = finders_[progress.sequence];
    std::string text = finder.push(progress.text);
    std::vector<ToolCall> calls;
    if (progress.finish) {
      ToolCallFinder::End end = finder.finish();
      text += end.text;
      calls = with_ids(std::move(end.calls));
    }
    ChatChoice said{.index = progress.sequence, .content = text, .tool_calls = std::move(calls)};
    if (!progress.log_probs.empty()) said.log_probs = log_probs(progress.log_probs);
    if (!text.empty() || !said.tool_calls.empty() || said.log_probs) out += chat_chunk(head(), said, chunk_usage());
    if (!progress.finish) return out;
    ChatChoice last{
        .index = progress.sequence, .content = {}, .tool_calls = std::move(said.tool_calls), .finish = progress.finish};
    finish_by_calls(last);
    last.tool_calls.clear();
    return out + chat_chunk(head(), last, chunk_usage());
  }

  std::string last_events(const Usage& usage) override {
    return facts().include_usage ? chat_usage_chunk(head(), usage) : std::string();
  }

  std::string whole(const Usage& usage) override {
    const std::vector<const Choice*> wanted = chosen();
    std::vector<std::string> texts(wanted.size());
    std::vector<ChatChoice> out;
    for (std::uint32_t i = 0; i < wanted.size(); ++i) {
      ToolCallFinder finder(request_.tool_choice, request_.tools);
      texts[i] = finder.push(wanted[i]->text);
      ToolCallFinder::End end = finder.finish();
      texts[i] += end.text;
      out.push_back({.index = i,
                     .content = texts[i],
                     .tool_calls = with_ids(std::move(end.calls)),
                     .finish = wanted[i]->finish,
                     .log_probs = log_probs(wanted[i]->log_probs)});
      finish_by_calls(out.back());
    }
    return chat_answer(head(), out, usage);
  }

  const ChatRequest request_;
  std::vector<ToolCallFinder> finders_;  // of each choice
};

bool is_forced(const ToolChoice& choice) {
  return choice.kind == ToolChoice::Kind::required || choice.kind == ToolChoice::Kind::named;
}

/// What stands behind the mark of a call that the model begins by itself is held to the tools' schemas, where the model
/// writes such marks, and where the schemas can be held to.
void hold_calls(const Front& front, const ChatRequest& request, Job& job) {
  if (request.tool_choice.kind != ToolChoice::Kind::automatic || !front.model->templates.writes_tagged_calls()) return;
  auto grammar = compiled(forced_call_schema(request.tool_choice, request.tools), "tools");
  if (!grammar) return;
  job.call_grammar = std::move(*grammar);
  job.call_mark = tool_call_mark;
}

}  // namespace

web::Answer chat(const FrontPtr& front, web::Call& call) {
  auto request = read_chat(*TRY(body_of(call)), front->model->limits);
  if (!request) return bad_request(std::move(request.error()));
  const Generation& generation = request->generation;
  const std::string adapter = TRY(adapter_of(*front, generation.model, generation.peft_name));
  const std::string schema =
      is_forced(request->tool_choice) ? forced_call_schema(request->tool_choice, request->tools) : std::string();
  Job job = TRY(job_of(*front, generation, schema));
  hold_calls(*front, *request, job);
  const std::string text = TRY(render_chat(*front, request->chat));
  const EncodedPrompt prompt{.ids = std::make_shared<const std::vector<TokenId>>(
                                 TRY(encode_text(*front, text, generation.add_special_tokens, "messages"))),
                             .text = nullptr};
  (void)TRY(add_choices(*front, generation, prompt, 0, "messages", "max_completion_tokens", job));
  AnswerFacts facts{.id = "chatcmpl-" + crypto::random_hex(id_digits),
                    .model = generation.model,
                    .n = generation.n,
                    .best_of = generation.best_of,
                    .stream = generation.stream,
                    .include_usage = generation.include_usage,
                    .prompt_tokens = prompt.ids->size()};
  auto later = TRY(call.defer());
  std::make_shared<ChatAnswering>(front, std::move(later), std::move(facts), std::move(*request))
      ->begin(std::move(job), adapter);
  return web::Later{};
}

}  // namespace stackgate::inference
