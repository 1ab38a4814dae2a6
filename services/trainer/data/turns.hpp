// A conversation through its chat template, in parts: what assistants wrote, each up to and with the token that ends
// its turn, is trained. Pure.
#pragma once
#include <expected>
#include <span>
#include <string>
#include <vector>

#include "services/kit/jinja/template.hpp"
#include "services/kit/json/value.hpp"
#include "services/model/chat/chat_templates.hpp"
#include "services/trainer/data/example.hpp"

namespace stackgate::trainer {

struct Turns {
  std::vector<Segment> segments;  // ends with a trained one; what the template writes behind it is left out
  /// The template writes earlier turns otherwise than when they were the last one: only the last turn is trained.
  bool last_only = false;
};

/// Turns are found by the template's `{% generation %}` marks, else by rendering the conversation's beginnings.
/// `end_texts`: the texts of the tokens that end a turn. The error is the end of a sentence about the line.
std::expected<Turns, std::string> turns_of(const model::ChatTemplates& templates, const json::Value& messages,
                                           const json::Value& tools, std::span<const std::string> end_texts);

/// Marks of a rendered text as segments. Each mark ends with the end token in it, or with one that follows at once.
std::vector<Segment> split_at_marks(const std::string& text, std::span<const jinja::Span> marks,
                                    std::span<const std::string> end_texts);

}  // namespace stackgate::trainer
