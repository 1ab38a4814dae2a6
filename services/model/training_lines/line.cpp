#include "services/model/training_lines/line.hpp"

#include <fmt/format.h>

#include "services/kit/base/try.hpp"

namespace stackgate::model {
namespace line_detail {

std::expected<std::string_view, std::string> text_member(const json::Value& line, std::string_view key) {
  const json::Value* found = line.find(key);
  if (found == nullptr) return std::unexpected(fmt::format("lacks \"{}\"", key));
  if (!found->is_string()) return std::unexpected(fmt::format("\"{}\" must be a text", key));
  return found->string();
}

std::expected<void, std::string> check_messages(const json::Value& messages) {
  if (!messages.is_array() || messages.items().empty())
    return std::unexpected("\"messages\" must be a list of at least one message");
  bool answered = false;
  for (std::size_t i = 0; i < messages.items().size(); ++i) {
    const json::Value& each = messages.items()[i];
    const std::string_view role = json::text_at(each, "role");
    if (role.empty()) return std::unexpected(fmt::format("messages[{}] lacks a \"role\"", i));
    answered = answered || (role == "assistant" && i > 0);
  }
  if (!answered) return std::unexpected("no message of the role \"assistant\" answers another: nothing to learn");
  return {};
}

}  // namespace line_detail

std::string_view to_string(TrainingLineKind kind) {
  return kind == TrainingLineKind::chat ? "messages" : "prompt and completion";
}

std::expected<TrainingLine, std::string> read_training_line(std::string_view text, json::Document& document) {
  using namespace line_detail;
  if (text.size() > longest_training_line)
    return std::unexpected(fmt::format("is longer than {} MiB", longest_training_line >> 20U));
  const auto root =
      json::parse(text, document, {.max_depth = 64, .max_bytes = static_cast<std::uint32_t>(longest_training_line)});
  if (!root) return std::unexpected(fmt::format("no JSON at byte {}: {}", root.error().offset, root.error().message));
  if (!root->is_object()) return std::unexpected("must be a JSON object");
  const json::Value* messages = root->find("messages");
  const bool completion = root->find("prompt") != nullptr || root->find("completion") != nullptr;
  if (messages != nullptr && completion)
    return std::unexpected("has both \"messages\" and \"prompt\" or \"completion\": keep one kind");
  if (messages == nullptr && !completion)
    return std::unexpected("has neither \"messages\" nor \"prompt\" and \"completion\"");
  TrainingLine out;
  if (completion) {
    out.prompt = TRY(text_member(*root, "prompt"));
    out.completion = TRY(text_member(*root, "completion"));
    if (out.completion.empty()) return std::unexpected("\"completion\" is empty: nothing to learn");
    return out;
  }
  out.kind = TrainingLineKind::chat;
  TRY(check_messages(*messages));
  out.messages = *messages;
  if (const json::Value* tools = root->find("tools")) out.tools = *tools;
  if (!out.tools.is_null() && !out.tools.is_array()) return std::unexpected("\"tools\" must be a list");
  return out;
}

}  // namespace stackgate::model
