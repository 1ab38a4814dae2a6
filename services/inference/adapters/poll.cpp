// The source asked again and again; what it has fetched, checked and put to use.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "services/inference/adapters/store_impl.hpp"
#include "services/kit/base/backoff.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/base/utf8.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::inference {
namespace {

using namespace std::chrono_literals;

constexpr unsigned most_fetches = 2;                           // at once
constexpr std::size_t most_shown = 100, longest_reason = 200;  // of a metric
constexpr std::chrono::milliseconds longest_backoff = 60s, scanned_once = 24h;

/// As a value of a label: short, and whole characters.
std::string shown(std::string_view reason) {
  std::size_t end = 0;
  while (end < reason.size()) {
    const std::size_t length = utf8::sequence_length(reason.substr(end));
    if (length == 0 || end + length > longest_reason) break;
    end += length;
  }
  return std::string(reason.substr(0, end));
}

std::string versioned(const AdapterRecord& record) {
  return record.version.empty() ? record.name : fmt::format("{}@{}", record.name, record.version);
}

}  // namespace

std::chrono::milliseconds AdapterStore::Impl::poll(const std::stop_token& stop) {
  list(stop);
  start_due();
  return until_next_poll();
}

void AdapterStore::Impl::list(const std::stop_token& stop) {
  const auto got = source->list(stop);
  if (stop.stop_requested()) return;
  const std::string fault = !got ? got.error() : *got ? (*got)->fault : "";
  std::vector<CatalogueEntry> gone;
  bool tell = false;
  {
    const std::lock_guard lock(mutex);
    list_failures = got ? 0 : list_failures + 1;
    if (got && *got) gone = catalogue.take((*got)->records, (*got)->fault.empty());
    // A 304 says nothing new of a list with a fault: that one has no ETag.
    tell = fault != list_fault;
    list_fault = fault;
  }
  if (tell && !fault.empty())
    log::warning("the list of adapters is not whole: nothing is removed",
                 {{"source", options.source}, {"reason", fault}});
  if (tell && fault.empty()) log::info("the list of adapters is whole again", {{"source", options.source}});
  metrics.polls.at({!got ? "failed" : *got ? "changed" : "unchanged"}).add();
  if (got) {
    listed = true;
    metrics.last_list.set(std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count());
  }
  drop(gone);
}

std::chrono::milliseconds AdapterStore::Impl::until_next_poll() {
  const std::lock_guard lock(mutex);
  const bool is_directory = !options.source.starts_with("http");
  std::chrono::milliseconds wait = options.refresh_interval.value_or(30s);
  if (list_failures > 0)
    wait =
        backoff_wait({.first = std::max<std::chrono::milliseconds>(wait, 1s), .most = std::max(wait, longest_backoff)},
                     static_cast<int>(list_failures) - 1, Jitter::draw());
  else if (is_directory && !options.refresh_interval)
    wait = scanned_once;
  else
    wait = std::chrono::duration_cast<std::chrono::milliseconds>(wait * (0.9 + 0.2 * Jitter::draw()));
  if (const auto due = catalogue.next_due())
    wait = std::min(wait, std::chrono::ceil<std::chrono::milliseconds>(*due - std::chrono::steady_clock::now()));
  return std::max<std::chrono::milliseconds>(wait, 50ms);
}

void AdapterStore::Impl::start_due() {
  const std::lock_guard lock(mutex);
  if (stopping.stop_requested()) return;
  for (const std::string& id : catalogue.begin_due(std::chrono::steady_clock::now(), most_fetches - fetching)) {
    ++fetching;
    (void)fetchers->submit([this, id, record = catalogue.of(id)->record] { fetch(id, record); });
  }
}

void AdapterStore::Impl::fetch(const std::string& id, const AdapterRecord& record) {
  auto version = get(record);
  const bool stopped = stopping.stop_requested();
  if (!stopped) metrics.fetches.at({version ? "ok" : "failed"}).add();
  if (version)
    keep(id, std::move(*version));
  else if (!stopped)
    fail(id, version.error());
  {
    const std::lock_guard lock(mutex);
    --fetching;
  }
  start_due();
}

std::expected<AdapterVersion, FetchFailure> AdapterStore::Impl::get(const AdapterRecord& record) {
  const std::string part = TRY(cache->begin(record.id));
  const auto failed = [&](FetchFailure why) {
    cache->abandon(part);
    return std::unexpected(std::move(why));
  };
  if (const auto fetched = source->fetch(record, part, stopping.get_token()); !fetched) return failed(fetched.error());
  if (options.fail_point) options.fail_point("fetched");
  auto checked = options.check(part);
  if (!checked) return failed({checked.error()});
  auto files = cache->publish(part, record, options.source, true);
  if (!files) return failed(files.error());
  return AdapterVersion{.record = record, .checked = std::move(*checked), .files = std::move(*files)};
}

void AdapterStore::Impl::keep(const std::string& id, AdapterVersion version) {
  std::vector<CatalogueEntry> gone;
  AdapterFilesPtr before;
  unsigned failures = 0;
  bool wanted = false;
  {
    const std::lock_guard lock(mutex);
    const CatalogueEntry* const entry = catalogue.of(id);
    // Gone meanwhile, or gone and back, which another fetch looks after.
    wanted = entry != nullptr && entry->under_way && entry->record == version.record;
    if (wanted) {
      failures = entry->failures;
      version.key = entry->key;
      gone = catalogue.succeeded(id, version.checked.rank);
      before = std::exchange(versions[version.key], version).files;
    } else if (entry != nullptr && entry->under_way) {
      catalogue.failed(id, "its record changed while it was fetched", std::chrono::steady_clock::now(), true);
    }
  }
  if (!wanted) return cache->drop(version.files);
  if (before) cache->drop(before);
  log::info(failures > 0 ? "an adapter can be served again" : "an adapter can be served",
            {{"adapter", versioned(version.record)},
             {"id", id},
             {"rank", version.checked.rank},
             {"source", version.record.source}});
  for (const std::string& each : version.checked.warnings)
    log::warning("an adapter may not answer as its trainer thinks",
                 {{"adapter", versioned(version.record)}, {"warning", each}});
  memory->load_early(version);
  drop(gone);
}

void AdapterStore::Impl::fail(const std::string& id, const FetchFailure& why) {
  std::string name;
  bool first = false;
  {
    const std::lock_guard lock(mutex);
    const CatalogueEntry* const entry = catalogue.of(id);
    if (entry == nullptr) return;
    first = entry->failures == 0 || entry->reason != why.reason;
    name = versioned(entry->record);
    catalogue.failed(id, why.reason, std::chrono::steady_clock::now(), why.passing);
  }
  if (first) log::warning("an adapter cannot be served", {{"adapter", name}, {"id", id}, {"reason", why.reason}});
  note_states();
}

void AdapterStore::Impl::drop(const std::vector<CatalogueEntry>& gone) {
  for (const CatalogueEntry& each : gone) {
    AdapterFilesPtr files;
    {
      const std::lock_guard lock(mutex);
      const auto found = versions.find(each.key);
      if (found == versions.end()) continue;
      files = std::move(found->second.files);
      versions.erase(found);
    }
    cache->drop(files);
    log::info("an adapter is gone", {{"adapter", versioned(each.record)}, {"id", each.record.id}});
    files.reset();
    memory->forget(each.key);
  }
  note_states();
}

void AdapterStore::Impl::note_states() {
  std::map<Fitness, double> counts;
  std::vector<metrics::Point> failing;
  {
    const std::lock_guard lock(mutex);
    for (const auto& [id, entry] : catalogue.entries()) {
      ++counts[entry.fitness];
      if (entry.reason.empty() || failing.size() >= most_shown) continue;
      failing.push_back({.labels = {entry.record.name, entry.record.version, shown(entry.reason)},
                         .value = static_cast<double>(entry.failures)});
    }
  }
  {
    const std::lock_guard lock(metrics.failing->mutex);
    metrics.failing->points = std::move(failing);
  }
  const auto [adapters, bytes] = memory->load();
  metrics.in_memory.set(static_cast<double>(adapters));
  metrics.memory_bytes.set(static_cast<double>(bytes));
  for (const Fitness each : {Fitness::pending, Fitness::fit, Fitness::failing, Fitness::refused})
    metrics.adapters.at({to_string(each)}).set(counts[each]);
}

}  // namespace stackgate::inference
