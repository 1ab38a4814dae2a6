// What is stored of a status. The limits count bytes where the CRDs count characters, and are otherwise those of
// crds/source/fragments/status.yaml and inferencecaches.yaml.
#include <algorithm>
#include <limits>
#include <set>

#include "reconcile/status/status.hpp"
#include "services/kit/base/ascii.hpp"
#include "services/kit/base/utf8.hpp"
#include "services/kit/json/document.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::reconcile {
namespace {

constexpr std::size_t most_conditions = 32, most_services = 32, most_profiles = 256, most_properties = 64;
constexpr std::size_t reason_limit = 1024, message_limit = 32768;
constexpr std::size_t name_limit = 253, property_limit = 1024;

/// Names and keys are stored as they are or not at all. What is not UTF-8 would become something else, twice the same
/// perhaps.
bool is_name(std::string_view text) { return !text.empty() && text.size() <= name_limit && utf8::is_valid(text); }

bool is_word(char c) { return ascii::is_alphanumeric(c) || c == '_'; }

/// ^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$, whatever somebody hands in.
std::string as_reason(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, reason_limit))
    if (is_word(c) || c == ',' || c == ':') out += c;
  while (!out.empty() && !is_word(out.back())) out.pop_back();
  const auto letter = std::ranges::find_if(out, [](char c) { return is_word(c) && c != '_' && (c < '0' || c > '9'); });
  out.erase(out.begin(), letter);
  return out.empty() ? "Unknown" : out;
}

/// "2026-11-21T05:43:16Z", as far as the API server would refuse another.
bool is_time(std::string_view text) {
  constexpr std::string_view shape = "0000-00-00T00:00:00";
  if (text.size() <= shape.size()) return false;
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (shape[i] == '0' ? text[i] < '0' || text[i] > '9' : text[i] != shape[i]) return false;
  return true;
}

std::string_view transition_time(const Condition& condition, const json::Value* stored, std::string_view now) {
  const json::Value* held = condition_in(stored, condition.type);
  const std::string_view time = json::text(held, {"lastTransitionTime"});
  return json::text(held, {"status"}) == condition.status && is_time(time) ? time : now;
}

void write_conditions(json::Writer& w, const Status& status, std::int64_t generation, const json::Value* stored,
                      std::string_view now) {
  std::set<std::string_view> types;
  w.array("conditions", [&] {
    for (const Condition& each : status.conditions) {
      if (!is_name(each.type) || types.size() == most_conditions || !types.insert(each.type).second) continue;
      w.object([&] {
        w.member("type", each.type);
        w.member("status", each.status);
        w.member("observedGeneration", generation);
        w.member("lastTransitionTime", transition_time(each, stored, now));
        w.member("reason", as_reason(each.reason));
        w.member("message", shortened(each.message, message_limit));
      });
    }
  });
}

int percent_of(const Progress& progress) {
  if (progress.downloaded_bytes >= progress.total_bytes) return 100;
  const double share = static_cast<double>(progress.downloaded_bytes) / static_cast<double>(progress.total_bytes);
  return std::clamp(static_cast<int>(share * 100.0), 0, 99);  // 100 is for all of it
}

void write_progress(json::Writer& w, Progress progress) {
  progress.downloaded_bytes = std::max<std::int64_t>(progress.downloaded_bytes, 0);
  progress.total_bytes = std::max<std::int64_t>(progress.total_bytes, 0);
  w.object("progress", [&] {
    w.member("downloadedBytes", progress.downloaded_bytes);
    w.member("totalBytes", progress.total_bytes);
    if (progress.total_bytes > 0) w.member("percent", percent_of(progress));
  });
}

void write_profile(json::Writer& w, const Profile& profile) {
  w.object([&] {
    w.member("name", profile.name);
    if (!profile.release.empty()) w.member("release", shortened(profile.release, name_limit));
    if (!profile.model.empty()) w.member("model", shortened(profile.model, name_limit));
    if (profile.config.empty()) return;
    std::size_t left = most_properties;
    w.object("config", [&] {
      for (const auto& [key, value] : profile.config)
        if (left != 0 && is_name(key)) --left, w.member(key, shortened(value, property_limit));
    });
  });
}

void write_profiles(json::Writer& w, const std::vector<Profile>& profiles) {
  std::set<std::string_view> names;
  w.array("profiles", [&] {
    for (const Profile& each : profiles) {
      if (is_name(each.name) && names.size() < most_profiles && names.insert(each.name).second) write_profile(w, each);
    }
  });
}

void write_services(json::Writer& w, const std::map<std::string, std::string>& services) {
  std::size_t left = most_services;
  w.object("services", [&] {
    for (const auto& [name, word] : services) {
      if (left == 0 || !is_name(name)) continue;
      --left;
      const std::optional<State> state = state_named(word);
      const bool known = state && std::ranges::count(states_of(crds::Kind::inference_service), *state) != 0;
      w.member(name, known ? std::string_view(word) : to_string(State::unknown));
    }
  });
}

std::string whole_status(const Status& status, std::int64_t generation, const json::Value* stored,
                         std::string_view now) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  generation = std::max<std::int64_t>(generation, 0);
  return json::object_text([&](json::Writer& w) {
    w.member("observedGeneration", generation);
    w.member("state", to_string(status.state));
    write_conditions(w, status, generation, stored, now);
    if (status.available_replicas)
      w.member("availableReplicas", std::clamp<std::int64_t>(*status.available_replicas, 0, most));
    if (is_name(status.pvc)) w.member("pvc", status.pvc);
    if (status.progress) write_progress(w, *status.progress);
    if (!status.profiles.empty()) write_profiles(w, status.profiles);
    if (!status.services.empty()) write_services(w, status.services);
  });
}

/// RFC 7386: `wanted` as it is, and null for each member that only `stored` has.
void write_patch(json::Writer& w, const json::Value& wanted, const json::Value& stored) {
  w.object([&] {
    for (const json::Member& each : wanted.members()) {
      w.key(each.key);
      const json::Value* old = stored.find(each.key);
      if (each.value.is_object() && old != nullptr)
        write_patch(w, each.value, *old);
      else
        w.value(each.value);
    }
    for (const json::Member& each : stored.members())
      if (wanted.find(each.key) == nullptr) w.member(each.key, nullptr);
  });
}

}  // namespace

std::string status_json(const Status& status, std::int64_t generation, const json::Value* stored,
                        std::string_view now) {
  std::string whole = whole_status(status, generation, stored, now);
  json::Document document;
  const auto wanted = json::parse(whole, document);
  if (stored == nullptr || !wanted) return whole;
  if (json::equal(*wanted, *stored)) return {};
  std::string out;
  json::Writer w(out);
  write_patch(w, *wanted, *stored);
  return out;
}

}  // namespace stackgate::reconcile
