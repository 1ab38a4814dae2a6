#include "services/inference/engine/batch.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace stackgate::inference {
namespace {

constexpr std::size_t most_roots = 65'536;

}  // namespace

struct Batch::Active {
  Job job;
  std::vector<std::unique_ptr<Sequence>> sequences{};  // null: not begun, or finished
  std::vector<SequenceId> ids{};
  std::size_t begun = 0;  // so many were given to the scheduler
  std::size_t finished = 0;
  bool paused = false;
  bool computed = false;  // something of it
};

Batch::Batch(model::Graph& graph, const BatchLimits& limits, Vocabulary vocabulary)
    : graph_(graph),
      limits_(limits),
      vocabulary_(std::move(vocabulary)),
      pool_(limits.pages, limits.page_tokens),
      scheduler_(limits_.schedule, pool_) {}

Batch::~Batch() = default;

bool Batch::fits(const Job& job) const {
  return std::ranges::all_of(job.sequences, [&](const SequenceSpec& each) {
    return each.prompt->size() + each.max_tokens <= limits_.pages * limits_.page_tokens;
  });
}

void Batch::add(JobId id, Job job) {
  if (!fits(job))
    return job.events.failed({JobFault::broken, "prompt and answer need more of the cache than there is"});
  Active& added = jobs_[id];
  added.job = std::move(job);
  added.sequences.resize(added.job.sequences.size());
  added.ids.resize(added.job.sequences.size());
}

void Batch::drop(std::map<JobId, Active>::iterator job) {
  for (std::size_t i = 0; i < job->second.begun; ++i) {
    scheduler_.remove(job->second.ids[i]);
    places_.erase(job->second.ids[i]);
  }
  jobs_.erase(job);
}

void Batch::cancel(JobId id) {
  if (const auto found = jobs_.find(id); found != jobs_.end()) drop(found);
}

void Batch::fail(JobId id, JobFailure failure) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return;
  found->second.job.events.failed(std::move(failure));
  drop(found);
}

void Batch::fail_all(const JobFailure& failure) {
  while (!jobs_.empty()) fail(jobs_.begin()->first, failure);
}

void Batch::resume(JobId id) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return;
  found->second.paused = false;
  for (std::size_t i = 0; i < found->second.begun; ++i) scheduler_.pause(found->second.ids[i], false);
}

Beginning Batch::root_of(const Job& job) {
  if (roots_.size() > most_roots)  // salts are the clients': what was computed under them is found no more
    std::erase_if(roots_, [](const auto& each) { return !each.first.second.empty(); });
  const auto [found, added] = roots_.try_emplace({job.adapter.key, job.cache_salt});
  if (added) found->second = pool_.root();
  return found->second;
}

/// Gives the job's next sequence to the scheduler.
bool Batch::admit_next(JobId id, Active& active) {
  const auto index = static_cast<std::uint32_t>(active.begun);
  const SequenceSpec& spec = active.job.sequences[index];
  const bool all_logits = active.job.prompt_log_probs || active.job.kind == Job::Kind::embed;
  NewSequence sequence{.id = next_sequence_++,
                       .tokens = *spec.prompt,
                       .longest = spec.prompt->size() + spec.max_tokens,
                       .root = root_of(active.job),
                       .adapter = active.job.adapter.key,
                       .reuse = !all_logits};
  // A choice waits for the first one of its prompt, and shares what that has computed.
  const std::size_t first = index - std::min(index, spec.choice);
  if (first < index && active.job.sequences[first].prompt == spec.prompt && !all_logits)
    sequence.after = active.ids[first];
  const SequenceId given = sequence.id;
  if (scheduler_.add(std::move(sequence)) != Scheduler::Added::yes) return false;
  active.sequences[index] = std::make_unique<Sequence>(active.job, index, vocabulary_);
  active.ids[index] = given;
  places_[given] = {id, index};
  ++active.begun;
  facts_.prompt_tokens += spec.prompt->size();
  return true;
}

/// As many as the scheduler takes, so that its steps stay short.
void Batch::admit() {
  for (auto& [id, active] : jobs_)
    while (!active.paused && active.begun < active.job.sequences.size())
      if (!admit_next(id, active)) return;
}

void Batch::expire(Clock::time_point now) {
  std::vector<JobId> late;
  for (const auto& [id, active] : jobs_)
    if (active.job.deadline <= now) late.push_back(id);
  for (const JobId id : late) fail(id, {JobFault::deadline, "the answer took longer than this server allows"});
}

std::vector<model::SequenceRows> Batch::rows_of(const std::vector<Piece>& pieces, Clock::time_point now) {
  std::vector<model::SequenceRows> rows;
  rows.reserve(pieces.size());
  for (const Piece& piece : pieces) {
    Place& place = places_.at(piece.id);
    Active& active = jobs_.at(place.job);
    Sequence& sequence = *active.sequences[place.index];
    sequence.begin(piece.position);
    if (!place.begun) place.begun = now;
    active.computed = true;
    rows.push_back({.tokens = piece.tokens,
                    .position = static_cast<std::uint32_t>(piece.position),
                    .blocks = piece.pages,
                    .adapter = active.job.adapter.weights.get(),
                    .logits = sequence.wanted_logits(piece.position, piece.tokens.size(), piece.last),
                    .hidden_states = sequence.wants_states()});
    facts_.step_tokens += piece.tokens.size();
  }
  return rows;
}

void Batch::report(Active& active, Sequence& sequence, const Place& place) {
  if (!active.job.stream && !sequence.finished()) return;
  Progress progress = sequence.progress();
  if (progress.finish) {
    progress.begun = place.begun;
    progress.first_token = place.first_token;
  }
  if (progress.tokens == 0 && !progress.finish && progress.prompt_log_probs.empty()) return;
  facts_.generated_tokens += progress.tokens;
  if (active.job.events.progress(std::move(progress)) || active.paused) return;
  active.paused = true;
  for (std::size_t i = 0; i < active.begun; ++i) scheduler_.pause(active.ids[i], true);
}

void Batch::run(const std::vector<Piece>& pieces, Clock::time_point now) {
  struct Chosen {
    std::optional<TokenId> token;
    std::string fault;
  };
  std::vector<Chosen> chosen(pieces.size());
  const auto sequence_of = [&](std::size_t i) -> Sequence& {
    const Place place = places_.at(pieces[i].id);
    return *jobs_.at(place.job).sequences[place.index];
  };
  const std::vector<model::SequenceRows> rows = rows_of(pieces, now);
  const model::StepResults results{.logits =
                                       [&](std::size_t i, std::size_t token, std::span<const float> logits) {
                                         if (!chosen[i].fault.empty()) return;
                                         auto taken = sequence_of(i).take(pieces[i].position + token, logits, sampler_);
                                         if (!taken)
                                           chosen[i].fault = std::move(taken.error().message);
                                         else if (*taken)
                                           chosen[i].token = *taken;
                                       },
                                   .hidden_state =
                                       [&](std::size_t i, std::size_t token, std::span<const float> state) {
                                         sequence_of(i).take_state(pieces[i].position + token, state);
                                       }};
  const auto stepped = graph_.step(rows, results);
  const auto after = Clock::now();
  std::vector<std::pair<SequenceId, bool>> computed;  // and whether all its known tokens are
  computed.reserve(pieces.size());
  for (const Piece& piece : pieces) computed.emplace_back(piece.id, piece.last);
  if (!stepped)  // what it left in the pages means nothing: nobody may find them
    for (const auto& [id, last] : computed)
      if (const auto found = places_.find(id); found != places_.end())
        fail(found->second.job, {JobFault::broken, stepped.error()});
  scheduler_.done();
  for (std::size_t i = 0; i < computed.size(); ++i) {
    const auto [id, last] = computed[i];
    const auto found = places_.find(id);
    if (found == places_.end()) continue;  // its job failed by an earlier one's fault
    if (chosen[i].token && !found->second.first_token) found->second.first_token = after;
    const Place place = found->second;
    if (!chosen[i].fault.empty()) {
      fail(place.job, {JobFault::broken, std::move(chosen[i].fault)});
      continue;
    }
    Active& active = jobs_.at(place.job);
    Sequence& sequence = *active.sequences[place.index];
    if (last) sequence.all_computed();
    if (chosen[i].token && !sequence.finished()) scheduler_.append(id, *chosen[i].token);
    const bool finished = sequence.finished();
    report(active, sequence, place);
    if (!finished) continue;
    scheduler_.remove(id);
    places_.erase(found);
    active.sequences[place.index].reset();
    if (++active.finished == active.job.sequences.size()) drop(jobs_.find(place.job));
  }
}

bool Batch::step(Clock::time_point now) {
  expire(now);
  admit();
  const std::vector<Piece> pieces = scheduler_.plan();
  if (pieces.empty()) return false;
  ++facts_.steps;
  run(pieces, now);
  return true;
}

BatchFacts Batch::facts() const {
  BatchFacts out = facts_;
  out.running = scheduler_.running();
  out.waiting = scheduler_.waiting();
  std::set<std::string_view> running, waiting;
  for (const auto& [id, active] : jobs_) {
    out.waiting += active.job.sequences.size() - active.begun;
    out.waiting_jobs += active.begun == 0 ? 1 : 0;
    if (const std::string& name = active.job.adapter.name; !name.empty())
      (active.computed ? running : waiting).insert(name);
  }
  out.running_adapters.assign(running.begin(), running.end());
  out.waiting_adapters.assign(waiting.begin(), waiting.end());
  out.cache_used = 1.0 - static_cast<double>(pool_.available()) / static_cast<double>(pool_.pages());
  out.preempted = scheduler_.preempted();
  out.reused_tokens = scheduler_.reused_tokens();
  return out;
}

}  // namespace stackgate::inference
