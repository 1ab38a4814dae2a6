// Which records become Events and which only raise the count of one: what client-go's correlator does.
//   the same object, reason and message again  → one Event whose count grows, patched at most once a minute
//   more than ten different messages of one object and reason within ten minutes → one Event for all that follow
// Source: https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/
// Pure; not thread-safe.
#pragma once
#include <chrono>
#include <cstdint>
#include <list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace stackgate::kube {

/// The object an Event is about. For a cluster-wide object `ns` is empty; its Events are in "default".
struct ObjectReference {
  std::string api_version, kind, ns, name, uid;
  std::string resource_version, field_path;  // may be empty
};

enum class EventType : std::uint8_t { normal, warning };

struct EventRecord {
  ObjectReference object;
  EventType type = EventType::normal;
  std::string reason, message;
};

struct EventTuning {
  std::chrono::milliseconds patch_interval{60'000};
  int most_similar = 10;                                // messages of one object and reason …
  std::chrono::milliseconds similar_interval{600'000};  // … of which no two are further apart than this
  std::size_t most_kept = 4'096;                        // Events that are remembered; the least recent is forgotten
  /// An Event that was silent for longer is not raised any more: the API server drops Events after an hour.
  std::chrono::milliseconds forget_after{3'000'000};
};

/// What is to be written of an Event.
struct EventWrite {
  bool create = false;  // else patch count, last and message
  EventRecord record;   // its message may have been replaced
  std::string name;     // unique within the namespace
  std::int64_t count = 1;
  std::chrono::system_clock::time_point first, last;
  std::string key;  // for forget()
};

class EventFolder {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using WallTime = std::chrono::system_clock::time_point;

  /// `seed` keeps the names of processes apart that start at the same time.
  EventFolder(const EventTuning& tuning, std::uint64_t seed) : tuning_(tuning), seed_(seed) {}

  /// What to write now; nothing when the record was folded into an Event and due() will bring it.
  std::optional<EventWrite> add(EventRecord record, Time now, WallTime wall);
  /// Counts that were raised and may be written now. `all`: whether they may or not, at the end.
  std::vector<EventWrite> due(Time now, bool all = false);
  std::optional<Time> next_due() const;
  /// The Event could not be written or is gone: the next record of the kind becomes a new one.
  void forget(const EventWrite& event);
  std::size_t kept() const { return events_.size(); }

 private:
  struct Similar {  // the messages of one object and reason
    std::set<std::string> messages;
    Time last;
  };
  struct Event {
    EventWrite write;
    Time last;     // of its last record
    Time written;  // of its last write
    bool raised = false;
    std::list<std::string>::iterator use;
  };

  std::string fold_similar(EventRecord& record, Time now);
  std::string new_name(const EventRecord& record, WallTime wall);
  EventWrite write(Event& event, Time now);
  void drop_least_recent();

  EventTuning tuning_;
  std::uint64_t seed_;
  std::unordered_map<std::string, Similar> similar_;
  std::unordered_map<std::string, Event> events_;
  std::list<std::string> uses_;                    // keys of events_, the least recent first
  std::set<std::pair<Time, std::string>> raised_;  // when, key
};

constexpr std::size_t most_event_message = 1024;  // bytes

/// `text` in at most `most` bytes, cut before a character of UTF-8 and marked "…" where it was.
std::string cut_message(std::string_view text, std::size_t most = most_event_message);

/// Bodies for POST and for a merge patch.
std::string event_json(const EventWrite& event, std::string_view component, std::string_view instance);
std::string event_patch(const EventWrite& event);
/// Where the Events of an object are kept.
std::string_view event_namespace(const ObjectReference& object);

}  // namespace stackgate::kube
