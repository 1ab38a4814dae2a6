// What the process of actions.py writes, which is a user's code: any line has a meaning or is a fault, and what was
// read can be written to the next one.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <variant>

#include "services/guardrail/python/protocol.hpp"
#include "services/kit/json/parse.hpp"

using namespace stackgate;
using namespace stackgate::guardrail;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const WorkerLine line = read_worker_line({reinterpret_cast<const char*>(data), size});
  if (const auto* done = std::get_if<WorkerDone>(&line)) {
    ActionRequest next{.action = "next", .parameters = done->result.context_updates};
    next.parameters.insert_or_assign("value", done->result.value);
    json::Document document;
    if (!json::parse(to_line(next), document, {.max_depth = 200})) std::abort();
  }
  if (const auto* asks = std::get_if<WorkerAsks>(&line))
    if (!std::isfinite(asks->temperature)) std::abort();
  return 0;
}
