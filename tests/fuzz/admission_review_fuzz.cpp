// Any bytes as an admission request: an answer that is valid JSON and echoes the uid, or a refusal; never a crash.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "services/kit/json/parse.hpp"
#include "webhook/admit.hpp"

using namespace stackgate;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  (void)webhook::salvage_uid(body);
  json::Document document;
  const auto root = json::parse(body, document);
  if (!root) return 0;
  const auto request = webhook::read_review(*root);
  if (!request) return 0;
  for (const auto stage : {webhook::Stage::early, webhook::Stage::validate}) {
    const webhook::Verdict verdict = webhook::admit(stage, *request, nullptr, {});
    std::string out;
    webhook::write_review(out, verdict.answer);
    json::Document answer;
    const auto parsed = json::parse(out, answer);
    if (!parsed || parsed->find("response")->find("uid")->string() != request->uid) std::abort();
  }
  return 0;
}
