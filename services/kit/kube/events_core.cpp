#include "services/kit/kube/events_core.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "services/kit/base/time.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/kube/lease.hpp"

namespace stackgate::kube {
namespace {

constexpr std::size_t most_object_name = 253;  // RFC 1123 subdomain
constexpr std::string_view combined = "(combined from similar events): ";

std::string joined(std::initializer_list<std::string_view> parts) {
  std::string out;
  for (const std::string_view part : parts) out.append(part).push_back('\n');
  return out;
}

}  // namespace

std::string_view event_namespace(const ObjectReference& object) {
  return object.ns.empty() ? std::string_view("default") : std::string_view(object.ns);
}

std::string cut_message(std::string_view text, std::size_t most) {
  constexpr std::string_view mark = "…";
  if (text.size() <= most) return std::string(text);
  std::size_t end = most - mark.size();
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return std::string(text.substr(0, end)).append(mark);
}

/// Replaces the message when its object and reason had many others; returns the key of the Event it belongs to.
std::string EventFolder::fold_similar(EventRecord& record, Time now) {
  const ObjectReference& object = record.object;
  std::string key = joined({object.api_version, object.kind, object.ns, object.name, object.uid, object.field_path,
                            record.type == EventType::warning ? "W" : "N", record.reason});
  if (similar_.size() >= tuning_.most_kept && !similar_.contains(key))
    std::erase_if(similar_, [&](const auto& each) { return now - each.second.last > tuning_.similar_interval; });
  if (similar_.size() >= tuning_.most_kept) similar_.erase(similar_.begin());
  const auto [found, fresh] = similar_.try_emplace(key);
  Similar& similar = found->second;
  if (!fresh && now - similar.last > tuning_.similar_interval) similar.messages.clear();
  similar.last = now;
  const auto most = static_cast<std::size_t>(std::max(tuning_.most_similar, 1));
  if (similar.messages.size() < most || similar.messages.contains(record.message)) {
    similar.messages.insert(record.message);
    return key + record.message;
  }
  record.message = cut_message(std::string(combined) + record.message);
  return key;
}

std::string EventFolder::new_name(const EventRecord& record, WallTime wall) {
  // The time alone is not unique among processes, nor is a seeded counter after a restart.
  seed_ = seed_ * 6364136223846793005U + 1442695040888963407U;
  const auto nanos = static_cast<std::uint64_t>(wall.time_since_epoch() / std::chrono::nanoseconds(1));
  const std::string unique = fmt::format(".{:016x}{:08x}", nanos, static_cast<std::uint32_t>(seed_ >> 32U));
  std::string name = record.object.name.substr(0, most_object_name - unique.size());
  while (!name.empty() && std::isalnum(static_cast<unsigned char>(name.back())) == 0) name.pop_back();
  return (name.empty() ? "unnamed" : name) + unique;
}

EventWrite EventFolder::write(Event& event, Time now) {
  event.raised = false;
  event.written = now;
  return event.write;
}

std::optional<EventWrite> EventFolder::add(EventRecord record, Time now, WallTime wall) {
  record.message = cut_message(record.message);
  const std::string key = fold_similar(record, now);
  auto found = events_.find(key);
  if (found != events_.end() && now - found->second.last > tuning_.forget_after) {
    forget(found->second.write);
    found = events_.end();
  }
  if (found == events_.end()) {
    if (events_.size() >= tuning_.most_kept) drop_least_recent();
    Event event;
    event.write.create = true;
    event.write.name = new_name(record, wall);
    event.write.record = std::move(record);
    event.write.first = event.write.last = wall;
    event.write.key = key;
    event.last = event.written = now;
    event.use = uses_.insert(uses_.end(), key);
    EventWrite out = event.write;
    event.write.create = false;
    events_.emplace(key, std::move(event));
    return out;
  }
  Event& event = found->second;
  uses_.splice(uses_.end(), uses_, event.use);
  event.last = now;
  ++event.write.count;
  event.write.last = wall;
  event.write.record.message = std::move(record.message);
  if (event.raised) return std::nullopt;
  const Time may_write = event.written + tuning_.patch_interval;
  if (now >= may_write) return write(event, now);
  event.raised = true;
  raised_.emplace(may_write, key);
  return std::nullopt;
}

std::vector<EventWrite> EventFolder::due(Time now, bool all) {
  std::vector<EventWrite> out;
  while (!raised_.empty() && (all || raised_.begin()->first <= now)) {
    out.push_back(write(events_.at(raised_.begin()->second), now));
    raised_.erase(raised_.begin());
  }
  return out;
}

std::optional<EventFolder::Time> EventFolder::next_due() const {
  return raised_.empty() ? std::nullopt : std::optional(raised_.begin()->first);
}

void EventFolder::forget(const EventWrite& event) {
  const auto found = events_.find(event.key);
  if (found == events_.end() || found->second.write.name != event.name) return;
  if (found->second.raised) raised_.erase({found->second.written + tuning_.patch_interval, event.key});
  uses_.erase(found->second.use);
  events_.erase(found);
}

void EventFolder::drop_least_recent() { forget(EventWrite(events_.at(uses_.front()).write)); }

std::string event_json(const EventWrite& event, std::string_view component, std::string_view instance) {
  const ObjectReference& object = event.record.object;
  std::string out;
  json::Writer w(out);
  const auto given = [&w](std::string_view key, std::string_view text) {
    if (!text.empty()) w.member(key, text);
  };
  w.object([&] {
    w.member("apiVersion", "v1");
    w.member("kind", "Event");
    w.object("metadata", [&] {
      w.member("namespace", event_namespace(object));
      w.member("name", event.name);
    });
    w.object("involvedObject", [&] {
      w.member("apiVersion", object.api_version);
      w.member("kind", object.kind);
      given("namespace", object.ns);
      w.member("name", object.name);
      given("uid", object.uid);
      given("resourceVersion", object.resource_version);
      given("fieldPath", object.field_path);
    });
    w.member("type", event.record.type == EventType::warning ? "Warning" : "Normal");
    w.member("reason", event.record.reason);
    w.member("message", event.record.message);
    w.member("count", event.count);
    w.member("firstTimestamp", to_rfc3339(event.first));
    w.member("lastTimestamp", to_rfc3339(event.last));
    w.object("source", [&] {
      w.member("component", component);
      given("host", instance);
    });
  });
  return out;
}

std::string event_patch(const EventWrite& event) {
  return json::object_text([&](json::Writer& w) {
    w.member("message", event.record.message);
    w.member("count", event.count);
    w.member("lastTimestamp", to_rfc3339(event.last));
  });
}

}  // namespace stackgate::kube
