// For openai-client.sh: `answers` prints our answers, one JSON object {"name", "body"} a line; `requests` reads
// {"path", "body"} lines of what the client sent, and says "ok" or what is wrong with each.
#include <iostream>
#include <string>

#include "services/inference/api/chat_answer.hpp"
#include "services/inference/api/chat_request.hpp"
#include "services/inference/api/completion_answer.hpp"
#include "services/inference/api/completion_request.hpp"
#include "services/inference/api/failures.hpp"
#include "services/inference/api/other_answers.hpp"
#include "services/inference/api/other_requests.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/web/errors.hpp"

namespace {

using namespace stackgate;
using namespace stackgate::inference;

constexpr AnswerHead head{.id = "cmpl-1", .created = 1700000000, .model = "base"};
constexpr Usage usage{.prompt_tokens = 3, .completion_tokens = 2, .cached_tokens = 1};
const Finish stopped{FinishReason::stop, "\n"}, called{FinishReason::tool_calls, {}};

void print(std::string_view name, std::string_view body) {
  std::cout << json::object_text([&](json::Writer& w) {
    w.member("name", name);
    w.member("body", body);
  }) << '\n';
}

PositionLogProbs position(std::string token, float log_prob) {
  return {token, token, log_prob, {{"best", "best", -0.1F}, {token, token, log_prob}}, 0};
}

void print_answers() {
  const std::vector<PositionLogProbs> positions{position("é", -1.25F), position("x", -0.3F)};
  const ChunkUsage asked{.asked = true};
  print("completion",
        completion_answer(
            head, std::vector<CompletionChoice>{{.text = "éx", .finish = stopped, .log_probs = positions}}, usage));
  print("completion stream",
        completion_chunk(head, std::vector<CompletionChoice>{{.text = "é"}}, asked) +
            completion_chunk(head, std::vector<CompletionChoice>{{.text = "x", .finish = stopped}}, asked) +
            completion_chunk(head, {}, {.asked = true, .figures = usage}) + std::string(done_event));
  print("chat", chat_answer(head,
                            std::vector<ChatChoice>{
                                {.content = "éx", .finish = stopped, .log_probs = ChatLogProbs{positions, true}}},
                            usage));
  print("chat stream", chat_begin_chunk(head, 0, asked) +
                           chat_chunk(head, {.content = "é", .log_probs = ChatLogProbs{{positions[0]}, true}}, asked) +
                           chat_chunk(head, {.content = "x", .log_probs = ChatLogProbs{{positions[1]}, true}}, asked) +
                           chat_chunk(head, {.content = {}, .finish = stopped}, asked) + chat_usage_chunk(head, usage) +
                           std::string(done_event));
  print("tool",
        chat_answer(head,
                    std::vector<ChatChoice>{{.content = {},
                                             .tool_calls = {{.id = "call_1", .name = "f", .arguments = R"({"a":1})"}},
                                             .finish = called}},
                    usage));
  print(
      "tool stream",
      chat_begin_chunk(head, 0, {}) +
          chat_chunk(head, {.content = {}, .tool_calls = {{.id = "call_1", .name = "f", .arguments = ""}}}, {}) +
          chat_chunk(head,
                     {.content = {}, .tool_calls = {{.id = {}, .name = {}, .arguments = R"({"a")", .goes_on = true}}},
                     {}) +
          chat_chunk(head, {.content = {}, .tool_calls = {{.id = {}, .name = {}, .arguments = ":1}", .goes_on = true}}},
                     {}) +
          chat_chunk(head, {.content = {}, .finish = called}, {}) + std::string(done_event));
  print("broken stream", chat_begin_chunk(head, 0, {}) + error_event({.status = 503, .message = "the server stops"}));
  print("models", models_answer(std::vector<ServedModel>{{"base", 1, "stackgate", "dir", "", 4096},
                                                         {"a", 2, "peft", "u", "base", 4096}}));
  const std::vector<std::vector<float>> vectors{{0.5F, -0.25F}};
  print("embeddings", embeddings_answer("base", vectors, false, 3));
  print("embeddings base64", embeddings_answer("base", vectors, true, 3));
  print("no model", web::render(no_such_model("x", "model"), web::Dialect::openai).body);
  print("faults",
        web::render(bad_request({{.rule = "body-type", .path = "n", .problem = "must be 1", .fix = "write 1"}}),
                    web::Dialect::openai)
            .body);
}

template <class Request>
void judge(std::string_view path, const std::expected<Request, validate::Findings>& read) {
  std::cout << (read ? "ok" : "not ok") << " the client's body of " << path << " is read\n";
  if (!read) std::cout << web::message_with_findings(bad_request(read.error())) << '\n';
}

void read_requests() {
  constexpr ApiLimits limits{.context = 4096, .vocabulary = 1000};
  for (std::string line; std::getline(std::cin, line);) {
    json::Document document;
    const json::Value request = json::parse(line, document).value_or(json::Value{});
    const std::string_view path = json::text_at(request, "path");
    const json::Value* body = request.find("body");
    if (body == nullptr) continue;
    if (path == "/completions") judge(path, read_completion(*body, limits));
    if (path == "/chat/completions") judge(path, read_chat(*body, limits));
    if (path == "/embeddings") judge(path, read_embedding(*body, limits));
  }
}

}  // namespace

int main(int count, char** words) {
  if (count == 2 && std::string_view(words[1]) == "answers") return print_answers(), 0;
  if (count == 2 && std::string_view(words[1]) == "requests") return read_requests(), 0;
  std::cerr << "inference_cases answers | inference_cases requests\n";
  return 2;
}
