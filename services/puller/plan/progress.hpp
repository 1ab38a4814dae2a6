// How far a pull is, as it is told: a line of JSON each second, a bar on a terminal, the data of a ConfigMap. And
// whether there is room for the rest. Pure and thread-safe.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "services/puller/plan/failure.hpp"

namespace stackgate::puller {

/// Bytes; a total of 0 is not known yet.
struct Progress {
  std::uint64_t downloaded = 0, total = 0;
  std::string file{};  // one of those under way
};

int percent(const Progress& progress);
/// {"downloadedBytes":1,"totalBytes":2,"percent":50,"file":"…"}, without a line's end.
std::string progress_line(const Progress& progress);
/// "[#####.....]  50 % 1.0 of 2.0 GB  12.3 MB/s  model.safetensors", `columns` wide at most; a rate in bytes a second.
std::string progress_bar(const Progress& progress, double rate, std::size_t columns);

/// What the ConfigMap says of the model once it is whole: an entry of status.profiles.
struct Pulled {
  std::string model, revision;
};
/// A merge patch of the ConfigMap that the reconciler reads (reconcile/plan/CONTRACT.md). `failure` adds why it ended;
/// without one an earlier reason is taken out.
std::string report_patch(const Progress& progress, const std::optional<Failure>& failure,
                         const std::optional<Pulled>& pulled);

/// Whether `missing` bytes and one in a hundred more fit into `free`; the failure says how many are wanted.
std::optional<Failure> fault_of_space(std::uint64_t missing, std::uint64_t free, std::string_view where);

}  // namespace stackgate::puller
