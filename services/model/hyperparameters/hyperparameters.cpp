#include "services/model/hyperparameters/hyperparameters.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "services/kit/findings/json_report.hpp"
#include "services/kit/findings/nearest.hpp"

namespace stackgate::model {

using validate::JsonPlace;
using validate::JsonReport;

namespace hyperparameters_detail {

constexpr std::array<std::string_view, 3> schedulers{"linear", "cosine", "constant"};
constexpr std::uint32_t most = 1U << 30U;

template <class T>
struct Bounded {
  std::string_view key;
  T Hyperparameters::* member;
  double least, most;
};
using Whole = std::uint32_t;

constexpr std::array<Bounded<Whole>, 5> wholes{{
    {"lora_rank", &Hyperparameters::lora_rank, 1, 256},
    {"batch_size", &Hyperparameters::batch_size, 1, 65'536},
    {"early_stopping_patience", &Hyperparameters::early_stopping_patience, 0, most},
    {"checkpoint_interval", &Hyperparameters::checkpoint_interval, 1, most},
    {"log_every_n_steps", &Hyperparameters::log_every_n_steps, 1, most},
}};
constexpr std::array<Bounded<std::optional<Whole>>, 6> optional_wholes{{
    {"num_epochs", &Hyperparameters::num_epochs, 1, 1000},
    {"max_steps", &Hyperparameters::max_steps, 1, most},
    {"micro_batch_size", &Hyperparameters::micro_batch_size, 1, 65'536},
    {"max_seq_length", &Hyperparameters::max_seq_length, 2, 1U << 24U},
    {"threads", &Hyperparameters::threads, 1, 1024},
    {"val_check_interval", &Hyperparameters::val_check_interval, 1, most},
}};
constexpr std::array<Bounded<double>, 9> reals{{
    {"lora_dropout", &Hyperparameters::lora_dropout, 0, 0.99},
    {"learning_rate", &Hyperparameters::learning_rate, 0, 1},
    {"warmup_ratio", &Hyperparameters::warmup_ratio, 0, 1},
    {"weight_decay", &Hyperparameters::weight_decay, 0, 1},
    {"adam_beta1", &Hyperparameters::adam_beta1, 0, 0.9999999},
    {"adam_beta2", &Hyperparameters::adam_beta2, 0, 0.9999999},
    {"adam_epsilon", &Hyperparameters::adam_epsilon, 1e-30, 1},
    {"max_grad_norm", &Hyperparameters::max_grad_norm, 0, 1e6},
    {"validation_split", &Hyperparameters::validation_split, 0, 0.5},
}};
constexpr std::array<Bounded<bool>, 3> flags{{
    {"use_rslora", &Hyperparameters::use_rslora, 0, 1},
    {"sequence_packing_enabled", &Hyperparameters::sequence_packing_enabled, 0, 1},
    {"gradient_checkpointing", &Hyperparameters::gradient_checkpointing, 0, 1},
}};
constexpr std::array<std::string_view, 6> others{"lora_alpha", "target_modules",  "lr_scheduler",
                                                 "seed",       "finetuning_type", "training_type"};

std::vector<std::string_view> known_members() {
  std::vector<std::string_view> out(others.begin(), others.end());
  const auto add = [&](const auto& table) {
    for (const auto& each : table) out.push_back(each.key);
  };
  add(wholes), add(optional_wholes), add(reals), add(flags);
  return out;
}

std::vector<std::string_view> names_of_modules() {
  std::vector<std::string_view> out;
  for (const Module each : Hyperparameters::all_modules()) out.push_back(short_name(each));
  return out;
}

class ParametersReader {
 public:
  ParametersReader(JsonPlace at, JsonReport& report, Hyperparameters& out)
      : top_(std::move(at)), out_(out), report_(report) {}

  void read() {
    unknown();
    for (const auto& each : wholes)
      out_.*each.member = report_.number(top_, each.key, whole(each.least), whole(each.most), out_.*each.member);
    for (const auto& each : optional_wholes)
      if (JsonReport::present(top_, each.key) != nullptr)
        out_.*each.member = report_.needed_number(top_, each.key, whole(each.least), whole(each.most));
    for (const auto& each : reals)
      out_.*each.member = report_.real(top_, each.key, each.least, each.most).value_or(out_.*each.member);
    for (const auto& each : flags) out_.*each.member = report_.flag(top_, each.key, out_.*each.member);
    out_.lora_alpha = report_.positive(top_, "lora_alpha", out_.lora_alpha);
    seed();
    scheduler();
    targets();
    only("finetuning_type", "lora");
    only("training_type", "sft");
    together();
  }

 private:
  static Whole whole(double value) { return static_cast<Whole>(value); }
  JsonPlace member(std::string_view key) const { return top_.member(key, *top_.value.find(key)); }

  void unknown() {
    static const std::vector<std::string_view> known = known_members();
    for (const json::Member& each : top_.value.members()) {
      if (std::ranges::find(known, each.key) != known.end()) continue;
      const std::string_view meant = validate::nearest(each.key, known);
      report_.wrong("trainer-unknown", top_.member(each.key, each.value), "is no hyperparameter",
                    meant.empty() ? "take it out" : fmt::format("did you mean \"{}\"?", meant));
    }
  }

  void seed() {
    const json::Value* found = JsonReport::present(top_, "seed");
    if (found == nullptr) return;
    if (!found->is_integer() || found->integer() < 0)
      return report_.wrong_type(member("seed"), "a whole number from 0 to 9223372036854775807");
    out_.seed = static_cast<std::uint64_t>(found->integer());
  }

  void scheduler() {
    const std::string name =
        report_.text(top_, "lr_scheduler", schedulers[static_cast<std::size_t>(out_.lr_scheduler)]);
    if (name.empty() && !member("lr_scheduler").value.is_string()) return;  // reported already
    const auto* found = std::ranges::find(schedulers, name);
    if (found == schedulers.end()) return report_.not_served(member("lr_scheduler"), "schedule", name, schedulers);
    out_.lr_scheduler = static_cast<Scheduler>(found - schedulers.begin());
  }

  /// Names, as PEFT takes them ("q_proj", "self_attn.q_proj"), or "all-linear".
  void targets() {
    const json::Value* found = JsonReport::present(top_, "target_modules");
    if (found == nullptr) return;
    out_.target_modules = Hyperparameters::all_modules();
    if (found->string() == "all-linear") return;
    if (!found->is_array() || found->items().empty())
      return report_.wrong_type(member("target_modules"), "a list of names, or \"all-linear\"");
    std::array<bool, module_names.size()> wanted{};
    for (std::size_t i = 0; i < found->items().size(); ++i) {
      const json::Value& item = found->items()[i];
      const auto* const module = std::ranges::find_if(module_names, [&](std::string_view name) {
        return name == item.string() || name.substr(name.find('.') + 1) == item.string();
      });
      if (module == module_names.end())
        report_.not_served(top_.item("target_modules", i, item), "module", item.string(), names_of_modules());
      else
        wanted[static_cast<std::size_t>(module - module_names.begin())] = true;
    }
    std::erase_if(out_.target_modules, [&](Module m) { return !wanted[static_cast<std::size_t>(m)]; });
  }

  void only(std::string_view key, std::string_view value) {
    if (const std::string text = report_.text(top_, key, value); text != value && member(key).value.is_string())
      report_.not_served(member(key), key.substr(0, key.find('_')), text, std::span(&value, 1));
  }

  void together() {
    if (out_.micro_batch_size.value_or(1) > out_.batch_size)
      report_.wrong("trainer-batch", member("micro_batch_size"),
                    fmt::format("is above batch_size, {}", out_.batch_size), "write at most batch_size");
    if (const json::Value* rate = top_.value.find("learning_rate");
        rate != nullptr && rate->is_number() && rate->number() == 0)
      report_.wrong_type(member("learning_rate"), "a number above 0, to 1");
  }

  const JsonPlace top_;
  Hyperparameters& out_;
  JsonReport& report_;
};

}  // namespace hyperparameters_detail

std::vector<Module> Hyperparameters::all_modules() {
  std::vector<Module> out;
  out.reserve(module_names.size());
  for (std::size_t i = 0; i < module_names.size(); ++i) out.push_back(static_cast<Module>(i));
  return out;
}

HyperparametersRead read_hyperparameters(std::string_view json, std::string_view file) {
  using namespace hyperparameters_detail;
  HyperparametersRead read;
  JsonReport report(read.findings, file, {"trainer-type", "trainer-missing", "trainer-not-served"});
  json::Document document;
  if (const auto root =
          report.parse("trainer-json", json, document, {.max_depth = 16, .max_bytes = largest_configuration}))
    ParametersReader({{}, *root}, report, read.parameters).read();
  return read;
}

void read_hyperparameters(const JsonPlace& at, JsonReport& report, Hyperparameters& out) {
  hyperparameters_detail::ParametersReader(at, report, out).read();
}

void write_hyperparameters(json::Writer& w, const Hyperparameters& p) {
  using namespace hyperparameters_detail;
  const auto write_all = [&](const auto& table) {
    for (const auto& each : table) w.member(each.key, p.*each.member);
  };
  write_all(wholes), write_all(reals), write_all(flags);
  for (const auto& each : optional_wholes)
    if (const auto& value = p.*each.member) w.member(each.key, *value);
  w.member("lora_alpha", p.lora_alpha);
  w.array("target_modules", [&] {
    for (const Module each : p.target_modules) w.value(short_name(each));
  });
  w.member("lr_scheduler", schedulers[static_cast<std::size_t>(p.lr_scheduler)]);
  w.member("seed", p.seed);
}

const std::vector<HyperparameterRange>& hyperparameter_ranges() {
  using namespace hyperparameters_detail;
  static const std::vector<HyperparameterRange> ranges = [] {
    std::vector<HyperparameterRange> out{{"lora_alpha", 0, static_cast<double>(most), false}};
    for (const auto& each : wholes) out.push_back({each.key, each.least, each.most, true});
    for (const auto& each : optional_wholes) out.push_back({each.key, each.least, each.most, true});
    for (const auto& each : reals) out.push_back({each.key, each.least, each.most, false});
    return out;
  }();
  return ranges;
}

std::optional<double> number_named(const Hyperparameters& p, std::string_view name) {
  using namespace hyperparameters_detail;
  if (name == "lora_alpha") return p.lora_alpha;
  for (const auto& each : wholes)
    if (each.key == name) return p.*each.member;
  for (const auto& each : reals)
    if (each.key == name) return p.*each.member;
  for (const auto& each : optional_wholes)
    if (each.key == name) return p.*each.member ? std::optional<double>(*(p.*each.member)) : std::nullopt;
  return std::nullopt;
}

double lora_scale(const Hyperparameters& parameters) {
  const double rank = parameters.lora_rank;
  return parameters.lora_alpha / (parameters.use_rslora ? std::sqrt(rank) : rank);
}

std::string canonical_text(const Hyperparameters& p) {
  std::vector<std::string_view> targets;
  targets.reserve(p.target_modules.size());
  for (const Module each : p.target_modules) targets.push_back(short_name(each));
  const auto number = [](const std::optional<std::uint32_t>& value) { return value ? fmt::to_string(*value) : "-"; };
  return fmt::format("{} {} {} {} {}|{} {} {} {} {} {} {} {}|{} {} {} {} {} {} {} {}|{} {} {}", p.lora_rank,
                     p.lora_alpha, p.lora_dropout, p.use_rslora, fmt::join(targets, ","), p.learning_rate,
                     static_cast<int>(p.lr_scheduler), p.warmup_ratio, p.weight_decay, p.adam_beta1, p.adam_beta2,
                     p.adam_epsilon, p.max_grad_norm, number(p.num_epochs), number(p.max_steps), p.batch_size,
                     number(p.micro_batch_size), number(p.max_seq_length), p.seed, p.sequence_packing_enabled,
                     p.gradient_checkpointing, number(p.val_check_interval), p.early_stopping_patience,
                     p.validation_split);
}

std::vector<std::pair<std::string, std::string>> named_values(const Hyperparameters& p) {
  using namespace hyperparameters_detail;
  std::vector<std::pair<std::string, std::string>> out;
  const auto add = [&](std::string_view name, const auto& value) { out.emplace_back(name, fmt::format("{}", value)); };
  const auto add_all = [&](const auto& table) {
    for (const auto& each : table) add(each.key, p.*each.member);
  };
  add_all(wholes), add_all(reals), add_all(flags);
  for (const auto& each : optional_wholes)
    if (const auto& value = p.*each.member) add(each.key, *value);
  std::vector<std::string_view> targets;
  targets.reserve(p.target_modules.size());
  for (const Module each : p.target_modules) targets.push_back(short_name(each));
  add("lora_alpha", p.lora_alpha);
  add("target_modules", fmt::format("{}", fmt::join(targets, ",")));
  add("lr_scheduler", schedulers[static_cast<std::size_t>(p.lr_scheduler)]);
  add("seed", p.seed);
  return out;
}

std::string_view short_name(Module module) {
  const std::string_view name = to_string(module);
  return name.substr(name.find('.') + 1);
}

}  // namespace stackgate::model
