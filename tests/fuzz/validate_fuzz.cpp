// Any bytes as a file given to `stackgate validate`: no format crashes, JSON and SARIF stay JSON, and every place that
// is named lies in the text.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "services/kit/json/parse.hpp"
#include "services/stackgate/validate/check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stackgate;
  const std::string text(reinterpret_cast<const char*>(data), size);
  ValidateOptions options;
  options.strict = true;
  const CheckedSet checked({{"input.yaml", text, ""}}, {{"old.yaml", text, ""}}, options, nullptr);
  json::Document document;
  if (!json::parse(write_json(checked.report()), document)) std::abort();
  if (!json::parse(write_sarif(checked.report(), true), document)) std::abort();
  static_cast<void>(write_text(checked.report(), true));
  static_cast<void>(write_github(checked.report()));
  for (const Entry& entry : checked.report().entries)
    if (entry.line == 0 || entry.column == 0 || entry.end_column <= entry.column) std::abort();
  return 0;
}
