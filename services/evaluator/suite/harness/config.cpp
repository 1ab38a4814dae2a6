#include "services/evaluator/suite/harness/config.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "services/evaluator/suite/harness/filter_reader.hpp"
#include "services/evaluator/suite/harness/metric_reader.hpp"
#include "services/evaluator/suite/harness/setting_reader.hpp"
#include "services/kit/base/ascii.hpp"
#include "services/kit/findings/nearest.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::evaluator::harness {
namespace {

constexpr std::array<std::string_view, 28> known_settings = {"task",
                                                             "task_alias",
                                                             "tag",
                                                             "dataset_path",
                                                             "dataset_name",
                                                             "dataset_kwargs",
                                                             "training_split",
                                                             "validation_split",
                                                             "test_split",
                                                             "fewshot_split",
                                                             "doc_to_text",
                                                             "doc_to_target",
                                                             "doc_to_choice",
                                                             "description",
                                                             "target_delimiter",
                                                             "fewshot_delimiter",
                                                             "fewshot_config",
                                                             "num_fewshot",
                                                             "generation_kwargs",
                                                             "metric_list",
                                                             "output_type",
                                                             "repeats",
                                                             "filter_list",
                                                             "should_decontaminate",
                                                             "doc_to_decontamination_query",
                                                             "gen_prefix",
                                                             "metadata",
                                                             "unsafe_code"};

struct Refused {
  std::string_view key, why, fix;
};
constexpr std::string_view prepare = "put what it computes into the rows, and leave it out";
constexpr std::array<Refused, 9> refused_settings = {{
    {"process_docs", "runs Python over the rows, and no Python runs here", prepare},
    {"process_results", "scores by Python, and no Python runs here", "name metrics in metric_list, and leave it out"},
    {"custom_dataset", "loads rows by Python, and no Python runs here", prepare},
    {"class", "is a Python class, and no Python runs here", "write the task in YAML"},
    {"use_prompt", "takes prompts from promptsource, which is not here", "write doc_to_text and doc_to_target"},
    {"doc_to_image", "asks with images, which is not done here", "leave it out"},
    {"doc_to_audio", "asks with sounds, which is not done here", "leave it out"},
    {"group", "is no setting of a task", "write \"tag\", or a group's own file with group: and task:"},
    {"group_alias", "is no setting of a task", "write \"task_alias\""},
}};

constexpr std::array<std::string_view, 7> generation_keys = {
    "until", "max_gen_toks", "max_tokens", "do_sample", "temperature", "top_p", "max_new_tokens"};
constexpr std::array<std::string_view, 9> fewshot_keys = {"sampler",       "samples",         "split",
                                                          "num_fewshot",   "doc_to_text",     "doc_to_target",
                                                          "doc_to_choice", "fewshot_indices", "process_docs"};
constexpr std::uint32_t most_fewshot = 100, most_repeats = 100;

class ConfigReader {
 public:
  ConfigReader(const ChosenTask& task, validate::Findings& findings)
      : task_(task), read_(findings), findings_(findings) {}

  TaskConfig read() {
    out_.name = task_.name;
    if (task_.settings.empty()) return std::move(out_);
    const Node* task = find("task");
    const Node& any = task == nullptr ? task_.settings.begin()->second : *task;
    out_.place = any.place();
    out_.folder = any.file->path.substr(0, any.file->path.rfind('/') + 1);
    check_keys();
    out_.alias = text("task_alias");
    out_.version = version_of(task_.settings);
    if (const Node* output = find("output_type"))
      out_.output = static_cast<OutputType>(read_.one_of(*output, output_names, "output type").value_or(0));
    data();
    templates();
    fewshot();
    generation();
    out_.repeats = read_.number(optional("repeats"), 1, most_repeats).value_or(1);
    if (const Node* on = find("should_decontaminate"); on != nullptr && read_.flag(*on, false))
      read_.warn(*on, "is not done here", "leave it out, or look for the rows in the model's training data yourself");
    out_.metrics = read_metrics(optional("metric_list"), out_.output, findings_);
    filters();
    return std::move(out_);
  }

 private:
  const Node* find(std::string_view key) const { return SettingReader::find(task_.settings, key); }
  std::optional<Node> optional(std::string_view key) const {
    const Node* found = find(key);
    return found == nullptr ? std::nullopt : std::optional(*found);
  }
  std::string text(std::string_view key, std::string_view fallback = {}) { return read_.text(optional(key), fallback); }
  void missing(std::string_view key, std::string fix) {
    findings_.push_back({.rule = "evaluation-data",
                         .path = out_.place,
                         .problem = fmt::format("\"{}\" has no {}", out_.name, key),
                         .fix = std::move(fix)});
  }

  void check_keys() {
    for (const auto& [key, node] : task_.settings) {
      if (std::ranges::find(known_settings, key) != known_settings.end()) continue;
      const auto refused = std::ranges::find(refused_settings, key, &Refused::key);
      const std::string_view near = validate::similar_field(key, known_settings);
      if (refused != refused_settings.end()) {
        if (!node.value.is_null()) read_.wrong(node, std::string(refused->why), std::string(refused->fix));
      } else {
        read_.wrong(node, "is no setting of a task", near.empty() ? "leave it out" : fmt::format("write \"{}\"", near));
      }
    }
    if (const Node* unsafe = find("unsafe_code"); unsafe != nullptr && read_.flag(*unsafe, false))
      read_.wrong(*unsafe, "says that what the model writes is run, which this format does not do here",
                  "use the framework bigcode-eval-harness, whose programs run in a sandbox");
  }

  void data() {
    out_.dataset_path = text("dataset_path");
    out_.dataset_name = text("dataset_name");
    out_.training_split = text("training_split");
    out_.validation_split = text("validation_split");
    out_.test_split = text("test_split");
    if (out_.evaluated_split().empty())
      missing("test_split and no validation_split", "write test_split: and the name of the split that is asked");
    const Node* kwargs = find("dataset_kwargs");
    if (kwargs == nullptr) return;
    for (const json::Member& member : kwargs->value.members())
      if (const Node each = kwargs->member(member); member.key == "data_files")
        data_files(each);
      else
        read_.warn(each, "is not looked at: rows are read from the data set's files", "leave it out");
  }

  void data_files(const Node& at) {
    if (!at.value.is_object()) {  // a file without a split is of the split "train"
      out_.data_files.push_back({.split = "train", .paths = read_.texts(at), .place = at.place()});
      return;
    }
    for (const json::Member& member : at.value.members()) {
      const Node each = at.member(member);
      out_.data_files.push_back({.split = std::string(member.key), .paths = read_.texts(each), .place = each.place()});
    }
  }

  Source source(const std::optional<Node>& at) {
    Source out;
    if (!at || at->value.is_null() || read_.refuse_python(*at)) return out;
    out.place = at->place();
    switch (at->value.type()) {
      case json::Type::string:
        out.kind = Source::Kind::text;
        out.text = at->value.string();
        break;
      case json::Type::integer:
        out.kind = Source::Kind::number;
        out.number = at->value.integer();
        break;
      case json::Type::array:
        out.kind = Source::Kind::list;
        out.list = read_.texts(*at);
        break;
      case json::Type::object:
        out.kind = Source::Kind::list;
        for (const json::Member& member : at->value.members())
          for (std::string& each : read_.texts(at->member(member))) out.list.push_back(std::move(each));
        break;
      default:
        read_.wrong(*at, fmt::format("is {}", json::to_string(at->value.type())), "put it into quotes");
    }
    return out;
  }

  void templates() {
    out_.text = source(optional("doc_to_text"));
    out_.target = source(optional("doc_to_target"));
    out_.choice = source(optional("doc_to_choice"));
    out_.description = source(optional("description"));
    out_.gen_prefix = source(optional("gen_prefix"));
    out_.target_delimiter = text("target_delimiter", out_.target_delimiter);
    out_.fewshot_delimiter = text("fewshot_delimiter", out_.fewshot_delimiter);
    if (find("doc_to_text") == nullptr && out_.output != OutputType::loglikelihood_rolling)
      missing("doc_to_text", R"(write a template such as "{{question}}\nAnswer:", or a column's name)");
    if (find("doc_to_target") == nullptr)
      missing("doc_to_target", R"(write a column's name, or a template: "{{answer}}")");
    if (find("doc_to_choice") == nullptr && out_.output == OutputType::multiple_choice)
      missing("doc_to_choice", R"(write the choices: ["no", "yes"], or the column that has them)");
    for (const std::string_view key : {"doc_to_text", "description", "gen_prefix"})
      if (const Node* node = find(key); node != nullptr && (node->value.is_array() || node->value.is_object()))
        read_.wrong(*node, "is a list", "write one text");
  }

  void fewshot() {
    Fewshot& out = out_.fewshot;
    const Node* count = find("num_fewshot");
    if (count != nullptr) {
      out.count = read_.number(*count, 0, most_fewshot).value_or(0);
      out.is_zero_by_file = out.count == 0;
      out.place = count->place();
    }
    out.split = text("fewshot_split");
    const Node* config = find("fewshot_config");
    if (config == nullptr) return;
    if (read_.refuse_python(*config)) return;
    if (!config->value.is_object()) return read_.wrong(*config, "is no mapping", "write {sampler: first_n}");
    if (out.place.empty()) out.place = config->place();
    read_.known_keys(*config, fewshot_keys, "fewshot_config");
    if (const auto sampler = SettingReader::find(*config, "sampler")) {
      constexpr std::array<std::string_view, 2> samplers = {"default", "first_n"};
      out.first_n = read_.one_of(*sampler, samplers, "sampler that is here").value_or(0) == 1;
    }
    if (const auto python = SettingReader::find(*config, "process_docs"))
      read_.wrong(*python, "runs Python over the rows, and no Python runs here", std::string(prepare));
    if (out.split.empty()) out.split = read_.text(SettingReader::find(*config, "split"));
    if (count == nullptr)
      out.count = read_.number(SettingReader::find(*config, "num_fewshot"), 0, most_fewshot).value_or(0);
    for (const Node& each : read_.items(SettingReader::find(*config, "samples"), "[{question: …, answer: …}]")) {
      check_letters(each);
      out.samples.push_back(json::to_json(each.value));
    }
    if (const auto indices = SettingReader::find(*config, "fewshot_indices"))
      for (std::size_t i = 0; i < indices->value.items().size(); ++i)
        if (const auto index = read_.number(indices->item(i), 0, most_rows)) out.indices.push_back(*index);
    out.text = source(SettingReader::find(*config, "doc_to_text"));
    out.target = source(SettingReader::find(*config, "doc_to_target"));
    out.choice = source(SettingReader::find(*config, "doc_to_choice"));
  }

  /// The project's YAML reads a plain y or n as a boolean, Python's as a text.
  void check_letters(const Node& at) {
    const std::string_view source = std::string_view(at.file->text).substr(at.value.offset());
    const bool one_letter = source.size() < 2 || !ascii::is_alphanumeric(source[1]);
    if (at.value.is_boolean() && one_letter) read_.wrong(at, "may be a letter or a boolean", "put it into quotes");
    for (const json::Member& member : at.value.members()) check_letters(at.member(member));
    for (std::size_t i = 0; i < at.value.items().size(); ++i) check_letters(at.item(i));
  }

  void generation() {
    Generation& out = out_.generation;
    out.until = {out_.fewshot_delimiter};
    const Node* kwargs = find("generation_kwargs");
    if (kwargs == nullptr) return;
    if (out_.output != OutputType::generate_until)
      return read_.warn(*kwargs,
                        fmt::format("means nothing to {}", output_names.at(static_cast<std::size_t>(out_.output))),
                        "leave it out");
    if (!kwargs->value.is_object()) return read_.wrong(*kwargs, "is no mapping", R"(write {until: ["\n"]})");
    read_.known_keys(*kwargs, generation_keys, "generation_kwargs");
    if (const auto until = SettingReader::find(*kwargs, "until")) {
      out.until = read_.texts(*until);
      std::erase(out.until, "");
    }
    for (const std::string_view key : {"max_new_tokens", "max_tokens", "max_gen_toks"})
      if (const auto most = read_.number(SettingReader::find(*kwargs, key), 1, 131'072)) out.max_tokens = most;
    const auto temperature = SettingReader::find(*kwargs, "temperature");
    const auto sample = SettingReader::find(*kwargs, "do_sample");
    out.temperature = read_.real(temperature, 0, 2).value_or(0);
    out.top_p = read_.real(SettingReader::find(*kwargs, "top_p"), 0, 1);
    if (!sample) return;
    const bool sampling = read_.flag(sample, false);
    if (sampling && !temperature)
      read_.warn(*sample, "asks for sampling, and the temperature is 0", "write the temperature, too");
    if (!sampling && out.temperature > 0) {
      read_.warn(*temperature, "is not used, as do_sample is false", "leave one of them out");
      out.temperature = 0;
    }
  }

  void filters() {
    out_.filters = read_filters(optional("filter_list"), findings_);
    const auto list = optional("filter_list");
    for (std::size_t i = 0; list && i < out_.filters.size(); ++i) {
      const FilterPipeline& each = out_.filters[i];
      const bool texts = out_.output == OutputType::generate_until;
      const bool plain = std::ranges::all_of(
          each.steps, [](const FilterStep& step) { return step.function == FilterStep::Function::take_first; });
      if (!texts && !plain)
        read_.wrong(*list,
                    fmt::format("\"{}\" changes texts, of which {} has none", each.name,
                                output_names.at(static_cast<std::size_t>(out_.output))),
                    "leave it out");
      if (texts && left_of(each, out_.repeats) > 1)
        read_.wrong(*list,
                    fmt::format("\"{}\" leaves {} answers of each sample", each.name, left_of(each, out_.repeats)),
                    "end it with {function: take_first}, or majority_vote before that");
    }
  }

  const ChosenTask& task_;
  SettingReader read_;
  validate::Findings& findings_;
  TaskConfig out_;
};

}  // namespace

TaskConfig read_config(const ChosenTask& task, validate::Findings& findings) {
  return ConfigReader(task, findings).read();
}

}  // namespace stackgate::evaluator::harness
