#include "reconcile/status/cache.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "reconcile/status/status.hpp"
#include "reconcile/status/workload.hpp"
#include "services/kit/base/time.hpp"
#include "services/kit/json/document.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/value.hpp"

namespace stackgate::reconcile {

namespace {

/// Digits only, and few enough to fit.
std::optional<std::int64_t> bytes_of(std::string_view text) {
  std::int64_t out = 0;
  if (text.empty() || text.front() == '-') return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(out) : std::nullopt;
}

std::vector<Profile> profiles_in(std::span<const json::Value> list) {
  std::vector<Profile> out;
  for (const json::Value& each : list) {
    Profile profile{.name = std::string(json::text(&each, {"name"})),
                    .release = std::string(json::text(&each, {"release"})),
                    .model = std::string(json::text(&each, {"model"})),
                    .config = {}};
    for (const json::Member& member : json::members(&each, {"config"}))
      if (member.value.is_string()) profile.config.emplace(member.key, member.value.string());
    if (!profile.name.empty()) out.push_back(std::move(profile));
  }
  return out;
}

/// From the ConfigMap that the puller writes, see CacheView::report; nothing where it says nothing, or nonsense.
std::optional<Progress> reported_progress(const json::Value* config_map) {
  const auto downloaded = bytes_of(json::text(config_map, {"data", "downloadedBytes"}));
  if (!downloaded) return std::nullopt;
  return Progress{*downloaded, bytes_of(json::text(config_map, {"data", "totalBytes"})).value_or(0)};
}

std::vector<Profile> reported_profiles(const json::Value* config_map) {
  json::Document document;
  const auto list = json::parse(json::text(config_map, {"data", "profiles"}), document);
  return list ? profiles_in(list->items()) : std::vector<Profile>{};
}

/// Why the puller has ended, in its own words.
std::optional<Problem> reported_failure(const json::Value* config_map) {
  const std::string_view reason = json::text(config_map, {"data", "reason"}),
                         message = json::text(config_map, {"data", "message"});
  if (message.empty() || std::ranges::find(puller_reasons, reason) == puller_reasons.end()) return std::nullopt;
  return Problem{.reason = std::string(reason), .message = shortened(message, 512)};
}

/// From the status as it is stored.
std::optional<Progress> stored_progress(const json::Value* status) {
  const json::Value* progress = json::at(status, {"progress"});
  if (progress == nullptr) return std::nullopt;
  return Progress{json::integer(progress, {"downloadedBytes"}), json::integer(progress, {"totalBytes"})};
}

std::vector<Profile> stored_profiles(const json::Value* status) {
  return profiles_in(json::items(status, {"profiles"}));
}

}  // namespace

namespace download {

struct Outcome {
  State state;
  std::string reason, message;
};

bool job_is(const json::Value* job, std::string_view condition) {
  return json::text(condition_of(job, condition), {"status"}) == "True";
}

/// When the model was complete on the claim, or nothing when it never was. Without a Job the stored status decides.
std::optional<std::string_view> filled_at(const CacheView& view) {
  if (job_is(view.job, "Complete")) return json::text(view.job, {"status", "completionTime"});
  if (view.job != nullptr || json::text(view.stored, {"state"}) != to_string(State::ready)) return std::nullopt;
  return json::text(condition_in(view.stored, "Ready"), {"lastTransitionTime"});
}

bool is_newer(const json::Value* claim, std::string_view moment) {
  const auto made = from_rfc3339(json::text(claim, {"metadata", "creationTimestamp"})), then = from_rfc3339(moment);
  return made && then && *made > *then;
}

/// What has become of the claim that a download had filled, or nothing when it is still there.
std::optional<Outcome> loss(const CacheView& view, std::string_view filled) {
  const std::string again =
      view.job == nullptr ? "it is downloaded again" : fmt::format("delete the Job {} to download it again", view.name);
  if (view.claim_missing)
    return Outcome{State::not_ready, "ClaimNotFound",
                   fmt::format("the claim {} with the model is gone; {}", view.claim_name, again)};
  if (view.claim == nullptr) return std::nullopt;
  const auto problem = claim_problem(view.claim, view.claim_name);
  if (problem && problem->reason != "ClaimPending")
    return Outcome{problem->lasting ? State::failed : State::not_ready, problem->reason, problem->message};
  if (is_newer(view.claim, filled))
    return Outcome{
        State::not_ready, "ClaimReplaced",
        fmt::format("the claim {} was made anew after the download and is empty; {}", view.claim_name, again)};
  return std::nullopt;
}

struct Sign {
  std::string_view text, reason, cure;
};
constexpr std::array<Sign, 7> signs{{
    {"401", "Unauthorized", "check the API key in the Secret that authSecret names"},
    {"nauthorized", "Unauthorized", "check the API key in the Secret that authSecret names"},
    {"o space left", "VolumeFull", "make storage.pvc.size larger"},
    {"isk quota exceeded", "VolumeFull", "make storage.pvc.size larger"},
    {"ermission denied", "PermissionDenied", "set userID and groupID to those who may write to the volume"},
    {"EACCES", "PermissionDenied", "set userID and groupID to those who may write to the volume"},
    {"PermissionError", "PermissionDenied", "set userID and groupID to those who may write to the volume"},
}};

bool is_word(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// A number only as a whole word: 401 is a status, 14013 are bytes, and a checksum may begin with it.
bool has_sign(std::string_view message, std::string_view text) {
  const bool number = std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  for (std::size_t at = message.find(text); at != std::string_view::npos; at = message.find(text, at + 1)) {
    const std::size_t end = at + text.size();
    const bool longer = (at > 0 && is_word(message[at - 1])) || (end < message.size() && is_word(message[end]));
    if (!number || !longer) return true;
  }
  return false;
}

/// The pods' own words, and what to do where they are of a known kind.
Problem cause_of(const Problem& problem, const CacheView& view) {
  Problem out = problem;
  if (out.reason != "ContainerFailed") return out;
  // Its message has the cure in it already.
  if (auto reported = reported_failure(view.report)) {
    out.reason = std::move(reported->reason);
    return out;
  }
  out.reason = "DownloadFailed";
  for (const Sign& sign : signs) {
    if (!has_sign(out.message, sign.text)) continue;
    out.reason = sign.reason;
    out.message += fmt::format("; {}", sign.cure);
    break;
  }
  return out;
}

Outcome failed(const CacheView& view) {
  const std::string again = fmt::format("; then delete the Job {} to try again", view.name);
  if (const Problem* problem = worst_problem(view.pods)) {
    const Problem cause = cause_of(*problem, view);
    return {State::failed, cause.reason, cause.message + again};
  }
  // Its pods are gone: what they said is in the stored status, unless that speaks of something else.
  const json::Value* stored = condition_in(view.stored, "Ready");
  if (const std::string_view message = json::text(stored, {"message"});
      json::text(view.stored, {"state"}) == to_string(State::failed) && message.ends_with(again))
    return {State::failed, std::string(json::text(stored, {"reason"})), std::string(message)};
  if (const auto reported = reported_failure(view.report))
    return {State::failed, reported->reason, reported->message + again};
  return {
      State::failed, "DownloadFailed",
      fmt::format("the download has failed: {}{}", json::text(condition_of(view.job, "Failed"), {"message"}), again)};
}

Outcome retrying(const CacheView& view, std::int64_t failures) {
  const Problem* problem = worst_problem(view.pods);
  return {State::in_progress, "Retrying",
          fmt::format("try {} of {} has failed{}{}; it is tried again", failures, std::max(view.tries, failures),
                      problem == nullptr ? "" : ": ", problem == nullptr ? "" : cause_of(*problem, view).message)};
}

Outcome under_way(const CacheView& view) {
  if (!json::text(view.job, {"metadata", "deletionTimestamp"}).empty())
    return {State::pending, "Terminating", fmt::format("the Job {} is being deleted", view.name)};
  if (json::flag(view.job, {"spec", "suspend"}))
    return {State::pending, "Suspended", fmt::format("the Job {} is suspended", view.name)};
  // The Job's own count comes a moment after the pod's end: without a look at the pods the state would flap then.
  const auto pods = [&view](std::string_view phase) {
    return std::ranges::count_if(view.pods, [&](const PodFacts& pod) { return pod.phase == phase && !pod.deleting; });
  };
  const std::int64_t failures = std::max<std::int64_t>(json::integer(view.job, {"status", "failed"}), pods("Failed"));
  if (failures > 0) return retrying(view, failures);
  if (pods("Running") > 0 || pods("Succeeded") > 0)
    return {State::in_progress, "Downloading", "the model is being downloaded"};
  if (const Problem* problem = worst_problem(view.pods))
    return {problem->lasting ? State::failed : State::pending, problem->reason, problem->message};
  if (const auto problem = view.claim == nullptr ? std::nullopt : claim_problem(view.claim, view.claim_name);
      problem && problem->reason == "ClaimTerminating")
    return {State::pending, problem->reason, problem->message};
  if (const auto problem = claim_problem(nullptr, view.claim_name);
      problem && view.claim_missing && !view.claim_is_made)
    return {State::pending, "ClaimNotFound", problem->message};
  if (std::ranges::any_of(view.pods, [](const PodFacts& pod) { return pod.scheduled && !pod.deleting; }))
    return {State::started, "Starting", "the download pod is being started"};
  // Not Started yet: it would have to be taken back when no node takes the pod.
  if (view.claim != nullptr && view.claim_is_made)
    return {State::pvc_created, "ClaimCreated", fmt::format("the claim {} is there", view.claim_name)};
  return {State::pending, "Starting", "the download pod is being started"};
}

Outcome outcome_of(const CacheView& view) {
  const auto lasting = std::ranges::find(view.blockers, true, &Problem::lasting);
  if (lasting != view.blockers.end()) return {State::failed, lasting->reason, lasting->message};
  if (const auto filled = filled_at(view)) {
    if (auto lost = loss(view, *filled)) return *std::move(lost);
    return {State::ready, "Downloaded", fmt::format("the model is on the claim {}", view.claim_name)};
  }
  if (job_is(view.job, "Failed")) return failed(view);
  if (view.claim != nullptr)
    if (const auto problem = claim_problem(view.claim, view.claim_name); problem && problem->lasting)
      return {State::failed, problem->reason, problem->message};
  if (view.job != nullptr) return under_way(view);
  if (!view.blockers.empty()) return {State::pending, view.blockers.front().reason, view.blockers.front().message};
  if (view.claim != nullptr && view.claim_is_made)
    return {State::pvc_created, "ClaimCreated", fmt::format("the claim {} is there", view.claim_name)};
  return {State::pending, "Creating", "the download is being prepared"};
}

}  // namespace download

Status cache_status(const CacheView& view) {
  const download::Outcome outcome = download::outcome_of(view);
  Status status{.state = outcome.state};
  status.conditions.push_back(ready_condition(outcome.state, outcome.reason, outcome.message));
  status.pvc = view.claim_name;
  const bool has_begun = outcome.state == State::in_progress || outcome.state == State::ready ||
                         outcome.state == State::not_ready || outcome.state == State::failed;
  if (!has_begun) return status;
  status.progress = reported_progress(view.report);
  status.profiles = reported_profiles(view.report);
  // A report that was deleted does not undo the download.
  if (outcome.state == State::ready && !status.progress) status.progress = stored_progress(view.stored);
  if (outcome.state == State::ready && status.profiles.empty()) status.profiles = stored_profiles(view.stored);
  return status;
}

bool needs_job(const CacheView& view) {
  if (view.job != nullptr) return true;
  const auto filled = download::filled_at(view);
  if (!filled) return true;
  const auto lost = download::loss(view, *filled);
  return lost && lost->state != State::failed;
}

}  // namespace stackgate::reconcile
