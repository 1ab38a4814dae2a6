// What a model's endpoint answers, whole and as a stream: what is read keeps its limits, a stream in pieces means what
// it means in one, and a key is in no failure.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "services/guardrail/models/protocol/chunks.hpp"
#include "services/guardrail/models/protocol/request.hpp"
#include "services/kit/http_client/event_stream.hpp"
#include "services/kit/json/parse.hpp"

using namespace stackgate::guardrail;
namespace http_client = stackgate::http_client;
namespace json = stackgate::json;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

struct Streamed {
  std::string text, deltas, fault;
  bool whole = false;
  bool operator==(const Streamed&) const = default;
};

Streamed stream(std::string_view bytes, std::size_t piece) {
  Streamed out;
  http_client::EventReader events({.line = 1U << 16U, .data = 1U << 16U});
  ChunkReader chunks(false);
  bool goes_on = true;
  for (std::size_t at = 0; goes_on && at < bytes.size(); at += piece)
    goes_on = events.feed(bytes.substr(at, piece), [&](const http_client::Event& event) {
      ModelDelta delta;
      const auto kind = chunks.take(event.data, delta);
      out.deltas += delta.text;
      return kind == ChunkReader::Kind::delta;
    });
  out.fault = chunks.fault();
  out.whole = chunks.is_whole();
  out.text = chunks.finish().text;
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string key = "sk-0123456789";
  if (const auto answer = read_answer(text, false)) {
    json::Document document;
    require(json::parse(answer->message, document).has_value());
  }
  (void)read_answer(text, true);
  if (const auto vectors = read_embeddings(text, 2)) require(vectors->size() == 2 && !(*vectors)[0].empty());
  if (const auto names = read_model_names(text)) require(!names->empty() && !names->front().empty());
  for (const int status : {0, 400, 401, 429, 503}) {
    const ModelFailure failure = read_failure(status, text, key, "http://a");
    require(failure.status >= 400 && failure.status <= 599 && !failure.message.empty());
    for (const std::string* each : {&failure.message, &failure.cause, &failure.type})
      require(each->find(key) == std::string::npos);
  }
  const Streamed whole = stream(text, size == 0 ? 1 : size), pieces = stream(text, 7);
  require(whole == pieces && (!whole.fault.empty() || whole.deltas == whole.text));
  const ModelRequest request{.task = "general", .messages = {{"user", "a"}}, .body = std::string(text)};
  if (const auto body = write_model_body({.base_url = "http://a"}, request, "m", true)) {
    json::Document document;
    const auto root = json::parse(*body, document);
    require(root && json::text_at(*root, "model") == "m" && json::flag_at(*root, "stream") &&
            root->find("guardrails") == nullptr && root->find("config_id") == nullptr);
  }
  return 0;
}
