#include "services/inference/adapters/catalogue/catalogue.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "services/kit/base/semantic_version.hpp"
#include "services/kit/peft/compatibility.hpp"

namespace stackgate::inference {
namespace {

/// Versions that are semantic before others, those by their order, the others as texts.
bool is_older(const AdapterRecord& a, const AdapterRecord& b) {
  const auto left = parse_semantic_version(a.version), right = parse_semantic_version(b.version);
  if (left && right)
    if (const auto order = compare(*left, *right); order != 0) return order < 0;
  if (left.has_value() != right.has_value()) return right.has_value();
  return std::tie(a.version, b.created_at, b.id) < std::tie(b.version, a.created_at, a.id);
}

using NameAndVersion = std::pair<std::string_view, std::string_view>;
NameAndVersion name_and_version(const AdapterRecord& record) { return {record.name, record.version}; }

std::string versioned(const AdapterRecord& record) { return fmt::format("{}@{}", record.name, record.version); }

}  // namespace

std::string_view to_string(Fitness fitness) {
  switch (fitness) {
    case Fitness::pending:
      return "pending";
    case Fitness::fit:
      return "ready";
    case Fitness::failing:
      return "failing";
    case Fitness::refused:
      break;
  }
  return "refused";
}

std::chrono::minutes quarantine(unsigned failures) {
  return std::chrono::minutes(failures == 0 ? 0 : failures > 6 ? 60 : std::min(60, 1 << (failures - 1)));
}

std::chrono::seconds pause_after(unsigned failures) { return std::chrono::seconds(failures > 5 ? 60 : 1 << failures); }

bool Catalogue::is_for_another_base(const AdapterRecord& record) const {
  return !base_models_.empty() && !record.base_model.empty() &&
         std::ranges::all_of(base_models_, [&](const std::string& each) {
           return peft::compare_models(record.base_model, each) == peft::SameModel::different;
         });
}

CatalogueEntry& Catalogue::add(AdapterRecord record) {
  CatalogueEntry& entry = entries_[record.id];
  entry = {.record = std::move(record), .key = next_key_++};
  return entry;
}

std::vector<CatalogueEntry> Catalogue::drop_if(auto&& goes) {
  std::vector<CatalogueEntry> out;
  for (auto at = entries_.begin(); at != entries_.end();) {
    const bool gone = goes(at->second);
    if (gone) out.push_back(std::move(at->second));
    at = gone ? entries_.erase(at) : std::next(at);
  }
  judge_names();
  index_names();
  return out;
}

std::vector<CatalogueEntry> Catalogue::drop_unlisted() {
  // A fit one that is not listed any more stays while a listed one of its name and version is not fit yet.
  std::set<NameAndVersion> awaited;
  for (const auto& [id, entry] : entries_)
    if (entry.listed && entry.fitness != Fitness::fit) awaited.insert(name_and_version(entry.record));
  return drop_if([&](const CatalogueEntry& each) {
    return !each.listed && !(each.fitness == Fitness::fit && awaited.contains(name_and_version(each.record)));
  });
}

std::vector<CatalogueEntry> Catalogue::take(std::span<const AdapterRecord> records, bool whole) {
  left_out_ = 0;
  std::set<std::string_view> listed;
  for (const AdapterRecord& each : records) {
    if (is_for_another_base(each)) {
      ++left_out_;
      continue;
    }
    listed.insert(each.id);
    const auto known = entries_.find(each.id);
    if (known == entries_.end()) {
      add(each);
      continue;
    }
    CatalogueEntry& entry = known->second;
    entry.listed = true;
    if (entry.record == each) continue;
    entry.record = each;
    if (entry.fitness == Fitness::failing) {
      entry.fitness = Fitness::pending;
      entry.failures = 0;
    }
  }
  if (whole)
    for (auto& [id, entry] : entries_) entry.listed = entry.at_run_time || listed.contains(id);
  return drop_unlisted();
}

void Catalogue::add_fit(AdapterRecord record, std::uint32_t rank) {
  CatalogueEntry& entry = add(std::move(record));
  entry.fitness = Fitness::fit;
  entry.rank = rank;
  judge_names();
  index_names();
}

std::vector<CatalogueEntry> Catalogue::add_at_run_time(AdapterRecord record, std::uint32_t rank) {
  const std::string id = record.id, name = record.name;
  CatalogueEntry& entry = add(std::move(record));
  entry.at_run_time = true;
  entry.fitness = Fitness::fit;
  entry.rank = rank;
  return drop_if(
      [&](const CatalogueEntry& each) { return each.at_run_time && each.record.name == name && each.record.id != id; });
}

std::optional<CatalogueEntry> Catalogue::remove(std::string_view id) {
  auto gone = drop_if([&](const CatalogueEntry& each) { return each.record.id == id; });
  return gone.empty() ? std::nullopt : std::optional(std::move(gone.front()));
}

std::vector<std::string> Catalogue::begin_due(Time now, std::size_t most) {
  std::vector<std::string> out;
  for (auto& [id, entry] : entries_) {
    if (out.size() == most) break;
    const bool due =
        entry.fitness == Fitness::pending || (entry.fitness == Fitness::failing && entry.next_attempt <= now);
    if (!due || entry.under_way || entry.at_run_time || !entry.listed) continue;
    entry.under_way = true;
    out.push_back(id);
  }
  return out;
}

void Catalogue::retry_now() {
  for (auto& [id, entry] : entries_) entry.next_attempt = {};
}

std::optional<Catalogue::Time> Catalogue::next_due() const {
  std::optional<Time> out;
  for (const auto& [id, entry] : entries_)
    if (entry.fitness == Fitness::failing && !entry.under_way && !entry.at_run_time)
      out = out ? std::min(*out, entry.next_attempt) : entry.next_attempt;
  return out;
}

std::vector<CatalogueEntry> Catalogue::succeeded(std::string_view id, std::uint32_t rank) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return {};
  CatalogueEntry& entry = found->second;
  entry.under_way = false;
  entry.fitness = Fitness::fit;
  entry.failures = 0;
  entry.reason.clear();
  entry.rank = rank;
  return drop_unlisted();
}

void Catalogue::failed(std::string_view id, std::string reason, Time now, bool passing) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return;
  CatalogueEntry& entry = found->second;
  entry.under_way = false;
  entry.fitness = Fitness::failing;
  ++entry.failures;
  entry.next_attempt = now + (passing ? pause_after(entry.failures) : quarantine(entry.failures));
  entry.reason = std::move(reason);
  index_names();
}

void Catalogue::judge_names() {
  std::map<NameAndVersion, const AdapterRecord*> first;  // who was registered first has the name
  for (const auto& [id, entry] : entries_) {
    if (!entry.listed) continue;
    const AdapterRecord*& at = first[name_and_version(entry.record)];
    if (at == nullptr || std::tie(entry.record.created_at, id) < std::tie(at->created_at, at->id)) at = &entry.record;
  }
  for (auto& [id, entry] : entries_) {
    std::string fault;
    if (const AdapterRecord* const other = entry.listed ? first[name_and_version(entry.record)] : &entry.record;
        other != &entry.record)
      fault = fmt::format("the adapter {} has this name and version already", other->id);
    for (const std::string& base : base_names_)
      if (base == entry.record.name || base == versioned(entry.record))
        fault = fmt::format("the base model is called \"{}\": register it under another name", base);
    if (!fault.empty()) {
      entry.fitness = Fitness::refused;
      entry.reason = std::move(fault);
    } else if (entry.fitness == Fitness::refused) {
      entry.fitness = Fitness::pending;
      entry.reason.clear();
    }
  }
}

void Catalogue::index_names() {
  names_.clear();
  const auto offer = [&](std::string name, const CatalogueEntry& entry) {
    const CatalogueEntry*& at = names_[std::move(name)];
    const bool fit = entry.fitness == Fitness::fit;
    if (at == nullptr || (fit != (at->fitness == Fitness::fit) ? fit : is_older(at->record, entry.record))) at = &entry;
  };
  for (const auto& [id, entry] : entries_) {
    if (entry.fitness == Fitness::refused) continue;
    offer(entry.record.name, entry);
    if (!entry.record.version.empty()) offer(versioned(entry.record), entry);
  }
}

const CatalogueEntry* Catalogue::find(std::string_view name) const {
  const auto found = names_.find(name);
  return found == names_.end() ? nullptr : found->second;
}

const CatalogueEntry* Catalogue::of(std::string_view id) const {
  const auto found = entries_.find(id);
  return found == entries_.end() ? nullptr : &found->second;
}

}  // namespace stackgate::inference
