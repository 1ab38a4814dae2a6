// Any bytes as a template, rendered over a small context; and as an expression. Faults have a place in the source.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <nlohmann/json.hpp>

#include "services/kit/jinja/template.hpp"

using namespace stackgate::jinja;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const nlohmann::ordered_json context = nlohmann::ordered_json::parse(
      R"({"messages": [{"role": "user", "content": "é"}, {"role": "assistant", "content": [1, 2.5, null]}], "x": 3})");
  static const Limits limits{.steps = 20'000, .output = 1U << 16U, .allocation = 1U << 22U};
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Environment environment;
  environment.clock = [] { return std::chrono::local_seconds(std::chrono::seconds(1'706'692'087)); };
  if (const auto parsed = Template::parse(text, environment)) {
    const auto out = parsed->render(context, limits);
    if (out && out->size() > limits.output + text.size() + (1U << 17U)) std::abort();
  } else if (parsed.error().line == 0 && parsed.error().message.empty()) {
    std::abort();
  }
  if (const auto formula = Expression::parse(text, environment)) (void)formula->evaluate(context, limits);
  return 0;
}
