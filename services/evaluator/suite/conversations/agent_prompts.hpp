// What judges are asked about agents. Pure.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace stackgate::evaluator {

/// Asks for two lines, "Goal: …" and "Outcome: …".
std::string outcome_prompt(std::string_view transcript);
/// "[[yes]]" where the outcome is what was wanted.
std::string reached_prompt(std::string_view wanted, std::string_view outcome);
/// Asks for lines "- …".
std::string topics_prompt(std::string_view transcript);
/// "[[yes]]" where the assistant answered what was asked about the topic.
std::string answered_prompt(std::string_view transcript, std::string_view topic);
/// "[[yes]]" where the topic falls into one of those.
std::string belongs_prompt(std::span<const std::string> topics, std::string_view topic);

}  // namespace stackgate::evaluator
