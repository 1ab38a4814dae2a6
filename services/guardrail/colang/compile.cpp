#include "services/guardrail/colang/compile.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "services/guardrail/colang/check.hpp"
#include "services/guardrail/colang/lower.hpp"
#include "services/guardrail/colang/parser.hpp"
#include "services/guardrail/colang/report.hpp"
#include "services/kit/base/concat.hpp"

namespace stackgate::guardrail::colang {
namespace {

// What the files define, as one: names are unique afterwards.
class Merging {
 public:
  Merging(std::span<const Source> sources, const CompileLimits& limits, Report& report, Program& program)
      : sources_(sources), limits_(limits), report_(report), program_(program) {}

  void add(FileTree tree) {
    for (UserIntent& intent : tree.user_intents) add(std::move(intent));
    for (BotMessage& message : tree.bot_messages) add(std::move(message));
    for (FlowTree& flow : tree.flows) add(std::move(flow));
    std::ranges::move(tree.inline_messages, std::back_inserter(inline_messages_));
    std::ranges::move(tree.inline_intents, std::back_inserter(inline_intents_));
  }

  void finish() {
    inline_parts();
    std::size_t count = 0;
    for (std::size_t i = 0; i < program_.flows.size(); ++i) {
      Flow& flow = program_.flows[i];
      flow.code = lower(flow, std::move(bodies_[i]), intents_, report_);
      count += flow.code.size();
      if (count <= limits_.instructions) continue;
      report_.error(rule::limit, flow.place,
                    fmt::format("the flows have more than {} steps together", limits_.instructions),
                    "divide the configuration");
      program_.flows.resize(i + 1);
      break;
    }
    // What was cut off is not known by its name either.
    std::erase_if(program_.flow_by_name, [&](const auto& entry) { return entry.second >= program_.flows.size(); });
  }

 private:
  template <class Item>
  Item* known(auto& index, std::vector<Item>& list, const std::string& name) {
    const auto [found, fresh] = index.emplace(name, static_cast<std::uint32_t>(list.size()));
    return fresh ? nullptr : &list[found->second];
  }

  void add(UserIntent intent) {
    if (UserIntent* other = known(program_.user_intent_by_name, program_.user_intents, intent.name)) {
      std::ranges::move(intent.examples, std::back_inserter(other->examples));
      return;
    }
    program_.user_intents.push_back(std::move(intent));
  }

  void add(BotMessage message) {
    BotMessage* other = known(program_.bot_message_by_name, program_.bot_messages, message.name);
    if (other == nullptr) {
      program_.bot_messages.push_back(std::move(message));
      return;
    }
    if (other->place.file == message.place.file)
      report_.warning(rule::duplicate, message.place,
                      concat({"bot message ", shown(message.name), " is defined at ", report_.where(other->place),
                              ", too; this one counts"}),
                      "put all texts into one definition");
    *other = std::move(message);
  }

  void add(FlowTree tree) {
    const Place at = tree.flow.place;
    if (Flow* other = known(program_.flow_by_name, program_.flows, tree.flow.name)) {
      if (!sources_[other->place.file].built_in || sources_[at.file].built_in) {
        report_.error(rule::duplicate, at,
                      concat({"flow ", shown(tree.flow.name), " is defined at ", report_.where(other->place), ", too"}),
                      "rename or remove one of them");
        return;
      }
      bodies_[static_cast<std::size_t>(other - program_.flows.data())] = std::move(tree.body);
      *other = std::move(tree.flow);
      return;
    }
    if (program_.flows.size() == limits_.flows) {
      report_.error(rule::limit, at, fmt::format("there are more than {} flows", limits_.flows),
                    "divide the configuration");
      program_.flow_by_name.erase(tree.flow.name);
      return;
    }
    program_.flows.push_back(std::move(tree.flow));
    bodies_.push_back(std::move(tree.body));
  }

  // `bot NAME "text"` defines what nobody else defines; `user "text"` is the intent that has the text as an example.
  void inline_parts() {
    const std::size_t defined = program_.bot_messages.size();
    for (BotMessage& message : inline_messages_) {
      BotMessage* other = known(program_.bot_message_by_name, program_.bot_messages, message.name);
      if (other == nullptr) {
        program_.bot_messages.push_back(std::move(message));
      } else if (static_cast<std::size_t>(other - program_.bot_messages.data()) >= defined) {
        std::ranges::move(message.texts, std::back_inserter(other->texts));
        std::ranges::move(message.sources, std::back_inserter(other->sources));
      }
    }
    if (inline_intents_.empty()) return;
    IntentNames by_example;
    for (const UserIntent& intent : program_.user_intents)
      for (const std::string& example : intent.examples) by_example.emplace(example, intent.name);
    for (UserIntent& intent : inline_intents_) {
      const auto found = by_example.find(intent.name);
      if (found != by_example.end())
        intents_.insert_or_assign(intent.name, found->second);
      else if (known(program_.user_intent_by_name, program_.user_intents, intent.name) == nullptr)
        program_.user_intents.push_back(std::move(intent));
    }
  }

  std::span<const Source> sources_;
  const CompileLimits& limits_;
  Report& report_;
  Program& program_;
  std::vector<std::vector<Statement>> bodies_;  // of program_.flows
  std::vector<BotMessage> inline_messages_;
  std::vector<UserIntent> inline_intents_;
  IntentNames intents_;
};

/// What is built in is the same in every configuration: a copy of its tree costs a tenth of reading it again.
FileTree tree_of(std::uint32_t file, const Source& source, const CompileLimits& limits, Report& report) {
  constexpr std::size_t most_kept = 64;
  static std::mutex mutex;
  static std::map<std::pair<std::uint32_t, std::string>, FileTree> kept;  // by number and text
  if (!source.built_in) return Parser(file, source, limits, report).parse();
  const std::scoped_lock lock(mutex);
  const auto found = kept.find({file, source.text});
  if (found != kept.end()) return found->second;
  FileTree tree = Parser(file, source, limits, report).parse();
  // With findings it is read each time, so that they are reported each time.
  if (report.empty() && kept.size() < most_kept) kept.emplace(std::pair(file, source.text), tree);
  return tree;
}

}  // namespace

Compiled compile(std::span<const Source> sources, const KnownNames& names, const CompileLimits& limits) {
  Compiled out;
  Report report(sources);
  for (const Source& source : sources) out.program.files.push_back(source.name);
  if (sources.size() > limits.files)
    report.error(rule::limit, report.place(static_cast<std::uint32_t>(limits.files), 0),
                 fmt::format("there are more than {} files", limits.files),
                 "put flows that belong together into one file");
  Merging merging(sources, limits, report, out.program);
  std::size_t bytes = 0;
  for (std::uint32_t file = 0; file < std::min(sources.size(), limits.files); ++file) {
    if (sources[file].text.size() > limits.file_bytes) {
      report.error(rule::limit, report.place(file, 0),
                   fmt::format("the file has more than {} bytes", limits.file_bytes), "divide it");
      continue;
    }
    bytes += sources[file].text.size();
    if (bytes > limits.bytes) {
      report.error(rule::limit, report.place(file, 0), fmt::format("the files have more than {} bytes", limits.bytes),
                   "divide the configuration");
      break;
    }
    merging.add(tree_of(file, sources[file], limits, report));
  }
  merging.finish();
  check(out.program, names, report);
  out.findings = report.take();
  return out;
}

}  // namespace stackgate::guardrail::colang
