#include <array>

#include "services/customizer/catalogue/part_reader.hpp"
#include "services/kit/grammar/names.hpp"
#include "services/kit/grammar/quantity.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::customizer::catalogue_detail {
namespace {

namespace grammar = validate::grammar;

constexpr std::array<std::string_view, 2> training_members = {"container_defaults", "hyperparameters"};
constexpr std::array<std::string_view, 7> container_members = {
    "imagePullPolicy", "resources",         "gpuResource",         "sharedMemory",
    "nodeSelector",    "priorityClassName", "imageStartsProcesses"};
constexpr std::array<std::string_view, 3> bounds_members = {"default", "min", "max"};
constexpr std::array<std::string_view, 3> pull_policies = {"Always", "IfNotPresent", "Never"};

class TrainingReader : PartReader {
 public:
  TrainingReader(JsonReport& report, Catalogue& out) : PartReader(report, out) {}

  void read(const JsonPlace& part) {
    unknown(part, training_members);
    if (const json::Value* found = object(part, "container_defaults"))
      container(part.member("container_defaults", *found));
    if (const json::Value* found = object(part, "hyperparameters")) bounds(part.member("hyperparameters", *found));
  }

 private:
  std::string json_of(const JsonPlace& at, std::string_view key) {
    const json::Value* found = object(at, key);
    return found == nullptr || found->members().empty() ? std::string() : json::to_json(*found);
  }

  void container(const JsonPlace& at) {
    unknown(at, container_members);
    ContainerDefaults& out = out_.container;
    out.pull_policy = report_.text(at, "imagePullPolicy");
    if (!out.pull_policy.empty() && std::ranges::find(pull_policies, out.pull_policy) == pull_policies.end())
      report_.not_served(at.member("imagePullPolicy", *at.value.find("imagePullPolicy")), "policy", out.pull_policy,
                         pull_policies);
    out.gpu_resource = report_.text(at, "gpuResource", out.gpu_resource);
    if (const auto fault = grammar::check_resource_name(out.gpu_resource))
      wrong(at.member("gpuResource", *at.value.find("gpuResource")), fault->problem, fault->fix);
    out.shared_memory = quantity(at, "sharedMemory");
    out.node_selector = json_of(at, "nodeSelector");
    out.image_starts_processes = report_.flag(at, "imageStartsProcesses", false);
    out.priority_class = report_.text(at, "priorityClassName");
    if (const json::Value* found = object(at, "resources")) {
      const JsonPlace resources = at.member("resources", *found);
      out.requests = amounts(resources, "requests");
      out.limits = amounts(resources, "limits");
    }
  }

  std::string quantity(const JsonPlace& at, std::string_view key) {
    const json::Value* found = JsonReport::present(at, key);
    if (found == nullptr) return {};
    std::string text = json::scalar_text(*found);
    const auto amount = grammar::parse_quantity(text);
    if (!amount) wrong(at.member(key, *found), amount.error().problem, amount.error().fix);
    return text;
  }

  Amounts amounts(const JsonPlace& at, std::string_view key) {
    Amounts out;
    const json::Value* found = object(at, key);
    if (found == nullptr) return out;
    const JsonPlace map = at.member(key, *found);
    for (const json::Member& each : found->members()) out.emplace(each.key, quantity(map, each.key));
    return out;
  }

  void bounds(const JsonPlace& at) {
    std::vector<std::string_view> known;
    for (const auto& each : model::hyperparameter_ranges()) known.push_back(each.name);
    for (const json::Member& each : at.value.members()) {
      const JsonPlace place = at.member(each.key, each.value);
      const auto range = std::ranges::find(model::hyperparameter_ranges(), each.key, &model::HyperparameterRange::name);
      if (range == model::hyperparameter_ranges().end()) {
        const std::string_view meant = validate::nearest(each.key, known);
        wrong(place, "is no hyperparameter that is a number",
              meant.empty() ? "take it out" : fmt::format("did you mean \"{}\"?", meant));
      } else if (!each.value.is_object()) {
        report_.wrong_type(place, "a map of default, min and max");
      } else {
        unknown(place, bounds_members);
        bounds_of(place, *range);
      }
    }
  }

  void bounds_of(const JsonPlace& at, const model::HyperparameterRange& range) {
    Bounds out{.least = report_.real(at, "min", range.least, range.most),
               .most = report_.real(at, "max", range.least, range.most)};
    if (out.least && out.most && *out.least > *out.most)
      wrong(at.member("min", *at.value.find("min")), fmt::format("is above max, {}", *out.most), "write at most max");
    const json::Value* found = JsonReport::present(at, "default");
    if (found != nullptr) {
      const JsonPlace place = at.member("default", *found);
      const double value = found->number();
      if (found->is_number() && (value < out.least.value_or(value) || value > out.most.value_or(value)))
        wrong(place, "lies outside of min and max", "write a value between them");
      const std::string text = json::object_text([&](json::Writer& w) { w.member(range.name, *found); });
      json::Document document;
      if (const auto root = json::parse(text, document)) default_of(place, range.name, *root);
    }
    out_.bounds.insert_or_assign(std::string(range.name), out);
  }

  void default_of(const JsonPlace& at, std::string_view name, const json::Value& object) {
    Findings found;
    JsonReport report(found, "", {"catalogue-type", "catalogue-missing", "catalogue-value"});
    model::Hyperparameters changed = out_.defaults;
    model::read_hyperparameters({{}, object}, report, changed);
    // What it has to do with others is judged when a body names them.
    std::erase_if(found, [&](const Finding& each) { return each.path != name || each.rule == "trainer-batch"; });
    for (const Finding& each : found) wrong(at, each.problem, each.fix);
    if (found.empty()) out_.defaults = changed;
  }
};

}  // namespace

void read_training(JsonReport& report, Catalogue& out, const JsonPlace& top) { TrainingReader(report, out).read(top); }

}  // namespace stackgate::customizer::catalogue_detail
