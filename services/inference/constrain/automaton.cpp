#include "services/inference/constrain/automaton.hpp"

#include <algorithm>

namespace stackgate::inference {
namespace {

constexpr std::size_t most_states = 1U << 15U, most_frames = 1U << 20U, most_places = 1024;

}  // namespace

std::size_t Automaton::PlacesHash::operator()(const std::vector<Place>& places) const {
  std::uint64_t hash = places.size();
  for (const Place& each : places) {
    hash ^= std::uint64_t{each.stack} << 32U | each.node;
    hash *= 0x9E37'79B9'7F4A'7C15U;
    hash ^= hash >> 29U;
  }
  return hash;
}

Automaton::Automaton(std::shared_ptr<const Grammar> grammar) : grammar_(std::move(grammar)) {
  frames_.push_back({});
  states_.push_back({.places = {}, .next = {}});  // dead: each step leads back
  start_ = state_of({{grammar_->rules[grammar_->start].start, 0}});
}

std::uint32_t Automaton::pushed(std::uint32_t stack, NodeId back_to) {
  const auto [found, added] =
      frame_ids_.try_emplace(std::uint64_t{stack} << 32U | back_to, static_cast<std::uint32_t>(frames_.size()));
  if (added) frames_.push_back({back_to, stack, frames_[stack].depth + 1});
  return found->second;
}

/// A place from which the rule can still be ended within the allowed depth joins the work.
void Automaton::reach(const Place& place, std::vector<Place>& work) {
  if (frames_[place.stack].depth + grammar_->need[place.node] <= deepest_call && work.size() < most_places &&
      std::ranges::find(work, place) == work.end())
    work.push_back(place);
}

/// Follows calls, ends and free edges; only places that read a byte stay.
Automaton::State Automaton::state_of(std::vector<Place> work) {
  bool complete = false;
  std::vector<Place> reading;
  for (std::size_t i = 0; i < work.size(); ++i) {
    const Place at = work[i];
    bool reads = false;
    for (const Edge& edge : grammar_->edges[at.node]) {
      if (edge.kind == Edge::Kind::bytes) reads = true;
      if (edge.kind == Edge::Kind::free) reach({edge.to, at.stack}, work);
      if (edge.kind != Edge::Kind::call || frames_.size() >= most_frames) continue;
      if (frames_[at.stack].depth + grammar_->need[edge.to] > deepest_call) continue;
      reach({grammar_->rules[edge.rule].start, pushed(at.stack, edge.to)}, work);
    }
    if (reads) reading.push_back(at);
    if (grammar_->edges[at.node].empty() && grammar_->need[at.node] == 0) {
      if (at.stack == 0)
        complete = true;
      else
        reach({frames_[at.stack].back_to, frames_[at.stack].below}, work);
    }
  }
  if (reading.empty() && !complete) return dead;
  std::ranges::sort(reading);
  if (complete) reading.push_back({unknown, 0});  // another state than the same places that are not complete
  if (const auto found = state_ids_.find(reading); found != state_ids_.end()) return found->second;
  if (states_.size() >= most_states) return dead;
  const auto id = static_cast<State>(states_.size());
  state_ids_.emplace(reading, id);
  if (complete) reading.pop_back();
  Known& known = states_.emplace_back(Known{.places = std::move(reading), .complete = complete, .next = {}});
  known.takes_text = std::ranges::find(known.places, grammar_->text, &Place::node) != known.places.end();
  known.next.fill(unknown);
  return id;
}

Automaton::State Automaton::made(State from, unsigned char byte) {
  std::vector<Place> reached;
  for (const Place& place : states_[from].places)
    for (const Edge& edge : grammar_->edges[place.node])
      if (edge.kind == Edge::Kind::bytes && edge.low <= byte && byte <= edge.high)
        reach({edge.to, place.stack}, reached);
  const State to = reached.empty() ? dead : state_of(std::move(reached));
  states_[from].next[byte] = to;
  return to;
}

Automaton::State Automaton::run(State from, std::string_view bytes) {
  for (const char c : bytes) from = step(from, static_cast<unsigned char>(c));
  return from;
}

}  // namespace stackgate::inference
