// From objects of the cluster to what is seen of a customization. Pure.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "services/customizer/runs/cluster/object_store.hpp"
#include "services/customizer/runs/executor.hpp"

namespace stackgate::customizer {

/// `own`: the group of its id; `model`: that of its model's Job.
Seen seen_of(const Work& work, const JobSetup& setup, const ObjectStore::Objects& own,
             const ObjectStore::Objects& model);

/// The claim is there, and stays.
bool has_claim(const ObjectStore::Objects& own);

/// The Job of a stage's attempt; nullptr: it is not there.
KeptPtr job_of(const ObjectStore::Objects& own, const JobSetup& setup, std::string_view id, Stage stage,
               std::uint32_t attempt);

/// The pods of a stage's attempt, by name: the first one's log is the stage's.
ObjectStore::Objects pods_of(const ObjectStore::Objects& own, Stage stage, std::uint32_t attempt);
std::string_view phase_of(const Kept& pod);

}  // namespace stackgate::customizer
