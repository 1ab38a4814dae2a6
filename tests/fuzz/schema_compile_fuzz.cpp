// Any JSON as a schema, and any JSON as an object for it: "SCHEMA\0OBJECT". No crash, and faults are complete.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "services/kit/json/parse.hpp"
#include "services/kit/schema/check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stackgate;
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const std::size_t end = all.find('\0');
  json::Document schema_document, document;
  const auto schema_value = json::parse(all.substr(0, end), schema_document);
  if (!schema_value) return 0;
  for (const auto root : {validate::schema::Root::value, validate::schema::Root::resource}) {
    const auto schema = validate::schema::Schema::compile(*schema_value, root);
    if (!schema) {
      if (schema.error().empty()) std::abort();
      continue;
    }
    const auto value = end == std::string_view::npos ? schema_value : json::parse(all.substr(end + 1), document);
    if (!value) continue;
    const auto faults = validate::schema::check(schema->root(), *value);
    if (faults.size() > 100) std::abort();
    for (const auto& each : faults)
      if (each.problem.empty() || each.fix.empty()) std::abort();
  }
  return 0;
}
