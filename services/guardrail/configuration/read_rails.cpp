// The lists of rails, and what each needs.
#include <algorithm>

#include <fmt/format.h>

#include "services/guardrail/configuration/parts.hpp"
#include "services/guardrail/library/library.hpp"
#include "services/kit/base/ascii.hpp"
#include "services/kit/base/concat.hpp"

namespace stackgate::guardrail {
namespace {

std::string_view trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

/// `flow name $model=x $other="y z"`. False: what stands behind a '$' is no argument.
bool parse_call(std::string_view text, RailCall& out) {
  const std::size_t first = text.find('$');
  out.flow = trim(text.substr(0, first));
  text = first == std::string_view::npos ? std::string_view() : text.substr(first);
  while (!(text = trim(text)).empty()) {
    if (!text.starts_with('$')) return false;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) return false;
    const std::string_view name = trim(text.substr(1, equals - 1));
    if (name.empty() || !std::ranges::all_of(name, [](char c) { return ascii::is_alphanumeric(c) || c == '_'; }))
      return false;
    text = trim(text.substr(equals + 1));
    std::size_t end = text.find_first_of(" \t");
    std::string_view value = text.substr(0, end);
    if (text.starts_with('"') || text.starts_with('\'')) {
      end = text.find(text.front(), 1);
      if (end == std::string_view::npos) return false;
      value = text.substr(1, end - 1);
      ++end;
    }
    if (value.empty()) return false;
    out.arguments[std::string(name)] = value;
    text = end == std::string_view::npos ? std::string_view() : text.substr(end);
  }
  return !out.flow.empty();
}

class RailReader {
 public:
  RailReader(const Tree& root, Configuration& out, Report& report) : root_(root), out_(out), report_(report) {
    for (const colang::Flow& flow : out.program.flows) flows_.push_back(flow.name);
    for (const Model& model : out.models) models_.push_back(model.type);
  }

  RailList read(std::string_view kind) {
    const std::string path = concat({"rails.", kind});
    const Tree* given = root_.at(path);
    RailList list;
    if (given == nullptr) return list;
    list.parallel = flag_of(given, "parallel");
    const Tree* flows = given->find("flows");
    if (flows == nullptr) return list;
    for (std::size_t i = 0; i < flows->items.size(); ++i)
      if (flows->items[i].is(json::Type::string))
        rail(list, kind, flows->items[i], fmt::format("{}.flows[{}]", path, i));
    return list;
  }

  void stream_obstacles() {
    for (const RailCall& call : out_.output.flows) {
      std::string why = obstacle(call);
      if (why.empty()) continue;
      if (out_.streaming.enabled)
        report_.warning(rule::streaming, origins_[call.text], "rails.output.flows",
                        concat({in_quotes(call.text), " cannot judge a stream: ", why}),
                        "requests with `stream: true` are refused; leave the rail out, or do not stream");
      out_.stream_obstacles.push_back({call.text, std::move(why)});
    }
  }

 private:
  void rail(RailList& list, std::string_view kind, const Tree& item, const std::string& path) {
    RailCall call{.text = std::string(trim(item.text))};
    if (!parse_call(item.text, call))
      return report_.error(rule::rail, item.origin, path, concat({in_quotes(item.text), " is no rail"}),
                           "write a flow's name and arguments: content safety check input $model=content_safety");
    const auto same = std::ranges::find(list.flows, call.text, &RailCall::text);
    if (same != list.flows.end())
      return report_.warning(rule::rail, item.origin, path,
                             concat({in_quotes(call.text), " stands here a second time"}), "remove it: it runs once");
    call.place = report_.place(item.origin);
    origins_.emplace(call.text, item.origin);
    const auto found = out_.program.flow_by_name.find(call.flow);
    if (found == out_.program.flow_by_name.end())
      return report_.error(
          rule::rail, item.origin, path,
          concat({"there is no flow ", in_quotes(call.flow), did_you_mean(call.flow, flows_)}),
          concat({"define it in a *.co file: define subflow ", call.flow, ", or write a built-in rail's name"}));
    call.index = found->second;
    model_of(call, item, path);
    if (const BuiltInRail* rail = built_in(call)) check_needs(call, *rail, kind, item, path);
    list.flows.push_back(std::move(call));
  }

  void model_of(const RailCall& call, const Tree& item, const std::string& path) {
    const auto model = call.arguments.find("model");
    if (model == call.arguments.end() || out_.find_model(model->second) != nullptr) return;
    report_.error(
        rule::model, item.origin, path,
        concat({"there is no model of type ", in_quotes(model->second), did_you_mean(model->second, models_)}),
        concat({"add it to models, with `type: ", model->second, "`"}));
  }

  /// nullptr: a flow of the user's, maybe under the name of a built-in one.
  const BuiltInRail* built_in(const RailCall& call) const {
    const bool theirs = out_.program.flows[call.index].place.file >= out_.built_in_files;
    return theirs ? nullptr : find_built_in_rail(call.flow);
  }

  void check_needs(const RailCall& call, const BuiltInRail& rail, std::string_view kind, const Tree& item,
                   const std::string& path) {
    const std::string_view list = list_of(rail.place);
    const bool judges_results = rail.place == RailPlace::input || rail.place == RailPlace::tool_call;
    if (kind != list && !(kind == "tool_input" && judges_results))
      report_.error(rule::rail, item.origin, path, concat({in_quotes(call.flow), " does not belong here"}),
                    concat({"write it into rails.", list, ".flows"}));
    const auto model = call.arguments.find("model");
    const bool has_model = model != call.arguments.end();
    if (rail.needs_model && !has_model)
      report_.error(rule::rail, item.origin, path, concat({in_quotes(call.flow), " does not say which model it asks"}),
                    concat({"write ", call.flow, " $model=…, with a type of models"}));
    if (rail.own_prompt && (has_model || !rail.needs_model)) {
      const std::string task = has_model ? concat({rail.task, " $model=", model->second}) : std::string(rail.task);
      const bool there = std::ranges::any_of(
          out_.prompts.prompts, [&](const Prompt& each) { return each.task == task || each.task == rail.task; });
      if (!there)
        report_.error(rule::prompt, item.origin, path, concat({in_quotes(call.text), " has no prompt"}),
                      concat({"add one to prompts, with `task: ", task, "`"}));
    }
    if (!rail.config.empty() && root_.at(concat({"rails.config.", rail.config})) == nullptr)
      report_.warning(
          rule::rail, item.origin, path,
          concat({in_quotes(call.flow), " has nothing to look for: there is no rails.config.", rail.config}),
          concat({"add rails.config.", rail.config}));
    if (call.flow == "jailbreak detection model" && out_.detectors->jailbreak.nim_base_url.empty() &&
        out_.detectors->jailbreak.server_endpoint.empty())
      report_.error(rule::rail, item.origin, path, concat({in_quotes(call.flow), " has no endpoint to ask"}),
                    "write rails.config.jailbreak_detection.nim_base_url");
  }

  /// Why a rail cannot judge a piece of the answer; empty: it can.
  std::string obstacle(const RailCall& call) const {
    if (const BuiltInRail* rail = built_in(call)) return std::string(rail->whole_answer);
    std::vector<bool> seen(out_.program.flows.size());
    return obstacle_in(call.index, seen);
  }

  std::string obstacle_in(std::uint32_t index, std::vector<bool>& seen) const {
    if (index >= seen.size() || seen[index]) return {};
    seen[index] = true;
    for (const colang::Instruction& each : out_.program.flows[index].code) {
      if (each.op == colang::Op::execute) {
        if (const BuiltInRail* rail = find_built_in_action(each.name); rail != nullptr && !rail->whole_answer.empty())
          return concat({"its action ", each.name, " looks at the whole answer"});
        if (is_built_in_action(each.name)) continue;
        const auto action = std::ranges::find(out_.python_actions, each.name, &PythonAction::name);
        if (action == out_.python_actions.end() || !action->output_mapping)
          return concat({"its action ", each.name,
                         " does not say what its result means for a piece of the answer (output_mapping)"});
      }
      if (each.op == colang::Op::generate || each.op == colang::Op::bot_any)
        return "it asks the model for a text of its own";
      if (each.op == colang::Op::wait || each.op == colang::Op::wait_any) return "it waits for what comes next";
      if (each.op == colang::Op::call && !each.name.empty())
        if (std::string why = obstacle_in(each.target, seen); !why.empty()) return why;
    }
    return {};
  }

  const Tree& root_;
  Configuration& out_;
  Report& report_;
  std::vector<std::string_view> flows_, models_;
  std::map<std::string, Origin> origins_;
};

}  // namespace

void read_rails(const Tree& root, Configuration& out, Report& report) {
  RailReader reader(root, out, report);
  out.input = reader.read("input");
  out.output = reader.read("output");
  out.retrieval = reader.read("retrieval");
  out.tool_input = reader.read("tool_input");
  out.tool_output = reader.read("tool_output");
  reader.stream_obstacles();
}

}  // namespace stackgate::guardrail
