#include <array>

#include "services/customizer/catalogue/part_reader.hpp"
#include "services/kit/grammar/dataset_reference.hpp"

namespace stackgate::customizer::catalogue_detail {
namespace {

namespace grammar = validate::grammar;

constexpr std::array<std::string_view, 2> targets_members = {"overrideExistingTargets", "targets"};
constexpr std::array<std::string_view, 10> target_members = {"name",       "namespace",  "base_model",     "enabled",
                                                             "model_path", "model_uri",  "num_parameters", "precision",
                                                             "version",    "description"};
constexpr std::array<std::string_view, 2> templates_members = {"overrideExistingTemplates", "templates"};
constexpr std::array<std::string_view, 8> template_members = {
    "name", "namespace", "target", "training_options", "max_seq_length", "prompt_template", "description", "version"};
constexpr std::array<std::string_view, 9> option_members = {"training_type",
                                                            "finetuning_type",
                                                            "num_gpus",
                                                            "num_nodes",
                                                            "micro_batch_size",
                                                            "tensor_parallel_size",
                                                            "pipeline_parallel_size",
                                                            "data_parallel_size",
                                                            "use_sequence_parallel"};
JsonPlace entry(const JsonPlace& of, std::string_view key, const json::Value& value) {
  return {fmt::format("{}[\"{}\"]", of.path, key), value};
}

class ModelsReader : PartReader {
 public:
  ModelsReader(JsonReport& report, const Findings& findings, Catalogue& out, std::vector<TemplatePlace>& places)
      : PartReader(report, out), findings_(findings), template_places_(places) {}

  void targets(const JsonPlace& part) {
    unknown(part, targets_members);
    each_entry(part, "targets", [&](std::string_view name, const JsonPlace& at) { target(name, at); });
  }

  void templates(const JsonPlace& part) {
    unknown(part, templates_members);
    each_entry(part, "templates", [&](std::string_view name, const JsonPlace& at) { config_template(name, at); });
  }

  /// Neither its name nor its top tells what it holds.
  void unknown_file(const JsonPlace& top) {
    wrong(top, "holds nothing that is known",
          fmt::format("call it {} or {}, or put such a member at its top", targets_part, templates_part),
          Severity::warning);
  }

 private:
  std::size_t errors() const {
    return static_cast<std::size_t>(std::ranges::count(findings_, Severity::error, &Finding::severity));
  }

  template <class Read>
  void each_entry(const JsonPlace& part, std::string_view key, Read&& read) {
    const json::Value* found = object(part, key);
    if (found == nullptr) return;
    const JsonPlace map = part.member(key, *found);
    for (const json::Member& each : found->members()) {
      const JsonPlace at = entry(map, each.key, each.value);
      const auto parsed = grammar::parse_dataset_reference(each.key);
      if (!parsed || !parsed->path.empty())
        wrong(at, "its name is not <namespace>/<name>[@<version>]", "write for example \"meta/llama-3.2-1b@1.0\"");
      else if (!each.value.is_object())
        report_.wrong_type(at, "a map");
      else
        read(each.key, at);
    }
  }

  /// What stands in an entry beside its key must not say something else.
  void agrees(const JsonPlace& at, std::string_view key, std::string_view wanted) {
    if (const std::string text = report_.text(at, key, wanted); text != wanted && at.value.find(key)->is_string())
      wrong(at.member(key, *at.value.find(key)), fmt::format("is not that of the entry, \"{}\"", wanted),
            fmt::format("write \"{}\", or take it out", wanted), Severity::warning);
  }
  void names_agree(std::string_view name, const JsonPlace& at) {
    const std::size_t slash = name.find('/');
    agrees(at, "namespace", name.substr(0, slash));
    const std::string_view own = name.substr(slash + 1);
    // NeMo writes the name with its version, or without.
    if (report_.text(at, "name", own) != own.substr(0, own.find('@'))) agrees(at, "name", own);
  }

  void target(std::string_view name, const JsonPlace& at) {
    const std::size_t before = errors();
    unknown(at, target_members);
    names_agree(name, at);
    Target out{.name = std::string(name)};
    out.base_model = report_.text(at, "base_model", name.substr(0, name.find('@')));
    out.enabled = report_.flag(at, "enabled", true);
    out.precision = report_.text(at, "precision");
    model_uri(at, out);
    model_path(at, out);
    if (const json::Value* found = JsonReport::present(at, "num_parameters")) {
      if (!found->is_number() || found->number() < 1 || found->number() > 1e15)
        report_.wrong_type(at.member("num_parameters", *found), "the number of parameters");
      out.num_parameters = static_cast<std::uint64_t>(found->number());
    }
    if (errors() == before) out_.targets.insert_or_assign(out.name, std::move(out));
  }

  void model_uri(const JsonPlace& at, Target& out) {
    const std::string text = report_.text(at, "model_uri");
    if (text.empty()) return;
    const JsonPlace place = at.member("model_uri", *at.value.find("model_uri"));
    auto uri = parse_model_uri(text);
    if (!uri)
      return wrong(place, "is no address of a model",
                   "write hf://OWNER/NAME@REVISION, datastore://OWNER/NAME@REVISION, or the URL of a folder");
    if (uri->kind == ModelUri::Kind::foreign)
      wrong(place, "has a scheme that our puller does not know",
            "use hf://, datastore:// or https://, or name an image under modelDownloadJobs that knows it",
            Severity::warning);
    out.uri = *std::move(uri);
  }

  void model_path(const JsonPlace& at, Target& out) {
    const json::Value* found = JsonReport::present(at, "model_path");
    if (found == nullptr) return report_.missing(at, "model_path");
    out.path = report_.text(at, "model_path");
    if (!found->is_string()) return;
    if (const auto fault = grammar::check_repository_path(out.path))
      wrong(at.member("model_path", *found), fault->problem, fault->fix);
  }

  void config_template(std::string_view name, const JsonPlace& at) {
    const std::size_t before = errors();
    unknown(at, template_members);
    names_agree(name, at);
    ConfigTemplate out{.name = std::string(name)};
    out.target = report_.text(at, "target");
    if (JsonReport::present(at, "target") == nullptr) report_.missing(at, "target");
    if (JsonReport::present(at, "max_seq_length") != nullptr)
      out.max_seq_length = report_.needed_number(at, "max_seq_length", 2, 1U << 24U);
    out.prompt_template = report_.text(at, "prompt_template");
    if (!out.prompt_template.empty() &&
        (!out.prompt_template.contains("{prompt}") || !out.prompt_template.contains("{completion}")))
      wrong(at.member("prompt_template", *at.value.find("prompt_template")), "lacks {prompt} or {completion}",
            "write \"{prompt} {completion}\"");
    training_options(at, out);
    if (errors() == before) {
      template_places_.emplace_back(out.name, fmt::format("{}.target", at.path), at.value.find("target")->offset());
      out_.templates.insert_or_assign(out.name, std::move(out));
    }
  }

  /// The first that is supervised LoRA.
  void training_options(const JsonPlace& at, ConfigTemplate& out) {
    const json::Value* found = JsonReport::present(at, "training_options");
    if (found == nullptr) return;
    if (!found->is_array()) return report_.wrong_type(at.member("training_options", *found), "a list");
    bool is_there = false;
    for (std::size_t i = 0; i < found->items().size(); ++i) {
      const json::Value& item = found->items()[i];
      const JsonPlace place = at.item("training_options", i, item);
      if (!item.is_object()) {
        report_.wrong_type(place, "a map");
        continue;
      }
      unknown(place, option_members);
      const bool ours = report_.text(place, "training_type", "sft") == "sft" &&
                        report_.text(place, "finetuning_type", "lora") == "lora";
      const TrainingOption option = training_option(place);
      if (ours && !is_there) out.option = option;
      is_there = is_there || ours;
    }
    if (!is_there)
      wrong(at.member("training_options", *found), "has no option with training_type sft and finetuning_type lora",
            "add one: others are not served");
  }

  TrainingOption training_option(const JsonPlace& at) {
    TrainingOption out;
    out.num_nodes = report_.number(at, "num_nodes", 1, 1024, 1);
    out.num_gpus = report_.number(at, "num_gpus", 0, 64, 1);
    if (JsonReport::present(at, "micro_batch_size") != nullptr)
      out.micro_batch_size = report_.needed_number(at, "micro_batch_size", 1, 65'536);
    for (const std::string_view key : {"tensor_parallel_size", "pipeline_parallel_size"})
      if (report_.number(at, key, 1, 65'536, 1) > 1)
        wrong(at.member(key, *at.value.find(key)), "is above 1, and our trainer splits the data alone",
              "write 1, or name an image under trainingConfig that splits models", Severity::warning);
    return out;
  }

  const Findings& findings_;
  std::vector<TemplatePlace>& template_places_;
};

}  // namespace

void read_models(JsonReport& report, const Findings& findings, Catalogue& out, std::string_view file_name,
                 const JsonPlace& top, std::vector<TemplatePlace>& places) {
  ModelsReader reader(report, findings, out, places);
  bool any = false;
  for (const std::string_view part : {targets_part, templates_part}) {
    const json::Value* inside = top.value.find(part);
    if (inside == nullptr && without_ending(file_name) != part) continue;
    any = true;
    const JsonPlace at = inside == nullptr ? top : top.member(part, *inside);
    if (part == targets_part)
      reader.targets(at);
    else
      reader.templates(at);
  }
  if (!any) reader.unknown_file(top);
}

}  // namespace stackgate::customizer::catalogue_detail
