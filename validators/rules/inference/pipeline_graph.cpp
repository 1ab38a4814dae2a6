#include "validators/rules/inference/pipeline_graph.hpp"

namespace stackgate::validate {
namespace {

enum class Mark : std::uint8_t { unseen, open, done };

struct Step {
  std::size_t entry;
  std::size_t next;  // dependency to look at
};

std::string route_of(const std::vector<PipelineEntry>& entries, const std::vector<Step>& walk, std::size_t back_to) {
  std::string route;
  bool inside = false;
  for (const Step& step : walk) {
    inside = inside || step.entry == back_to;
    if (inside) route.append(entries[step.entry].name).append(" -> ");
  }
  return route.append(entries[back_to].name);
}

}  // namespace

PipelineGraph::PipelineGraph(const Field& services) {
  for (const Field entry : services.items()) {
    const auto name = entry["name"].text();
    if (!name) continue;
    if (!by_name_.emplace(*name, entries_.size()).second) continue;
    entries_.push_back({entry, *name, entry["enabled"].flag().value_or(true)});
    names_.push_back(*name);
  }
}

const PipelineEntry* PipelineGraph::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &entries_[found->second];
}

// Without recursion: an object that the schema check has refused may hold any number of services.
std::vector<PipelineCycle> PipelineGraph::cycles() const {
  std::vector<PipelineCycle> found;
  std::vector<Mark> marks(entries_.size(), Mark::unseen);
  for (std::size_t start = 0; start < entries_.size(); ++start) {
    if (marks[start] != Mark::unseen) continue;
    std::vector<Step> walk{{start, 0}};
    marks[start] = Mark::open;
    while (!walk.empty()) {
      Step& step = walk.back();
      const Field dependencies = entries_[step.entry].field["dependencies"];
      if (step.next >= dependencies.size() || !dependencies.value()->is_array()) {
        marks[step.entry] = Mark::done;
        walk.pop_back();
        continue;
      }
      const Field name = dependencies.at(step.next++)["name"];
      const auto target = by_name_.find(name.text().value_or(""));
      if (target == by_name_.end() || target->second == step.entry) continue;
      if (marks[target->second] == Mark::open) {
        found.push_back({name, route_of(entries_, walk, target->second)});
      } else if (marks[target->second] == Mark::unseen) {
        marks[target->second] = Mark::open;
        walk.push_back({target->second, 0});
      }
    }
  }
  return found;
}

}  // namespace stackgate::validate
