#include <algorithm>

#include <fmt/format.h>

#include "services/guardrail/configuration/configuration.hpp"
#include "services/guardrail/configuration/detectors.hpp"
#include "services/guardrail/configuration/folder.hpp"
#include "services/guardrail/configuration/keys.hpp"
#include "services/guardrail/configuration/parts.hpp"
#include "services/guardrail/configuration/python_names.hpp"
#include "services/guardrail/library/library.hpp"
#include "services/kit/base/concat.hpp"
#include "services/kit/base/utf8.hpp"

namespace stackgate::guardrail {
namespace {

constexpr std::size_t most_files = 1000;
constexpr std::size_t most_file_bytes = 1U << 20U;
constexpr std::size_t most_bytes = 16U << 20U;

/// Those that are read: not ignored, not too many, no larger than they may be, in the order of their names.
std::vector<File> usable(std::vector<File> files, Report& report) {
  std::ranges::stable_sort(files, {}, &File::name);
  std::string ignore;
  for (const File& each : files)
    if (each.name == ".railsignore") ignore = each.text;
  const IgnoredFiles ignored(ignore);
  std::size_t bytes = 0;
  std::vector<File> out;
  for (File& each : files) {
    const FileKind kind = kind_of(each.name);
    if (kind == FileKind::ignore || ignored.contains(each.name)) continue;
    if (each.text.size() > most_file_bytes) {
      report.file_error(rule::files, each.shown, "is larger than 1 MiB", "part it into several files");
      continue;
    }
    if (!utf8::is_valid(each.text)) {
      if (kind != FileKind::other) report.file_error(rule::files, each.shown, "is not UTF-8", "save it as UTF-8");
      continue;
    }
    bytes += each.text.size();
    if (out.size() == most_files || bytes > most_bytes) {
      report.file_error(rule::files, each.shown,
                        fmt::format("is one file too many: at most {} files and 16 MiB are read", most_files),
                        "name what does not belong to the configuration in .railsignore");
      break;
    }
    out.push_back(std::move(each));
  }
  return out;
}

void add(PromptCode more, PromptCode& out) {
  std::ranges::move(more.filters, std::back_inserter(out.filters));
  std::ranges::move(more.parsers, std::back_inserter(out.parsers));
  out.any_filter = out.any_filter || more.any_filter;
  out.any_parser = out.any_parser || more.any_parser;
}

void read_python(const std::vector<File>& files, Configuration& out, bool& any_action, Report& report) {
  for (const File& each : files) {
    if (kind_of(each.name) != FileKind::python) continue;
    // Of several configurations that are joined, files of one name are equal.
    if (std::ranges::find(out.python_files, each.name, &PythonFile::name) != out.python_files.end()) continue;
    out.python_files.push_back({each.name, each.text});
    const bool runs = out.actions_server_url.empty();
    if (!runs)
      report.file_warning(rule::unsupported, each.shown, "is not run, as there is an actions_server_url",
                          "let the server of actions have it, or remove the address");
    PythonNames names = python_names(each.text);
    out.any_python_action = out.any_python_action || names.dynamic;
    any_action = any_action || names.dynamic;
    std::ranges::move(names.actions, std::back_inserter(out.python_actions));
    if (runs) add(std::move(names.prompts), out.prompt_code);
    for (const PythonNames::Unserved& call : names.unserved)
      report.file_warning(rule::unsupported, fmt::format("{}:{}:1", each.shown, call.line),
                          concat({call.name, "() has no effect: prompts and vectors are made by the server"}),
                          "register filters and output parsers, which prompts take");
    if (each.name == "config.py" && !names.has_init)
      report.file_warning(rule::unsupported, each.shown, "runs in the process of the actions, not in the server",
                          "define init(app), which registers actions");
  }
}

void read_knowledge(const Tree& root, const std::vector<File>& files, Configuration& out) {
  const std::string folder = text_of(root.find("knowledge_base"), "folder", "kb");
  for (const File& each : files)
    if (kind_of(each.name, folder) == FileKind::knowledge) out.knowledge.push_back({each.name, each.text});
  const Tree* docs = root.find("docs");
  if (docs == nullptr) return;
  for (std::size_t i = 0; i < docs->items.size(); ++i)
    if (std::string text = text_of(&docs->items[i], "content"); !text.empty())
      out.knowledge.push_back({fmt::format("docs[{}]", i), std::move(text)});
}

/// The intent that takes the place of one that is not found must be there.
void check_fallback_intent(const Tree& root, const Configuration& configuration, Report& report) {
  const std::string& intent = configuration.dialog.embeddings_only_fallback_intent;
  if (intent.empty() || configuration.program.find_user_intent(intent) != nullptr) return;
  std::vector<std::string_view> known;
  known.reserve(configuration.program.user_intents.size());
  for (const auto& each : configuration.program.user_intents) known.emplace_back(each.name);
  report.error(rule::value, root.at("rails.dialog.user_messages.embeddings_only_fallback_intent")->origin,
               "rails.dialog.user_messages.embeddings_only_fallback_intent",
               concat({"there is no intent ", in_quotes(intent), did_you_mean(intent, known)}),
               concat({"define it in a *.co file: define user ", intent}));
}

}  // namespace

bool Configuration::has_dialog() const {
  return std::ranges::any_of(program.flows, [this](const colang::Flow& flow) {
    return !flow.code.empty() && flow.kind != colang::FlowKind::subflow && flow.place.file >= built_in_files &&
           (flow.code.front().op == colang::Op::wait || flow.code.front().op == colang::Op::wait_any);
  });
}

bool Configuration::retrieves() const {
  return !knowledge.empty() || std::ranges::any_of(python_actions, [](const PythonAction& each) {
    return each.name == "retrieve_relevant_chunks";
  });
}

bool Configuration::is_quick() const {
  const bool searches = !knowledge.empty() || (detectors && detectors->topic) || has_dialog();
  return !searches && python_files.empty() && actions_server_url.empty();
}

ReadConfiguration read_configuration(std::string_view id, const std::vector<File>& files) {
  return read_together(id, {files});
}

ReadConfiguration read_together(std::string_view id, std::vector<std::vector<File>> parts) {
  const std::vector<File> none;
  Report before(none);
  std::vector<File> all;
  std::vector<std::size_t> counts;
  for (std::vector<File>& part : parts) {
    std::vector<File> files = usable(std::move(part), before);
    counts.push_back(files.size());
    std::ranges::move(files, std::back_inserter(all));
  }
  const auto files = std::make_shared<const std::vector<File>>(std::move(all));
  Report report(*files);
  for (validate::Finding& each : before.take()) report.add(std::move(each));

  auto out = std::make_shared<Configuration>();
  out->id = id;
  out->files = files;
  const Tree root = read_yaml(*files, counts, report);
  const bool whole = !report.failed();
  if (std::ranges::none_of(*files, [](const File& f) {
        const FileKind kind = kind_of(f.name);
        return kind == FileKind::yaml || kind == FileKind::colang;
      }))
    report.file_error(rule::files, id, "has no config.yml", "write one, with `models:` and `rails:`");
  check_secrets(root, report);
  check_keys(root, report);
  read_settings(root, *out, report);
  out->models = read_models(root, report);
  bool any_action = !out->actions_server_url.empty();
  read_python(*files, *out, any_action, report);
  out->prompts = read_prompts(root, out->models, out->prompt_code, report);
  out->detectors = read_detectors(root, report);
  out->built_in_files = static_cast<std::uint32_t>(library_sources().size());
  out->program = read_program(*files, *out, any_action, report);
  if (whole) {  // else they would miss what could not be read
    read_rails(root, *out, report);
    check_fallback_intent(root, *out, report);
  }
  read_knowledge(root, *files, *out);
  out->config_value = config_value(root);

  ReadConfiguration result{.findings = report.take(), .draft = out};
  if (validate::has_errors(result.findings) || report.failed()) return result;
  for (const validate::Finding& each : result.findings) out->warnings.push_back(each);
  result.configuration = result.draft;
  return result;
}

}  // namespace stackgate::guardrail
