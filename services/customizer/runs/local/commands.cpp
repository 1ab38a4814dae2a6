#include "services/customizer/runs/local/commands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"

namespace stackgate::customizer {
namespace commands_detail {

using Words = std::vector<std::string>;

constexpr std::size_t longest_words = 600;

std::vector<std::string> below(std::string_view folder, const std::vector<std::string>& files) {
  std::vector<std::string> out;
  out.reserve(files.size());
  for (const std::string& each : files) out.push_back(fmt::format("{}/{}", folder, each));
  return out;
}

Words puller(const LocalPlaces& places) { return {fmt::format("{}/stackgate-puller", places.programs)}; }

Words pull_dataset(const TrainingJob& job, const LocalPlaces& places, const Addresses& addresses) {
  std::vector<std::string> files = job.training_files;
  files.insert(files.end(), job.validation_files.begin(), job.validation_files.end());
  Words out = puller(places);
  out.insert(out.end(),
             {"--datastore-url", addresses.datastore_url, "--kind", "dataset", "--model", job.dataset_repository,
              "--revision", job.dataset_commit, "--include", fmt::format("{}", fmt::join(files, ",")), "--output",
              fmt::format("{}/dataset", places.workspace)});
  return out;
}

Words pull_model(const Target& target, const LocalPlaces& places, const Addresses& addresses) {
  Words out = puller(places);
  switch (target.uri.kind) {
    case ModelUri::Kind::datastore:
      out.insert(out.end(), {"--datastore-url", addresses.datastore_url});
      break;
    case ModelUri::Kind::directory:
      out.insert(out.end(), {"--directory-url", target.uri.text});
      break;
    default:
      break;
  }
  if (!target.uri.repository.empty()) out.insert(out.end(), {"--model", target.uri.repository});
  if (!target.uri.revision.empty()) out.insert(out.end(), {"--revision", target.uri.revision});
  out.insert(out.end(), {"--output", fmt::format("{}/{}", places.models, target.path)});
  return out;
}

Words train(const TrainingJob& job, const LocalPlaces& places, const Addresses& addresses) {
  const std::string dataset = fmt::format("{}/dataset", places.workspace);
  Words out{fmt::format("{}/stackgate-trainer", places.programs),
            "train",
            "--model",
            fmt::format("{}/{}", places.models, job.target.path),
            "--base-model-name",
            job.target.base_model,
            "--train",
            fmt::format("{}", fmt::join(below(dataset, job.training_files), ",")),
            "--output",
            fmt::format("{}/adapter", places.workspace),
            "--config",
            fmt::format("{}/{}", places.workspace, config_file),
            "--resume",
            "--job-id",
            job.id,
            "--progress-url",
            fmt::format("{}/v1/customizations/{}/progress", addresses.callback_url, job.id)};
  if (!job.validation_files.empty())
    out.insert(out.end(), {"--validation", fmt::format("{}", fmt::join(below(dataset, job.validation_files), ","))});
  return out;
}

/// One word of a shell.
std::string shell_word(std::string_view word) {
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string words_of_line(std::string_view line) {
  json::Document document;
  const auto root = json::parse(line, document);
  if (!root || !root->is_object()) return std::string(line);
  std::string out(json::text(&*root, {"message"}));
  if (const std::string_view error = json::text(&*root, {"error"}); !error.empty())
    out += fmt::format("{}{}", out.empty() ? "" : ": ", error);
  if (const std::string_view cure = json::text(&*root, {"cure"}); !cure.empty()) out += fmt::format("; {}", cure);
  return out;
}

}  // namespace commands_detail

using namespace commands_detail;

StageProgram stage_program(const TrainingJob& job, Stage stage, const LocalPlaces& places, const Addresses& addresses,
                           const Credentials& credentials) {
  StageProgram out;
  const auto put = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) out.environment.push_back(fmt::format("{}={}", name, value));
  };
  switch (stage) {
    case Stage::download:
      out.commands.push_back(pull_dataset(job, places, addresses));
      if (job.target.uri.kind != ModelUri::Kind::none)
        out.commands.push_back(pull_model(job.target, places, addresses));
      put("DATASTORE_USERNAME", credentials.datastore_username);
      put("DATASTORE_PASSWORD", credentials.datastore_password);
      put("REGISTRY_API_KEY", credentials.registry_api_key);
      break;
    case Stage::training:
      out.commands.push_back(train(job, places, addresses));
      put("STACKGATE_PROGRESS_TOKEN", job.progress_token);
      break;
    case Stage::upload: {
      Words upload = puller(places);
      upload.insert(upload.end(), {"upload", "--entitystore-url", addresses.entitystore_url, "--archive",
                                   fmt::format("{}/{}", places.workspace, archive_file), "--metadata",
                                   fmt::format("{}/{}", places.workspace, metadata_file)});
      out.commands.push_back(std::move(upload));
      break;
    }
  }
  return out;
}

std::string stage_script(const StageProgram& program) {
  std::vector<std::string> lines;
  for (const Words& command : program.commands) {
    Words words;
    for (const std::string& each : command) words.push_back(shell_word(each));
    lines.push_back(fmt::format("{}", fmt::join(words, " ")));
  }
  // A signal to the group is the program's to answer; the shell stays to write down how it has ended. Descriptor 3, the
  // attempt's lock, is the shell's and the programs': it is free once all of them have ended.
  return fmt::format(
      "exec >>log 2>&1 </dev/null\n"
      "echo $$ >pid\n"
      "trap : TERM INT HUP\n"
      "{}\n"
      "code=$?\n"
      "echo $code >exit.part && mv exit.part exit\n",
      fmt::join(lines, " &&\n"));
}

std::string last_words(std::string_view log) {
  while (!log.empty()) {
    while (log.ends_with('\n') || log.ends_with('\r')) log.remove_suffix(1);
    const std::size_t begin = log.rfind('\n') + 1;  // 0 where there is none
    const std::string words = words_of_line(log.substr(begin));
    if (!words.empty()) return words.substr(0, longest_words);
    log = log.substr(0, begin);
  }
  return {};
}

}  // namespace stackgate::customizer
