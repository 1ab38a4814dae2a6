#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "services/customizer/api/request.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::customizer {
namespace nemo_request_detail {

using validate::Finding;
using validate::Severity;
using Pair = std::pair<std::string_view, std::string_view>;

/// NeMo's names of hyperparameters, and ours.
constexpr std::array<Pair, 1> top_names = {{{"epochs", "num_epochs"}}};
constexpr std::array<Pair, 4> lora_names = {{{"adapter_dim", "lora_rank"},
                                             {"alpha", "lora_alpha"},
                                             {"adapter_dropout", "lora_dropout"},
                                             {"target_modules", "target_modules"}}};
/// Of a job, and without a meaning here.
constexpr std::array<std::string_view, 5> unused = {"namespace", "project", "ownership", "custom_fields",
                                                    "integrations"};

std::string_view ours(std::span<const Pair> names, std::string_view theirs) {
  const auto found = std::ranges::find(names, theirs, &Pair::first);
  return found == names.end() ? std::string_view{} : found->second;
}

void write_hyperparameters(json::Writer& w, const json::Value& of) {
  for (const json::Member& each : of.members()) {
    if (each.key == "lora" && each.value.is_object()) {
      for (const json::Member& part : each.value.members()) {
        const std::string_view name = ours(lora_names, part.key);
        // What we do not know keeps its place in the findings.
        w.member(name.empty() ? fmt::format("lora.{}", part.key) : std::string(name), part.value);
      }
    } else {
      const std::string_view name = ours(top_names, each.key);
      w.member(name.empty() ? each.key : name, each.value);
    }
  }
}

/// {"name", "namespace"} as NeMo's clients may write it, or the text.
void write_dataset(json::Writer& w, const json::Value& dataset) {
  if (!dataset.is_object()) return w.member("dataset", dataset);
  const std::string_view space = json::text(&dataset, {"namespace"}), name = json::text(&dataset, {"name"});
  w.member("dataset", fmt::format("{}/{}", space.empty() ? "default" : space, name));
}

/// Our body of theirs: what is not known stays as it is, to be reported.
std::string own_body(const json::Value& body, std::string_view name) {
  return json::object_text([&](json::Writer& w) {
    if (body.find("name") == nullptr) w.member("name", name);
    for (const json::Member& each : body.members()) {
      if (std::ranges::find(unused, each.key) != unused.end()) continue;
      if (each.key == "hyperparameters" && each.value.is_object())
        w.object("hyperparameters", [&] { write_hyperparameters(w, each.value); });
      else if (each.key == "dataset")
        write_dataset(w, each.value);
      else
        w.member(each.key, each.value);
    }
  });
}

/// "hyperparameters.lora_rank" → "hyperparameters.lora.adapter_dim"
std::string their_path(std::string path) {
  constexpr std::string_view head = "hyperparameters.";
  if (!path.starts_with(head)) return path;
  const std::string_view rest = std::string_view(path).substr(head.size());
  const std::string_view name = rest.substr(0, rest.find('[')), index = rest.substr(name.size());
  for (const auto& [theirs, own] : top_names)
    if (own == name) return fmt::format("{}{}", head, theirs);
  for (const auto& [theirs, own] : lora_names)
    if (own == name) return fmt::format("{}lora.{}{}", head, theirs, index);
  return path;
}

}  // namespace nemo_request_detail

RequestRead read_nemo_request(const json::Value& body, const Catalogue& catalogue, std::string_view name) {
  using namespace nemo_request_detail;
  if (!body.is_object()) return read_request(body, catalogue);
  const std::string text = own_body(body, name);
  json::Document document;
  RequestRead out;
  const auto root = json::parse(text, document);
  if (!root) {
    // Two of theirs became one of ours.
    out.findings.push_back({.rule = "customization-value",
                            .path = "hyperparameters",
                            .problem = "names one hyperparameter twice: " + root.error().message,
                            .fix = "keep one of the two"});
    return out;
  }
  out = read_request(*root, catalogue);
  for (Finding& each : out.findings) {
    each.path = their_path(std::move(each.path));
    each.offset = 0;  // of a text that nobody has seen
    if (each.path.empty() && each.problem == "lacks \"model\"") {
      each.problem = "lacks \"config\"";
      each.fix = "write \"config\"";
    }
  }
  for (const std::string_view key : unused)
    if (const json::Value* found = body.find(key); found != nullptr && !found->is_null())
      out.findings.push_back(
          {.rule = "customization-unused",
           .severity = Severity::warning,
           .path = std::string(key),
           .problem = "has no meaning here",
           .fix = key == "integrations" ? "trackers are set in the StackCustomizer" : "take it out"});
  return out;
}

}  // namespace stackgate::customizer
