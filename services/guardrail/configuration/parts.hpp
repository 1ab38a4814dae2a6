// The parts of a configuration, each read from the tree that check_keys() has looked at: what has the wrong type reads
// as absent. Pure.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "services/guardrail/configuration/configuration.hpp"
#include "services/guardrail/configuration/detectors.hpp"
#include "services/guardrail/configuration/report.hpp"
#include "services/guardrail/configuration/tree.hpp"

namespace stackgate::guardrail {

/// Several configurations as one; the later ones win.
ReadConfiguration read_together(std::string_view id, std::vector<std::vector<File>> parts);

/// Every *.yml joined; an empty mapping when there is none. `parts`: how many files each configuration has; between
/// these, models of one type are one, and so are equal texts of a list.
Tree read_yaml(const std::vector<File>& files, const std::vector<std::size_t>& parts, Report& report);

/// Keys that must not stand in a file, anywhere below `root`.
void check_secrets(const Tree& root, Report& report);

std::vector<Model> read_models(const Tree& root, Report& report);
Prompts read_prompts(const Tree& root, const std::vector<Model>& models, const PromptCode& code, Report& report);
std::shared_ptr<const Detectors> read_detectors(const Tree& root, Report& report);
/// Scalars, instructions, streaming, dialog: all that no other part reads.
void read_settings(const Tree& root, Configuration& out, Report& report);

/// Colang, the library's and the user's.
colang::Program read_program(const std::vector<File>& files, const Configuration& configuration, bool any_action,
                             Report& report);
/// The lists of rails, and what each needs: flows, models, prompts. Needs the program, models and prompts.
void read_rails(const Tree& root, Configuration& out, Report& report);

// Members that are absent or of another type read as the fallback.
std::string text_of(const Tree* tree, std::string_view key, std::string_view fallback = {});
bool flag_of(const Tree* tree, std::string_view key, bool fallback = false);
double number_of(const Tree* tree, std::string_view key, double fallback);
std::vector<std::string> texts_of(const Tree* tree, std::string_view key);

}  // namespace stackgate::guardrail
