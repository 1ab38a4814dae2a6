#include "services/inference/front/tool_calls.hpp"

#include <algorithm>

#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::inference {
namespace {

constexpr std::string_view opening = tool_call_mark, closing = "</tool_call>", blanks = " \t\r\n";

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

/// A schema's text, or one that takes any object.
std::string_view parameters_of(const Tool& tool) {
  return tool.parameters.empty() ? std::string_view(R"({"type":"object"})") : std::string_view(tool.parameters);
}

bool add_call(const json::Value& value, std::span<const Tool> tools, std::vector<FoundCall>& out) {
  const std::string_view name = json::text(&value, {"name"});
  if (std::ranges::find(tools, name, &Tool::name) == tools.end()) return false;
  const json::Value* arguments = value.find("arguments");
  if (arguments == nullptr) arguments = value.find("parameters");
  if (arguments != nullptr && !arguments->is_object() && !arguments->is_string()) return false;
  out.push_back({std::string(name), arguments == nullptr     ? "{}"
                                    : arguments->is_string() ? std::string(arguments->string())
                                                             : json::to_json(*arguments)});
  return true;
}

/// One JSON text: a call, or a list of them.
bool add_calls(std::string_view text, std::span<const Tool> tools, std::vector<FoundCall>& out) {
  json::Document document;
  const auto root = json::parse(text, document);
  if (!root) return false;
  if (!root->is_array()) return add_call(*root, tools, out);
  return !root->items().empty() &&
         std::ranges::all_of(root->items(), [&](const json::Value& each) { return add_call(each, tools, out); });
}

}  // namespace

std::optional<std::vector<FoundCall>> read_tool_calls(std::string_view text, std::span<const Tool> tools) {
  std::vector<FoundCall> out;
  std::string_view left = trimmed(text);
  if (!left.starts_with(opening)) return add_calls(left, tools, out) ? std::optional(std::move(out)) : std::nullopt;
  while (!left.empty()) {
    if (!left.starts_with(opening)) return std::nullopt;
    left.remove_prefix(opening.size());
    const std::size_t end = std::min(left.find(closing), left.size());  // a model that was cut off may lack it
    if (!add_calls(trimmed(left.substr(0, end)), tools, out)) return std::nullopt;
    left = trimmed(left.substr(std::min(end + closing.size(), left.size())));
  }
  return out;
}

std::string forced_call_schema(const ToolChoice& choice, std::span<const Tool> tools) {
  const auto one = [](const Tool& tool) {
    return R"({"type":"object","properties":{"name":{"const":")" + tool.name + R"("},"arguments":)" +
           std::string(parameters_of(tool)) + R"(},"required":["name","arguments"],"additionalProperties":false})";
  };
  std::string list;
  for (const Tool& each : tools) {
    if (choice.kind == ToolChoice::Kind::named && each.name != choice.name) continue;
    list += (list.empty() ? "" : ",") + one(each);
  }
  return choice.kind == ToolChoice::Kind::named || tools.size() == 1 ? list : R"({"oneOf":[)" + list + "]}";
}

ToolCallFinder::ToolCallFinder(const ToolChoice& choice, std::span<const Tool> tools) : tools_(tools) {
  if (choice.kind == ToolChoice::Kind::none) tools_ = {};
}

std::string ToolCallFinder::push(std::string_view text) {
  if (tools_.empty()) return std::string(text);
  held_ += text;
  if (place_ == Place::begin) {
    const std::size_t first = held_.find_first_not_of(blanks);
    if (first == std::string::npos) return {};
    place_ = held_[first] == '{' || held_[first] == '[' ? Place::calls : Place::text;
  }
  if (place_ == Place::calls) return {};
  std::size_t sent = held_.find(opening);
  if (sent != std::string::npos) {
    place_ = Place::calls;
  } else {  // all but what may still become the mark
    std::size_t kept = std::min(opening.size() - 1, held_.size());
    while (!opening.starts_with(std::string_view(held_).substr(held_.size() - kept))) --kept;
    sent = held_.size() - kept;
  }
  std::string out = held_.substr(0, sent);
  held_.erase(0, sent);
  return out;
}

ToolCallFinder::End ToolCallFinder::finish() {
  std::optional<std::vector<FoundCall>> calls;
  if (place_ == Place::calls) calls = read_tool_calls(held_, tools_);
  if (calls) return {.text = {}, .calls = std::move(*calls)};
  return {.text = std::move(held_), .calls = {}};
}

}  // namespace stackgate::inference
