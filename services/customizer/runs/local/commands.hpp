// A stage as programs of this machine, one after the other. Pure.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "services/customizer/objects/plan.hpp"

namespace stackgate::customizer {

struct LocalPlaces {
  std::string programs{};   // directory of stackgate-puller and stackgate-trainer
  std::string models{};     // directory of the base models
  std::string workspace{};  // directory of this customization
};

/// Names and values; secrets are here and never in arguments, which every user of the machine sees.
struct Credentials {
  std::string datastore_username{}, datastore_password{}, registry_api_key{};
};

struct StageProgram {
  std::vector<std::vector<std::string>> commands{};  // each with its arguments
  std::vector<std::string> environment{};            // "NAME=value", of all of them
};

StageProgram stage_program(const TrainingJob& job, Stage stage, const LocalPlaces& places, const Addresses& addresses,
                           const Credentials& credentials);

/// What a stage's first process needs to find there: files of the workspace, by their names.
inline constexpr std::string_view config_file = "config.json", metadata_file = "metadata.json",
                                  archive_file = "adapter.tar.gz";

/// A shell script that runs them in a directory of their own: output to `log`, its process to `pid`, and behind the
/// last one its status to `exit`.
std::string stage_script(const StageProgram& program);

/// What a log ends with, in one line: the trainer's error, a log line's message, or the last line as it is.
std::string last_words(std::string_view log);

}  // namespace stackgate::customizer
