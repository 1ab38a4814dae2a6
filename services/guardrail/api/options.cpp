#include "services/guardrail/api/options.hpp"

#include <array>

#include <fmt/format.h>

#include "services/guardrail/api/limits.hpp"
#include "services/kit/findings/nearest.hpp"

namespace stackgate::guardrail {
namespace {

using validate::JsonPlace;

constexpr std::array<std::string_view, 8> rail_kinds = {"input",     "output",      "retrieval",   "dialog",
                                                        "tool_call", "tool_result", "tool_output", "tool_input"};

RailChoice* choice_of(RequestOptions& options, std::string_view kind) {
  if (kind == "input") return &options.rails.input;
  if (kind == "output") return &options.rails.output;
  if (kind == "retrieval") return &options.rails.retrieval;
  if (kind == "dialog") return &options.rails.dialog;
  if (kind == "tool_call" || kind == "tool_output") return &options.tool_calls;
  if (kind == "tool_result" || kind == "tool_input") return &options.tool_results;
  return nullptr;
}

void read_choice(Fields& rails, std::string_view kind, RailChoice& out) {
  const json::Value* found = rails.find(kind);
  if (found == nullptr) return;
  if (found->is_boolean()) {
    out.on = found->boolean();
  } else if (found->is_array() && kind != "dialog") {
    out.only = rails.texts(kind, most_named_rails);
    out.on = !out.only->empty();
  } else {
    rails.wrong_type(rails.place(kind), kind == "dialog" ? "true or false" : "true, false, or a list of rails");
  }
}

// ["input", "output"]: these, and no others.
void read_kinds(Fields& options, RequestOptions& out) {
  for (const std::string_view kind : rail_kinds) choice_of(out, kind)->on = false;
  const auto kinds = options.texts("rails", rail_kinds.size());
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    RailChoice* choice = choice_of(out, kinds[i]);
    if (choice != nullptr) {
      choice->on = true;
      continue;
    }
    const std::string_view near = validate::nearest(kinds[i], rail_kinds);
    const JsonPlace list = options.place("rails");
    options.wrong({fmt::format("{}[{}]", list.path, i), list.value.items()[i]}, "is no kind of rails",
                  near.empty() ? fmt::format("use {}", fmt::join(rail_kinds.begin(), rail_kinds.begin() + 6, ", "))
                               : fmt::format("write \"{}\"", near));
  }
}

void read_rails(Fields& options, validate::Findings& findings, RequestOptions& out) {
  const json::Value* found = options.find("rails");
  if (found == nullptr) return;
  if (found->is_array()) return read_kinds(options, out);
  const auto at = options.object("rails");
  if (!at) return;
  Fields rails(*at, findings, Whose::guardrails);
  for (const std::string_view kind : rail_kinds) read_choice(rails, kind, *choice_of(out, kind));
}

}  // namespace

RequestOptions read_options(const JsonPlace& at, validate::Findings& findings) {
  RequestOptions out;
  Fields options(at, findings, Whose::guardrails);
  read_rails(options, findings, out);
  out.llm_params = options.tree("llm_params", json::Type::object);
  out.llm_output = options.flag("llm_output");
  const json::Value* vars = options.find("output_vars");
  if (vars != nullptr && vars->is_boolean())
    out.all_output_vars = vars->boolean();
  else
    out.output_vars = options.texts("output_vars", most_output_variables);
  if (const auto log_at = options.object("log")) {
    Fields log(*log_at, findings, Whose::guardrails);
    out.log = {.activated_rails = log.flag("activated_rails"),
               .llm_calls = log.flag("llm_calls"),
               .internal_events = log.flag("internal_events"),
               .colang_history = log.flag("colang_history")};
  }
  return out;
}

}  // namespace stackgate::guardrail
