// https://spec.openapis.org/oas/v3.1.0: its schemas are JSON Schema, so those that bodies are checked with stand in it.
#include <algorithm>
#include <map>
#include <vector>

#include "services/evaluator/api/evaluation_schema.hpp"
#include "services/evaluator/compare/comparison_request.hpp"
#include "services/evaluator/front/route_table.hpp"
#include "services/kit/base/version.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::evaluator {
namespace openapi_detail {

struct Schema {
  std::string_view name, text;
};
constexpr Schema schemas[] = {
    {"Evaluation", evaluation_schema},
    {"Comparison", comparison_schema},
    {"Job", R"({"description": "target and config as NeMo's evaluator has them, or an Evaluation", "type": "object"})"},
    {"Error", R"({"type": "object", "required": ["detail"], "properties": {"detail": {"oneOf": [{"type": "string"},
      {"type": "array", "items": {"type": "object", "required": ["loc", "msg", "type"], "properties": {
        "loc": {"type": "array"}, "msg": {"type": "string"}, "type": {"type": "string"},
        "severity": {"type": "string"}}}}]}}})"},
};

void write_reference(json::Writer& w, std::string_view name) {
  w.object("schema", [&] { w.member("$ref", "#/components/schemas/" + std::string(name)); });
}

void write_parameter(json::Writer& w, std::string_view name, std::string_view in) {
  w.object([&] {
    w.member("name", name);
    w.member("in", in);
    w.member("required", in == "path");
    w.object("schema", [&] { w.member("type", "string"); });
  });
}

std::vector<std::string_view> words_of(std::string_view list) {
  std::vector<std::string_view> out;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    out.push_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return out;
}

void write_answers(json::Writer& w, const RouteRow& row) {
  w.object("responses", [&] {
    w.object(row.success, [&] {
      w.member("description", row.summary);
      if (row.success != "204") w.object("content", [&] { w.object(row.type, [&] { w.object("schema", [] {}); }); });
    });
    w.object("default", [&] {
      w.member("description", "What is wrong, and what to do");
      w.object("content", [&] { w.object("application/json", [&] { write_reference(w, "Error"); }); });
    });
  });
}

void write_operation(json::Writer& w, const RouteRow& row) {
  std::string method(row.method);
  std::ranges::transform(method, method.begin(), [](char c) { return static_cast<char>(c | 0x20); });
  w.object(method, [&] {
    w.member("summary", row.summary);
    w.array("parameters", [&] {
      if (row.pattern.contains("{name}")) write_parameter(w, "name", "path");
      for (const std::string_view name : words_of(row.query)) write_parameter(w, name, "query");
    });
    if (!row.body.empty())
      w.object("requestBody", [&] {
        w.member("required", true);
        w.object("content", [&] { w.object("application/json", [&] { write_reference(w, row.body); }); });
      });
    write_answers(w, row);
  });
}

std::string document() {
  std::map<std::string_view, std::vector<const RouteRow*>> paths;
  for (const RouteRow& each : route_table()) paths[each.pattern].push_back(&each);
  return json::object_text([&](json::Writer& w) {
    w.member("openapi", "3.1.0");
    w.object("info", [&] {
      w.member("title", "stackgate-evaluator");
      w.member("version", version);
    });
    w.object("paths", [&] {
      for (const auto& [path, rows] : paths)
        w.object(path, [&] {
          for (const RouteRow* row : rows) write_operation(w, *row);
        });
    });
    w.object("components", [&] {
      w.object("schemas", [&] {
        for (const Schema& each : schemas) {
          w.key(each.name);
          w.raw(each.text);
        }
      });
    });
  });
}

}  // namespace openapi_detail

const std::string& openapi_document() {
  static const std::string text = openapi_detail::document();
  return text;
}

}  // namespace stackgate::evaluator
