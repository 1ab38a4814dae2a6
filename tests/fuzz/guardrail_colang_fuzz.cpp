// Any bytes as a .co file: it is compiled, or every fault has a place, words and a cure; what was compiled holds
// together.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "services/guardrail/colang/compile.hpp"

using namespace stackgate;
using namespace stackgate::guardrail::colang;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void judge(const Program& program, const Flow& flow, bool faulty) {
  require(!flow.code.empty() && flow.code.back().op == Op::end);
  for (const Instruction& each : flow.code) {
    require(each.place.file < program.files.size() && each.place.line > 0 && each.place.column > 0);
    if (each.op == Op::jump || each.op == Op::branch) require(each.target < flow.code.size());
    for (const WaitBranch& branch : each.branches) require(branch.target < flow.code.size());
    if (each.op == Op::branch || each.op == Op::assign) require(each.expression.has_value());
    if (each.op == Op::call && !each.expression)
      require(faulty || (each.target < program.flows.size() && program.flows[each.target].name == each.name));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  // Two files, parted by a byte 0; the first one is built in.
  const std::size_t cut = input.find('\0');
  std::vector<Source> sources;
  if (cut != std::string_view::npos) sources.push_back({"library.co", std::string(input.substr(0, cut)), true});
  sources.push_back({"rails.co", std::string(input.substr(cut == std::string_view::npos ? 0 : cut + 1))});
  const Compiled out = compile(sources, {}, {.flows = 200, .instructions = 5000});
  for (const validate::Finding& finding : out.findings)
    require(!finding.problem.empty() && !finding.fix.empty() && !finding.rule.empty());
  const bool faulty = validate::has_errors(out.findings);
  for (const Flow& flow : out.program.flows) judge(out.program, flow, faulty);
  for (const auto& [name, at] : out.program.flow_by_name) require(out.program.flows.at(at).name == name);
  for (const auto& [name, at] : out.program.bot_message_by_name)
    require(!out.program.bot_messages.at(at).texts.empty());
  return 0;
}
