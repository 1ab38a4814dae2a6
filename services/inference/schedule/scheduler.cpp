#include "services/inference/schedule/scheduler.hpp"

#include <algorithm>

namespace stackgate::inference {
namespace {

std::size_t pages_of(std::size_t tokens, std::size_t page_tokens) { return (tokens + page_tokens - 1) / page_tokens; }

}  // namespace

Scheduler::Added Scheduler::add(NewSequence sequence) {
  const std::size_t longest = std::max(sequence.longest, sequence.tokens.size());
  if (pages_of(longest, pool_.page_tokens()) > pool_.pages()) return Added::too_long;
  if (waiting() >= limits_.waiting) return Added::queue_is_full;
  Sequence& added = sequences_.emplace_back();
  added.given = std::move(sequence);
  added.prompt = added.given.tokens.size();
  by_id_[added.given.id] = std::prev(sequences_.end());
  return Added::yes;
}

void Scheduler::remove(SequenceId id) {
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) return;
  give_back(*found->second);
  paused_ -= found->second->paused ? 1 : 0;
  sequences_.erase(found->second);
  by_id_.erase(found);
}

void Scheduler::append(SequenceId id, std::uint32_t token) {
  const auto found = by_id_.find(id);
  if (found != by_id_.end()) found->second->given.tokens.push_back(token);
}

void Scheduler::pause(SequenceId id, bool paused) {
  const auto found = by_id_.find(id);
  if (found == by_id_.end() || found->second->paused == paused) return;
  found->second->paused = paused;
  if (!paused) {
    --paused_;
    return;
  }
  ++paused_;
  give_back(*found->second);
}

bool Scheduler::has_slot(const Sequence& sequence) const {
  const std::uint64_t adapter = sequence.given.adapter;
  return adapter == 0 || adapters_.contains(adapter) || adapters_.size() < limits_.adapters;
}

bool Scheduler::join(Sequence& sequence) {
  if (!has_slot(sequence)) return ++sequence.passed <= limits_.overtaken;
  if (!may_begin(sequence)) return false;
  begin(sequence);
  return true;
}

bool Scheduler::may_begin(const Sequence& sequence) const {
  if (running_ >= limits_.sequences) return false;
  if (sequence.given.after) {
    const auto first = by_id_.find(*sequence.given.after);
    if (first != by_id_.end() && first->second->computed < first->second->prompt) return false;
  }
  // One page more than it needs at once, so that the next token does not throw it out again.
  return pool_.available() > pages_of(sequence.given.tokens.size(), pool_.page_tokens()) || running_ == 0;
}

void Scheduler::begin(Sequence& sequence) {
  sequence.running = true;
  ++running_;
  if (sequence.given.adapter != 0) ++adapters_[sequence.given.adapter];
  sequence.beginning = sequence.given.root;
  if (!sequence.given.reuse) return;
  PagePool::Found found = pool_.take(sequence.given.root, sequence.given.tokens);
  sequence.pages = std::move(found.pages);
  sequence.published = sequence.pages.size();
  sequence.beginning = found.beginning;
  sequence.computed = sequence.pages.size() * pool_.page_tokens();
  reused_ += sequence.computed;
}

void Scheduler::give_back(Sequence& sequence) {
  if (!sequence.running) return;
  for (const Page page : sequence.pages) pool_.release(page);
  sequence.pages.clear();
  std::erase(planned_, &sequence);
  sequence.computed = sequence.planned = sequence.published = 0;
  sequence.running = false;
  --running_;
  if (const auto found = adapters_.find(sequence.given.adapter); found != adapters_.end() && --found->second == 0)
    adapters_.erase(found);
}

/// Pages for `tokens` more; takes them from those that came later when it must, planned or not: one of them may have
/// passed it. False: it gave back its own.
bool Scheduler::reserve(Sequence& sequence, std::size_t tokens) {
  const std::size_t wanted = pages_of(sequence.computed + tokens, pool_.page_tokens());
  while (sequence.pages.size() < wanted) {
    if (const auto page = pool_.allocate()) {
      sequence.pages.push_back(*page);
      continue;
    }
    const auto last = std::ranges::find_if(sequences_.rbegin(), sequences_.rend(), &Sequence::running);
    ++preempted_;
    Sequence& victim = *last;
    give_back(victim);
    if (&victim == &sequence) return false;
  }
  return true;
}

void Scheduler::plan_one(Sequence& sequence, std::size_t tokens) {
  if (!reserve(sequence, tokens)) return;
  sequence.planned = tokens;
  planned_.push_back(&sequence);
}

std::vector<Piece> Scheduler::plan() {
  planned_.clear();
  std::size_t left = limits_.step_tokens;
  for (Sequence& each : sequences_) {
    if (left == 0) break;
    if (!each.running || each.pending() != 1) continue;
    plan_one(each, 1);
    if (each.planned > 0) --left;
  }
  bool may_join = true;
  for (Sequence& each : sequences_) {
    if (left == 0) break;
    if (each.paused) continue;
    if (!each.running && may_join) may_join = join(each);
    if (!each.running || each.planned > 0 || each.pending() == 0) continue;
    plan_one(each, std::min(left, each.pending()));
    if (each.planned == 0) may_join = false;  // it came last, and gave back its own pages
    left -= std::min(left, each.planned);
  }
  std::vector<Piece> out;
  for (const Sequence* each : planned_) {
    const std::size_t end = each->computed + each->planned;
    out.push_back({.id = each->given.id,
                   .tokens = std::span(each->given.tokens).subspan(each->computed, each->planned),
                   .position = each->computed,
                   .pages = std::span(each->pages).first(pages_of(end, pool_.page_tokens())),
                   .last = end == each->given.tokens.size()});
  }
  return out;
}

void Scheduler::publish(Sequence& sequence) {
  const std::size_t of_page = pool_.page_tokens();
  for (; (sequence.published + 1) * of_page <= sequence.computed; ++sequence.published) {
    const auto tokens =
        std::span<const std::uint32_t>(sequence.given.tokens).subspan(sequence.published * of_page, of_page);
    sequence.beginning = pool_.publish(sequence.beginning, tokens, sequence.pages[sequence.published]);
  }
}

void Scheduler::done() {
  for (Sequence& each : sequences_) {
    if (each.planned == 0) continue;
    each.computed += each.planned;
    each.planned = 0;
    publish(each);
  }
}

}  // namespace stackgate::inference
