// Which adapters there are and how they fare, as a function of what sources list and of how attempts to get them end.
// Pure: the time is given. Not thread-safe.
//
//   listed → pending → fit ──────────────┐
//              │  ↑                      ├→ gone: not listed any more (take(), succeeded() return it)
//              ↓  │ 1, 2, 4 … 60 min     │
//            failing (a reason) ─────────┘        refused (a reason): its name is taken
#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/inference/adapters/catalogue/record.hpp"

namespace stackgate::inference {

enum class Fitness : std::uint8_t {
  pending,  // not looked at yet
  fit,      // checked and on the disk
  failing,  // could not be had, or does not fit the base; tried again at `next_attempt`
  refused,  // by its name
};
std::string_view to_string(Fitness fitness);

struct CatalogueEntry {
  using Time = std::chrono::steady_clock::time_point;

  AdapterRecord record;
  std::uint64_t key = 0;  // unique in this process; a record that comes back has another one
  Fitness fitness = Fitness::pending;
  bool under_way = false;  // somebody gets it
  bool listed = true;      // false: kept until what has taken its place is fit
  bool at_run_time = false;
  unsigned failures = 0;  // in a row
  Time next_attempt{};    // failing
  std::string reason{};   // failing, refused
  std::uint32_t rank = 0;
};

/// How long a version rests after so many failures in a row.
std::chrono::minutes quarantine(unsigned failures);
/// The same after failures that are not the version's fault: 2, 4, 8 … 60 s.
std::chrono::seconds pause_after(unsigned failures);

class Catalogue {
 public:
  using Time = CatalogueEntry::Time;
  using Entries = std::map<std::string, CatalogueEntry, std::less<>>;  // by id

  /// `base_names`: what the base model answers to, which no adapter may be called; adapters for a model that is called
  /// otherwise than each of `base_models` are left out.
  Catalogue(std::vector<std::string> base_names, std::vector<std::string> base_models)
      : base_names_(std::move(base_names)), base_models_(std::move(base_models)) {}

  /// A list that a source has given. Only a whole one removes. A version that has another id than before (its folder
  /// was written anew) is kept until the new one is fit. What is returned is gone.
  std::vector<CatalogueEntry> take(std::span<const AdapterRecord> records, bool whole);
  /// What is on the disk already.
  void add_fit(AdapterRecord record, std::uint32_t rank);
  /// One that no list has, checked already; nothing takes it away but remove() and the next one of its name. What is
  /// returned was replaced and is gone.
  std::vector<CatalogueEntry> add_at_run_time(AdapterRecord record, std::uint32_t rank);
  std::optional<CatalogueEntry> remove(std::string_view id);

  /// Up to `most` ids to be got now, marked as under way until succeeded() or failed().
  std::vector<std::string> begin_due(Time now, std::size_t most);
  /// Those that rest are due now.
  void retry_now();
  std::optional<Time> next_due() const;
  /// What is returned was replaced and is gone. No effect on ids that are gone themselves.
  std::vector<CatalogueEntry> succeeded(std::string_view id, std::uint32_t rank);
  /// `passing`: not the version's fault (no answer, a full disk); it rests for seconds instead of minutes.
  void failed(std::string_view id, std::string reason, Time now, bool passing = false);

  /// Who answers to `name` or `name@version`: the fit one of the highest version, or else one that is not fit (yet);
  /// nullptr: nobody.
  const CatalogueEntry* find(std::string_view name) const;
  const CatalogueEntry* of(std::string_view id) const;
  const Entries& entries() const { return entries_; }
  /// What find() finds, by name.
  const std::map<std::string, const CatalogueEntry*, std::less<>>& names() const { return names_; }
  /// Adapters of other base models in the last list.
  std::size_t left_out() const { return left_out_; }

 private:
  bool is_for_another_base(const AdapterRecord& record) const;
  CatalogueEntry& add(AdapterRecord record);
  std::vector<CatalogueEntry> drop_if(auto&& goes);
  std::vector<CatalogueEntry> drop_unlisted();
  void judge_names();
  void index_names();

  std::vector<std::string> base_names_, base_models_;
  Entries entries_;
  std::map<std::string, const CatalogueEntry*, std::less<>> names_;
  std::uint64_t next_key_ = 1;  // 0 is the base
  std::size_t left_out_ = 0;
};

}  // namespace stackgate::inference
