#include "services/guardrail/actions/search.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "services/guardrail/configuration/detectors.hpp"
#include "services/guardrail/prompts/history.hpp"
#include "services/guardrail/retrieval/chunks.hpp"
#include "services/guardrail/retrieval/text_vector.hpp"

namespace stackgate::guardrail {
namespace {

constexpr std::size_t texts_of_one_call = 64;
constexpr std::size_t most_entries = 20'000;

std::string flow_shown(const colang::Flow& flow) {
  std::string out;
  for (const colang::Instruction& each : flow.code) {
    if (each.op == colang::Op::wait && each.pattern.kind == colang::EventKind::user_intent)
      out += fmt::format("user {}\n", each.pattern.name);
    if (each.op == colang::Op::bot && !each.name.empty()) out += fmt::format("bot {}\n", each.name);
  }
  return out.starts_with("user ") && out.contains("\nbot ") ? out : std::string();
}

/// An index under construction: texts are embedded some at a time.
struct Building {
  JobPtr job;
  Searched what;
  std::vector<SearchEntry> entries;
  std::vector<std::vector<float>> vectors{};
  std::move_only_function<void(SearchIndexPtr)> then;
};

SearchIndexPtr finish(Building& building) {
  const std::size_t dimension = building.vectors.empty() ? 0 : building.vectors.front().size();
  SearchIndex out{.entries = std::move(building.entries), .vectors = VectorIndex(dimension)};
  for (const auto& vector : building.vectors)
    if (!out.vectors.add(vector)) return nullptr;
  return std::make_shared<const SearchIndex>(std::move(out));
}

void embed_on(const std::shared_ptr<Building>& building, const Job::Target& target) {
  const std::size_t from = building->vectors.size();
  if (from == building->entries.size()) {
    auto index = finish(*building);
    if (!index) return building->job->fail("the embedding model's vectors differ in length");
    return std::exchange(building->then, {})(std::move(index));
  }
  std::vector<std::string> texts;
  for (std::size_t i = from; i < std::min(from + texts_of_one_call, building->entries.size()); ++i)
    texts.push_back(building->entries[i].text);
  building->job->embed(target, std::move(texts), [building, target](std::vector<std::vector<float>> vectors) {
    std::ranges::move(vectors, std::back_inserter(building->vectors));
    embed_on(building, target);
  });
}

void hash_all(Building& building) {
  for (const SearchEntry& each : building.entries) {
    const TextVector vector = text_vector(each.text);
    building.vectors.emplace_back(vector.begin(), vector.end());
  }
}

void with_index(const JobPtr& job, Searched what, std::move_only_function<void(SearchIndexPtr)> then) {
  const ConfigurationPtr& configuration = job->environment().configuration;
  if (auto index = job->indexes().find(configuration, what)) return then(std::move(index));
  auto keep = [job, what, then = std::move(then)](SearchIndexPtr index) mutable {
    job->indexes().keep(job->environment().configuration, what, index);
    then(std::move(index));
  };
  auto building = std::make_shared<Building>(
      Building{.job = job, .what = what, .entries = search_entries(*configuration, what), .then = std::move(keep)});
  if (const auto target = job->target("embeddings", false)) return embed_on(building, *target);
  hash_all(*building);
  building->then(finish(*building));
}

}  // namespace

std::vector<SearchEntry> search_entries(const Configuration& configuration, Searched what) {
  const colang::Program& program = configuration.program;
  std::vector<SearchEntry> out;
  const auto add = [&](std::string text, std::string shown, std::size_t group) {
    if (out.size() < most_entries)
      out.push_back({std::move(text), std::move(shown), static_cast<std::uint32_t>(group)});
  };
  switch (what) {
    case Searched::examples:
      for (std::size_t i = 0; i < program.user_intents.size(); ++i)
        for (const std::string& each : program.user_intents[i].examples)
          add(each, fmt::format("user \"{}\"\n  {}\n", escaped(each), program.user_intents[i].name), i);
      break;
    case Searched::flows:
      for (std::size_t i = 0; i < program.flows.size(); ++i)
        if (std::string shown = flow_shown(program.flows[i]); !shown.empty()) add(shown, shown, i);
      break;
    case Searched::bot_messages:
      for (std::size_t i = 0; i < program.bot_messages.size(); ++i)
        for (const std::string& each : program.bot_messages[i].sources)
          add(program.bot_messages[i].name,
              fmt::format("bot {}\n  \"{}\"\n", program.bot_messages[i].name, escaped(each)), i);
      break;
    case Searched::topics:
      if (!configuration.detectors || !configuration.detectors->topic) break;
      for (const std::string& each : configuration.detectors->topic->allowed) add(each, {}, 0);
      for (const std::string& each : configuration.detectors->topic->denied) add(each, {}, 1);
      break;
    case Searched::chunks:
      for (std::size_t i = 0; i < configuration.knowledge.size(); ++i) {
        const KnowledgePage& page = configuration.knowledge[i];
        for (Chunk& each : markdown_chunks(page.name, page.text).chunks) {
          std::string shown = each.title + "\n" + each.body;
          add(shown, shown, i);
        }
      }
      break;
  }
  return out;
}

SearchIndexPtr SearchIndexes::find(const ConfigurationPtr& configuration, Searched what) const {
  const std::scoped_lock lock(mutex_);
  const auto found = kept_.find({configuration.get(), what});
  if (found == kept_.end() || found->second.configuration.lock() != configuration) return nullptr;
  return found->second.index;
}

void SearchIndexes::keep(const ConfigurationPtr& configuration, Searched what, SearchIndexPtr index) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(kept_, [](const auto& each) { return each.second.configuration.expired(); });
  kept_[{configuration.get(), what}] = {.configuration = configuration, .index = std::move(index)};
}

void search(const JobPtr& job, Searched what, std::string query, std::size_t most, OnNearest then) {
  with_index(
      job, what, [job, query = std::move(query), most, then = std::move(then)](const SearchIndexPtr& index) mutable {
        if (index->entries.empty()) return then(*index, {});
        const auto target = job->target("embeddings", false);
        if (!target) return then(*index, index->vectors.nearest(text_vector(query), most));
        job->embed(*target, {std::move(query)},
                   [index, most, then = std::move(then)](const std::vector<std::vector<float>>& vectors) mutable {
                     then(*index, index->vectors.nearest(vectors.front(), most));
                   });
      });
}

}  // namespace stackgate::guardrail
