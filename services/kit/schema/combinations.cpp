#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "services/kit/schema/walker.hpp"
#include "services/kit/schema/wording.hpp"

namespace stackgate::validate::schema {
namespace {

struct Branches {
  std::span<const Node* const> nodes;
  const Node* base;
  const json::Value& value;
  const Path* at;
  const CheckOptions& options;

  bool holds(const Node& node) const {
    Walker quiet(nullptr, options);
    quiet.walk(node, base, value, at);
    return quiet.faults() == 0;
  }
};

// A branch that only asks for fields: "required: [pvc]".
bool only_requires(const Node& node) {
  return !node.required.empty() && node.limits == nullptr && !node.combined && node.enumeration.empty() &&
         std::ranges::all_of(node.properties, [](const Property& each) {
           return each.node->accepts == 0x7F && !each.node->combined && each.node->enumeration.empty();
         });
}

std::string required_names(const Node& node) {
  std::string out;
  for (const std::string_view name : node.required) out += fmt::format("{}{}", out.empty() ? "" : " and ", name);
  return out;
}

// The branch that is nearest to being right says what is wrong.
grammar::Problem describe_none_fits(const Branches& branches) {
  if (std::ranges::all_of(branches.nodes, [](const Node* each) { return only_requires(*each); })) {
    std::string names;
    for (const Node* each : branches.nodes)
      names += fmt::format("{}{}", names.empty() ? "" : " or ", required_names(*each));
    return {fmt::format("needs {}", names), fmt::format("add {}", names)};
  }
  std::vector<SchemaFault> best;
  CheckOptions options = branches.options;
  options.explain_mismatches = true;  // the words are used here
  for (const Node* each : branches.nodes) {
    std::vector<SchemaFault> faults;
    Walker walker(&faults, options);
    walker.walk(*each, branches.base, branches.value, branches.at);
    if (best.empty() || faults.size() < best.size()) best = std::move(faults);
  }
  if (best.empty()) return {"fits none of the allowed forms", "see the field's description"};
  const std::string own = to_string(branches.at);
  const std::string where = best[0].path == own ? std::string() : best[0].path + " ";
  return {fmt::format("fits none of the {} allowed forms; in the nearest one, {}{}", branches.nodes.size(), where,
                      best[0].problem),
          best[0].fix};
}

grammar::Problem describe_excluded(const Node& node) {
  if (only_requires(node))
    return {fmt::format("must not have {}", required_names(node)), fmt::format("remove {}", required_names(node))};
  return {"has a form that is not allowed here", "see the field's description"};
}

}  // namespace

void walk_combinations(Walker& walker, const Node& node, const Node* base, const json::Value& value, const Path* at) {
  const Node* structure = node.value_only ? base : &node;
  const auto branches = [&](std::span<const Node* const> nodes) {
    return Branches{nodes, structure, value, at, walker.options()};
  };
  const auto fail = [&](auto&& describe) {
    walker.report(Fault::combination, at, value.offset(), &value, walker.quiet() ? grammar::Problem{} : describe());
  };

  for (const Node* each : node.all_of) walker.walk(*each, structure, value, at);
  if (!node.any_of.empty()) {
    const Branches all = branches(node.any_of);
    if (std::ranges::none_of(node.any_of, [&](const Node* each) { return all.holds(*each); }))
      fail([&] { return describe_none_fits(all); });
  }
  if (!node.one_of.empty()) {
    const Branches all = branches(node.one_of);
    const auto held = std::ranges::count_if(node.one_of, [&](const Node* each) { return all.holds(*each); });
    if (held == 0) fail([&] { return describe_none_fits(all); });
    if (held > 1)
      fail([&] {
        return grammar::Problem{fmt::format("fits {} of the allowed forms, but must fit exactly one", held),
                                "remove what belongs to the others"};
      });
  }
  if (node.not_ != nullptr && branches({}).holds(*node.not_)) fail([&] { return describe_excluded(*node.not_); });
}

}  // namespace stackgate::validate::schema
