#include "services/customizer/api/request.hpp"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "services/customizer/api/adapter.hpp"
#include "services/kit/findings/json_report.hpp"
#include "services/kit/findings/nearest.hpp"
#include "services/kit/grammar/dataset_reference.hpp"
#include "services/kit/grammar/names.hpp"
#include "services/kit/json/read.hpp"

namespace stackgate::customizer {
namespace request_detail {

namespace grammar = validate::grammar;
using validate::JsonPlace;
using validate::JsonReport;

constexpr std::array<std::string_view, 11> known = {"name",         "model",        "config",      "dataset",
                                                    "dataset_repo", "dataset_path", "dataset_ref", "hyperparameters",
                                                    "description",  "output_model", "tags"};
constexpr std::size_t longest_description = 4096, most_tags = 50, longest_tag = 100;

class Reader {
 public:
  Reader(const json::Value& body, const Catalogue& catalogue, validate::Findings& findings)
      : top_{{}, body},
        catalogue_(catalogue),
        report_(findings, "", {"customization-type", "customization-missing", "customization-value"}) {}

  CustomizationRequest read() {
    if (!top_.value.is_object()) {
      report_.wrong_type(top_, "an object");
      return {};
    }
    unknown();
    name();
    model_and_config();
    dataset();
    hyperparameters();
    out_.description = report_.text(top_, "description");
    if (out_.description.size() > longest_description)
      wrong("description", fmt::format("is longer than {} bytes", longest_description), "shorten it");
    output_model();
    tags();
    return std::move(out_);
  }

 private:
  const json::Value* find(std::string_view key) const { return JsonReport::present(top_, key); }
  JsonPlace place(std::string_view key) const { return top_.member(key, *top_.value.find(key)); }
  void wrong(std::string_view key, std::string problem, std::string fix) {
    report_.wrong("customization-value", place(key), std::move(problem), std::move(fix));
  }
  void wrong(std::string_view key, const grammar::Problem& problem) { wrong(key, problem.problem, problem.fix); }

  void unknown() {
    for (const json::Member& each : top_.value.members()) {
      if (std::ranges::find(known, each.key) != known.end()) continue;
      const std::string_view meant = validate::nearest(each.key, known);
      report_.wrong("customization-unknown", top_.member(each.key, each.value), "is not known",
                    meant.empty() ? "take it out" : fmt::format("did you mean \"{}\"?", meant));
    }
  }

  void name() {
    const json::Value* found = find("name");
    if (found == nullptr) return report_.missing(top_, "name");
    out_.name = report_.text(top_, "name");
    if (!found->is_string()) return;
    if (const auto fault = grammar::check_dns_label(out_.name)) wrong("name", *fault);
  }

  std::string names_of(const auto& map) const {
    std::vector<std::string_view> names;
    names.reserve(map.size());
    for (const auto& each : map) names.push_back(each.first);
    return names.empty() ? std::string("there is none") : fmt::format("there are: {}", fmt::join(names, ", "));
  }

  /// With a version where the word has one.
  std::string nearest_of(std::string_view word, const auto& map) const {
    std::vector<std::string_view> names;
    names.reserve(map.size());
    for (const auto& each : map) {
      const std::string_view name = each.first;
      names.push_back(word.contains('@') ? name : name.substr(0, name.find('@')));
    }
    const std::string_view meant = validate::nearest(word, names);
    return meant.empty() ? fmt::format("write one of the catalogue; {}", names_of(map))
                         : fmt::format("did you mean \"{}\"?", meant);
  }

  void model_and_config() {
    const ConfigTemplate* config = nullptr;
    const Target* target = nullptr;
    const std::string model = report_.text(top_, "model"), config_name = report_.text(top_, "config");
    if (find("config") != nullptr && find("config")->is_string()) {
      config = catalogue_.template_of(config_name);
      if (config == nullptr)
        wrong("config", "is no configuration of the catalogue", nearest_of(config_name, catalogue_.templates));
    }
    if (find("model") != nullptr && find("model")->is_string()) {
      target = catalogue_.target_of(model);
      if (target == nullptr) wrong("model", "is no model of the catalogue", nearest_of(model, catalogue_.targets));
    } else if (find("model") == nullptr && find("config") == nullptr) {
      report_.missing(top_, "model");
    } else if (config != nullptr) {
      target = catalogue_.target_of(config->target);
      if (target == nullptr)
        wrong("config", fmt::format("is for the model \"{}\", which is not enabled", config->target),
              "choose another one, or enable the model");
    }
    if (config != nullptr && target != nullptr && config->target != target->name)
      wrong("config", fmt::format("is for the model \"{}\"", config->target),
            fmt::format("take it out, or write one for \"{}\"", target->name));
    if (config == nullptr && target != nullptr && find("config") == nullptr) config = catalogue_.template_for(*target);
    if (target != nullptr) out_.target = *target;
    if (config != nullptr) out_.config = *config;
  }

  void dataset() {
    const bool whole = find("dataset") != nullptr, parts = find("dataset_repo") != nullptr;
    for (const std::string_view key : {"dataset_path", "dataset_ref"})
      if (find(key) != nullptr && !parts)
        wrong(key, "stands without dataset_repo",
              whole ? "write it in dataset: <namespace>/<name>[@<revision>]" : "add dataset_repo");
    if (whole && parts) return wrong("dataset_repo", "stands beside dataset", "keep one of the two");
    if (!whole && !parts) return report_.missing(top_, "dataset");
    const std::string_view key = whole ? "dataset" : "dataset_repo";
    const std::string text = report_.text(top_, key);
    if (!find(key)->is_string()) return;
    const auto parsed = grammar::parse_dataset_reference(text);
    if (!parsed) return wrong(key, parsed.error());
    if (parts && (!parsed->path.empty() || !parsed->revision.empty()))
      return wrong(key, "is more than <namespace>/<name>", "write the others in dataset_path and dataset_ref");
    out_.dataset = {.repository = std::string(parsed->repository),
                    .path = std::string(parsed->path),
                    .revision = std::string(parsed->revision)};
    if (whole) return;
    dataset_part("dataset_path", out_.dataset.path, grammar::check_repository_path);
    dataset_part("dataset_ref", out_.dataset.revision, grammar::check_revision);
  }

  void dataset_part(std::string_view key, std::string& out, auto check) {
    if (find(key) == nullptr) return;
    out = report_.text(top_, key);
    if (!find(key)->is_string()) return;
    if (const auto fault = check(out)) wrong(key, *fault);
  }

  void hyperparameters() {
    model::Hyperparameters& out = out_.hyperparameters;
    out = catalogue_.defaults;
    if (out_.config.option.micro_batch_size)
      out.micro_batch_size = std::min(*out_.config.option.micro_batch_size, out.batch_size);
    if (out_.config.max_seq_length) out.max_seq_length = out_.config.max_seq_length;
    static const json::Value nothing = json::Value::make_object({}, 0);
    const json::Value* found = find("hyperparameters");
    if (found != nullptr && !found->is_object()) return report_.wrong_type(place("hyperparameters"), "an object");
    const json::Value& object = found == nullptr ? nothing : *found;
    const JsonPlace at = top_.member("hyperparameters", object);
    // A configuration's own size follows a smaller batch.
    if (const std::int64_t batch = json::integer(&object, {"batch_size"}); batch > 0 && out.micro_batch_size)
      out.micro_batch_size = std::min<std::uint32_t>(*out.micro_batch_size,
                                                     static_cast<std::uint32_t>(std::min<std::int64_t>(batch, 65'536)));
    model::read_hyperparameters(at, report_, out);
    for (const json::Member& each : object.members()) within_bounds(at.member(each.key, each.value), each.key);
    if (const json::Value* length = object.find("max_seq_length");
        length != nullptr && out_.config.max_seq_length && length->integer() > *out_.config.max_seq_length)
      report_.wrong("customization-value", at.member("max_seq_length", *length),
                    fmt::format("is above {}, the most of the configuration \"{}\"", *out_.config.max_seq_length,
                                out_.config.name),
                    fmt::format("write at most {}", *out_.config.max_seq_length));
  }

  void within_bounds(const JsonPlace& at, std::string_view key) {
    const auto found = catalogue_.bounds.find(key);
    if (found == catalogue_.bounds.end() || !at.value.is_number()) return;
    const double value = at.value.number();
    // What the trainer itself does not take is reported already.
    const auto& ranges = model::hyperparameter_ranges();
    const auto range = std::ranges::find(ranges, key, &model::HyperparameterRange::name);
    if (range == ranges.end() || value < range->least || value > range->most) return;
    const auto& [least, most] = found->second;
    if (least && value < *least)
      report_.wrong("customization-value", at, fmt::format("is below {}, the least that is allowed here", *least),
                    fmt::format("write at least {}", *least));
    if (most && value > *most)
      report_.wrong("customization-value", at, fmt::format("is above {}, the most that is allowed here", *most),
                    fmt::format("write at most {}", *most));
  }

  void output_model() {
    out_.output_model = report_.text(top_, "output_model");
    const json::Value* found = find("output_model");
    if (found == nullptr) {
      out_.output_model = fmt::format("default/{}", out_.name);
    } else if (found->is_string()) {
      if (const auto fault = check_output_model(out_.output_model)) wrong("output_model", *fault);
    }
  }

  void tags() {
    const json::Value* found = find("tags");
    if (found == nullptr) return;
    if (!found->is_array() || found->items().size() > most_tags)
      return report_.wrong_type(place("tags"), fmt::format("a list of at most {} texts", most_tags));
    std::set<std::string_view> seen;
    for (std::size_t i = 0; i < found->items().size(); ++i) {
      const json::Value& each = found->items()[i];
      if (!each.is_string() || each.string().empty() || each.string().size() > longest_tag)
        report_.wrong_type(top_.item("tags", i, each), fmt::format("a text of 1 to {} bytes", longest_tag));
      else if (seen.insert(each.string()).second)
        out_.tags.emplace_back(each.string());
    }
  }

  const JsonPlace top_;
  const Catalogue& catalogue_;
  JsonReport report_;
  CustomizationRequest out_;
};

}  // namespace request_detail

RequestRead read_request(const json::Value& body, const Catalogue& catalogue) {
  RequestRead out;
  out.request = request_detail::Reader(body, catalogue, out.findings).read();
  return out;
}

}  // namespace stackgate::customizer
