#include "services/inference/adapters/memory.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <iterator>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "services/kit/run/pool.hpp"

namespace stackgate::inference {

struct AdapterMemory::State : std::enable_shared_from_this<State> {
  struct Slot {
    AdapterVersion version;
    AdapterWeightsPtr weights{};
    std::size_t bytes = 0;
    unsigned pins = 0;
    bool loading = false, gone = false;
    std::vector<Then> waiting{};
  };
  /// Counts a reader as long as somebody holds `adapter`.
  struct Pin {
    Pin(std::shared_ptr<State> state, ServedAdapter served) : from(std::move(state)), adapter(std::move(served)) {}
    ~Pin() {
      adapter.weights = nullptr;  // the memory frees them, on a thread of its own
      from->release(adapter.key);
    }
    Pin(const Pin&) = delete;
    Pin& operator=(const Pin&) = delete;
    std::shared_ptr<State> from;
    ServedAdapter adapter;
  };
  /// What is done once the mutex is free.
  struct Later {
    std::vector<std::pair<Then, std::expected<ServedAdapterPtr, std::string>>> answers;
    std::vector<std::uint64_t> gone;
  };

  explicit State(MemoryOptions given) : options(std::move(given)), lru(options.resident, options.memory) {}

  void acquire(const AdapterVersion& version, Then then);
  void load_early(const AdapterVersion& version);
  void forget(std::uint64_t key);
  void release(std::uint64_t key);
  void stop();

  // With the mutex held.
  Slot& slot_of(const AdapterVersion& version) {
    return slots.try_emplace(version.key, Slot{.version = version}).first->second;
  }
  bool in_use(std::uint64_t key) const;
  ServedAdapterPtr pinned(Slot& slot);
  bool begin_load(Slot& slot);
  void load_next();
  void erase(std::uint64_t key, Later& later);
  void erase_if_unused(std::uint64_t key, Later& later);

  void load(std::uint64_t key);
  void loaded(std::uint64_t key, std::expected<AdapterWeightsPtr, std::string> weights, double seconds);
  void carry_out(Later later);

  const MemoryOptions options;
  mutable std::mutex mutex;
  TwoTierLru lru;
  std::unordered_map<std::uint64_t, Slot> slots;
  std::deque<std::uint64_t> queue;                   // those that wait for a place
  std::vector<std::shared_ptr<const void>> leaving;  // to be freed by the pool
  std::size_t bytes = 0;
  bool stopping = false;
  std::unique_ptr<run::Pool> pool = std::make_unique<run::Pool>(2U, std::size_t{1} << 20U);
};

bool AdapterMemory::State::in_use(std::uint64_t key) const {
  const auto found = slots.find(key);
  return found != slots.end() && (found->second.pins > 0 || found->second.loading);
}

ServedAdapterPtr AdapterMemory::State::pinned(Slot& slot) {
  ++slot.pins;
  const AdapterVersion& version = slot.version;
  lru.touch(version.key, [this](std::uint64_t key) { return in_use(key); });
  auto pin = std::make_shared<Pin>(shared_from_this(), ServedAdapter{.name = version.record.name,
                                                                     .version = version.record.version,
                                                                     .id = version.record.id,
                                                                     .key = version.key,
                                                                     .rank = version.checked.rank,
                                                                     .directory = version.files->directory(),
                                                                     .weights = slot.weights});
  return {pin, &pin->adapter};
}

/// False: all places are in use.
bool AdapterMemory::State::begin_load(Slot& slot) {
  if (stopping) return false;
  const auto out = lru.admit(slot.version.key, [this](std::uint64_t key) { return in_use(key); });
  if (!out) return false;
  for (const std::uint64_t each : *out) {
    const auto found = slots.find(each);
    bytes -= found->second.bytes;
    leaving.push_back(std::move(found->second.weights));
    slots.erase(found);  // its version is still known to who asks for it
  }
  slot.loading = true;
  (void)pool->submit([state = shared_from_this(), key = slot.version.key, free = std::exchange(leaving, {})]() mutable {
    free.clear();
    state->load(key);
  });
  return true;
}

void AdapterMemory::State::load_next() {
  while (!queue.empty()) {
    const auto found = slots.find(queue.front());
    if (found != slots.end() && !found->second.waiting.empty() && !begin_load(found->second)) return;
    queue.pop_front();
  }
}

void AdapterMemory::State::acquire(const AdapterVersion& version, Then then) {
  std::unique_lock lock(mutex);
  Slot& slot = slot_of(version);
  if (stopping) {
    lock.unlock();
    then(std::unexpected("the server is stopping"));
    return;
  }
  if (slot.weights || !options.load) {
    ServedAdapterPtr adapter = pinned(slot);
    lock.unlock();
    then(std::move(adapter));
    return;
  }
  slot.waiting.push_back(std::move(then));
  if (slot.loading || slot.waiting.size() > 1) return;
  if (!queue.empty() || !begin_load(slot)) queue.push_back(version.key);  // behind those who came before
}

void AdapterMemory::State::load_early(const AdapterVersion& version) {
  const std::lock_guard lock(mutex);
  if (!options.load || stopping || !queue.empty() || !lru.has_room()) return;
  if (Slot& slot = slot_of(version); !slot.weights && !slot.loading) begin_load(slot);
}

void AdapterMemory::State::load(std::uint64_t key) {
  AdapterFilesPtr files;
  {
    const std::lock_guard lock(mutex);
    files = slots.find(key)->second.version.files;  // those that load are not erased
  }
  const auto begun = std::chrono::steady_clock::now();
  auto weights = options.load(files->directory());
  loaded(key, std::move(weights), std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count());
}

void AdapterMemory::State::loaded(std::uint64_t key, std::expected<AdapterWeightsPtr, std::string> weights,
                                  double seconds) {
  Later later;
  std::optional<AdapterVersion> failed;
  {
    const std::lock_guard lock(mutex);
    Slot& slot = slots.find(key)->second;
    slot.loading = false;
    std::vector<Then> waiting = std::exchange(slot.waiting, {});
    if (weights) {
      slot.weights = *weights;
      slot.bytes = model::memory_bytes(**weights);
      bytes += slot.bytes;
      for (Then& each : waiting) later.answers.emplace_back(std::move(each), pinned(slot));
    } else {
      for (Then& each : waiting) later.answers.emplace_back(std::move(each), std::unexpected(weights.error()));
      if (!slot.gone) failed = slot.version;
      erase(key, later);
    }
    erase_if_unused(key, later);
    load_next();
  }
  if (options.loaded) options.loaded(weights.has_value(), seconds);
  if (failed && options.failed) options.failed(*failed, weights.error());
  carry_out(std::move(later));
}

void AdapterMemory::State::erase(std::uint64_t key, Later& later) {
  const auto found = slots.find(key);
  if (found == slots.end()) return;
  bytes -= found->second.bytes;
  if (found->second.gone) later.gone.push_back(key);
  leaving.push_back(std::move(found->second.version.files));
  leaving.push_back(std::move(found->second.weights));
  slots.erase(found);
  lru.erase(key);
}

/// One that is gone, or of which nothing but the directory was wanted.
void AdapterMemory::State::erase_if_unused(std::uint64_t key, Later& later) {
  const auto found = slots.find(key);
  if (found == slots.end() || in_use(key) || !found->second.waiting.empty()) return;
  if (found->second.gone || !options.load) erase(key, later);
}

void AdapterMemory::State::release(std::uint64_t key) {
  Later later;
  {
    const std::lock_guard lock(mutex);
    const auto found = slots.find(key);
    if (--found->second.pins == 0) {
      erase_if_unused(key, later);
      load_next();
    }
  }
  carry_out(std::move(later));
}

void AdapterMemory::State::forget(std::uint64_t key) {
  Later later;
  {
    const std::lock_guard lock(mutex);
    const auto found = slots.find(key);
    if (found == slots.end()) {
      later.gone.push_back(key);
    } else {
      found->second.gone = true;
      erase_if_unused(key, later);
      load_next();
    }
  }
  carry_out(std::move(later));
}

/// Files and weights go on a thread of the pool: a reader's last act must not wait for the disk.
void AdapterMemory::State::carry_out(Later later) {
  std::function<void(std::uint64_t)> gone;
  {
    const std::lock_guard lock(mutex);
    if (!stopping) gone = options.gone;
    if (!leaving.empty() && !stopping) (void)pool->submit([free = std::exchange(leaving, {})] {});
  }
  if (gone)
    for (const std::uint64_t each : later.gone) gone(each);
  for (auto& [then, result] : later.answers) then(std::move(result));
}

void AdapterMemory::State::stop() {
  std::vector<Then> waiting;
  {
    const std::lock_guard lock(mutex);
    stopping = true;
    for (auto& [key, slot] : slots)
      if (!slot.loading) std::ranges::move(std::exchange(slot.waiting, {}), std::back_inserter(waiting));
  }
  for (Then& each : waiting) each(std::unexpected("the server is stopping"));
  pool.reset();  // what loads comes to its end, and answers
}

AdapterMemory::AdapterMemory(MemoryOptions options) : state_(std::make_shared<State>(std::move(options))) {}
AdapterMemory::~AdapterMemory() { state_->stop(); }

void AdapterMemory::acquire(const AdapterVersion& version, Then then) { state_->acquire(version, std::move(then)); }
void AdapterMemory::load_early(const AdapterVersion& version) { state_->load_early(version); }
void AdapterMemory::forget(std::uint64_t key) { state_->forget(key); }

Residency AdapterMemory::residency_of(std::uint64_t key) const {
  const std::lock_guard lock(state_->mutex);
  return state_->lru.residency_of(key);
}

AdapterMemory::Load AdapterMemory::load() const {
  const std::lock_guard lock(state_->mutex);
  return {state_->lru.size(), state_->bytes};
}

}  // namespace stackgate::inference
