#include "services/guardrail/api/own_members.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "services/guardrail/api/inline_config.hpp"
#include "services/guardrail/api/limits.hpp"
#include "services/guardrail/api/options.hpp"
#include "services/guardrail/api/state.hpp"
#include "services/kit/jinja/from_value.hpp"

namespace stackgate::guardrail {
namespace {

using validate::JsonPlace;

/// The two objects that may have a member of the guardrail's own.
class OwnMembers {
 public:
  OwnMembers(const json::Value& body, validate::Findings& findings) : top_({{}, body}, findings, Whose::guardrails) {
    if (const auto at = top_.object("guardrails")) inner_.emplace(*at, findings, Whose::guardrails);
  }

  bool has_inner() const { return top_.has("guardrails"); }
  /// nullptr: the member is nowhere.
  Fields* holder(std::string_view key) {
    const bool outer = top_.has(key);
    if (!inner_ || !inner_->has(key)) return outer ? &top_ : nullptr;
    if (outer) top_.wrong(key, "is given twice, here and inside of \"guardrails\"", "leave out one of them");
    return &*inner_;
  }
  /// Only inside of `guardrails`.
  Fields* inner(std::string_view key) { return inner_ && inner_->has(key) ? &*inner_ : nullptr; }

 private:
  Fields top_;
  std::optional<Fields> inner_;
};

void check_id(Fields& fields, const JsonPlace& at, std::string_view id) {
  const std::string_view problem = configuration_id_fault(id);
  if (!problem.empty()) fields.wrong(at, std::string(problem), "write an id as GET /v1/rails/configs lists it");
}

void read_ids(OwnMembers& members, ChatRequest& out) {
  Fields* const one = members.holder("config_id");
  Fields* const several = members.holder("config_ids");
  if (one != nullptr && several != nullptr)
    return several->wrong("config_ids", "is given beside \"config_id\"", "leave out one of them");
  if (one != nullptr) {
    const std::size_t before = out.config_ids.size();
    out.config_ids.push_back(one->text("config_id"));
    if (one->find("config_id")->is_string()) check_id(*one, one->place("config_id"), out.config_ids[before]);
  }
  if (several == nullptr) return;
  auto ids = several->texts("config_ids", most_configurations);
  const JsonPlace at = several->place("config_ids");
  if (at.value.is_array() && at.value.items().empty())
    several->wrong(at, "is empty", "name a configuration, or leave it out");
  for (std::size_t i = 0; i < ids.size(); ++i) {
    check_id(*several, {fmt::format("{}[{}]", at.path, i), at.value.items()[i]}, ids[i]);
    if (std::ranges::find(out.config_ids, ids[i]) == out.config_ids.end()) out.config_ids.push_back(std::move(ids[i]));
  }
}

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

void read_thread(OwnMembers& members, ChatRequest& out) {
  Fields* const fields = members.holder("thread_id");
  if (fields == nullptr) return;
  out.thread_id = fields->text("thread_id");
  const std::size_t length = characters(out.thread_id);
  if (fields->find("thread_id")->is_string() && (length < shortest_thread_id || length > longest_thread_id))
    fields->wrong("thread_id", fmt::format("has {} characters", length),
                  fmt::format("use {} to {} that nobody can guess", shortest_thread_id, longest_thread_id));
}

void read_context(OwnMembers& members, ChatRequest& out) {
  Fields* const fields = members.holder("context");
  if (fields == nullptr) return;
  const auto at = fields->object("context");
  if (!at) return;
  for (const json::Member& each : at->value.members()) {
    auto value = jinja::from_json(each.value, deepest_value);
    if (!value)
      return fields->wrong(at->member(each.key, each.value), fmt::format("is nested more than {} times", deepest_value),
                           "send what is flatter");
    out.context.insert_or_assign(std::string(each.key), std::move(*value));
  }
}

void read_state_member(OwnMembers& members, ChatRequest& out) {
  Fields* const fields = members.holder("state");
  if (fields == nullptr) return;
  out.has_state = true;
  auto state = read_state(*fields->find("state"));
  if (!state) return fields->wrong("state", std::move(state.error()), "send back what an answer had, or {}");
  out.state = std::move(*state);
}

// `config`: an object as config.yml has it, or its text; `colang_content` inside of it is Colang.
void read_inline(OwnMembers& members, ChatRequest& out) {
  Fields* const fields = members.inner("config");
  if (fields == nullptr) return;
  const json::Value& config = *fields->find("config");
  const JsonPlace at = fields->place("config");
  if (!config.is_object() && !config.is_string()) return fields->wrong_type(at, "an object, or YAML as a text");
  if (!out.config_ids.empty())
    return fields->wrong(at, "is given beside a configuration's id", "leave out one of them");
  out.inline_files = inline_files(config, at.path);
  std::size_t size = 0;
  for (const File& each : out.inline_files) size += each.text.size();
  if (size > largest_configuration)
    fields->wrong(at, "is too large", fmt::format("write at most {} bytes", largest_configuration));
}

}  // namespace

std::string_view configuration_id_fault(std::string_view id) {
  if (id.empty()) return "is empty";
  if (id.size() > longest_configuration_id) return "is longer than 255 bytes";
  if (id.find_first_of("/\\") != std::string_view::npos || id.contains("..") || id == ".")
    return "is a path, not an id";
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  if (std::ranges::any_of(id, is_control)) return "has control characters";
  return {};
}

void read_own_members(Fields& body, validate::Findings& findings, ChatRequest& out) {
  OwnMembers members(body.at().value, findings);
  out.older_form = !members.has_inner();
  read_ids(members, out);
  read_inline(members, out);
  read_thread(members, out);
  read_context(members, out);
  read_state_member(members, out);
  if (Fields* const fields = members.holder("options"))
    if (const auto at = fields->object("options")) out.options = read_options(*at, findings);
  if (Fields* const fields = members.inner("return_choice")) out.return_choice = fields->flag("return_choice");
}

std::vector<std::string> read_rail_types(const json::Value& body, validate::Findings& findings) {
  constexpr std::array<std::string_view, 6> known = {"input",       "output",      "tool_call",
                                                     "tool_result", "tool_output", "tool_input"};
  validate::Findings twice;  // what is wrong with `guardrails` itself is told already
  OwnMembers members(body, twice);
  Fields* const holder = members.holder("rail_types");
  if (holder == nullptr) return {};
  Fields fields(holder->at(), findings, Whose::guardrails);
  auto types = fields.texts("rail_types", known.size());
  const JsonPlace at = fields.place("rail_types");
  for (std::size_t i = 0; i < types.size(); ++i)
    if (std::ranges::find(known, types[i]) == known.end())
      fields.wrong({fmt::format("{}[{}]", at.path, i), at.value.items()[i]}, "is no kind of rails that can be checked",
                   fmt::format("use {}", fmt::join(known.begin(), known.begin() + 4, ", ")));
  return types;
}

}  // namespace stackgate::guardrail
