// The first line of the bytes is a context in JSON, the rest a template.
#include <cstdint>
#include <string_view>

#include <nlohmann/json.hpp>

#include "services/kit/jinja/template.hpp"

using namespace stackgate::jinja;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Limits limits{.steps = 20'000, .output = 1U << 16U, .allocation = 1U << 22U};
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto end = text.find('\n');
  if (end == std::string_view::npos) return 0;
  const auto context = nlohmann::ordered_json::parse(text.substr(0, end), nullptr, false);
  if (context.is_discarded()) return 0;
  if (const auto parsed = Template::parse(text.substr(end + 1))) (void)parsed->render(context, limits);
  return 0;
}
