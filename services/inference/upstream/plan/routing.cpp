#include "services/inference/upstream/plan/routing.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "services/kit/json/parse.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::inference::upstream {
namespace {

constexpr unsigned most_attempts = 3;

/// A part of the body that something else takes the place of.
struct Edit {
  std::size_t begin = 0, end = 0;
  std::string text{};
};

/// Where each member of the root begins and ends, from its key's quote to its value's last byte.
struct Place {
  std::string_view key;
  std::size_t begin, value, end;
};

std::vector<Place> places_of(std::string_view body, const json::Value& root) {
  std::vector<Place> out;
  json::Document scratch;
  for (const json::Member& each : root.members()) {
    const auto end = json::parse_one(body, each.value.offset(), scratch);
    out.push_back({each.key, each.key_offset, each.value.offset(), end ? *end : body.size()});
  }
  return out;
}

/// Takes the members away that `goes` names, each with one comma.
void remove(const std::vector<Place>& places, auto&& goes, std::vector<Edit>& edits) {
  bool something_stays = false;  // before this one
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (!goes(places[i].key)) {
      something_stays = true;
    } else if (i + 1 < places.size()) {
      edits.push_back({places[i].begin, places[i + 1].begin});
    } else if (something_stays) {
      std::size_t last = i;
      while (goes(places[last].key)) --last;
      std::erase_if(edits, [&](const Edit& each) { return each.begin > places[last].end; });
      edits.push_back({places[last].end, places[i].end});
    } else {
      edits.push_back({places[i].begin, places[i].end});
    }
  }
}

std::string applied(std::string_view body, std::vector<Edit> edits) {
  std::ranges::sort(edits, {}, [](const Edit& each) { return std::pair(each.begin, each.end); });
  std::string out;
  std::size_t at = 0;
  for (const Edit& each : edits) {
    out.append(body.substr(at, each.begin - at)).append(each.text);
    at = each.end;
  }
  return out.append(body.substr(at));
}

}  // namespace

std::optional<std::size_t> choose(std::span<const ReplicaFacts> replicas, std::size_t turn) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    const std::size_t at = (turn + i) % replicas.size();
    const ReplicaFacts& each = replicas[at];
    if (each.healthy && each.has_adapter && (!best || each.in_flight < replicas[*best].in_flight)) best = at;
  }
  return best;
}

Waiting waiting(std::span<const ReplicaFacts> replicas) {
  if (choose(replicas, 0)) return Waiting::go;
  const bool may_come =
      std::ranges::any_of(replicas, [](const ReplicaFacts& each) { return each.healthy && !each.looked_again; });
  return may_come ? Waiting::stay : Waiting::give_up;
}

Repeat repetition(const Attempt& attempt, std::size_t replicas) {
  if (attempt.sent_to_client || attempt.made >= std::max<std::size_t>(most_attempts, replicas)) return Repeat::no;
  if (!attempt.connected) return replicas > 1 ? Repeat::elsewhere : Repeat::no;
  if (attempt.forgotten && attempt.made == 1) return Repeat::after_sync;
  return Repeat::no;
}

bool is_unknown_model(int status, std::string_view body) {
  return status == 404 || (status == 400 && body.find("not loaded") != std::string_view::npos);
}

AdapterMember by_number(std::int64_t id) {
  return {"lora", id < 0 ? std::string("[]") : fmt::format(R"([{{"id":{},"scale":1.0}}])", id)};
}

AdapterMember by_name(std::string_view adapter) {
  AdapterMember out{"lora_path", {}};
  if (!adapter.empty()) json::append_quoted(out.value, adapter);
  return out;
}

std::expected<std::string, std::string> rewrite(std::string_view body, std::string_view model,
                                                const std::optional<AdapterMember>& adapter) {
  json::Document document;
  const auto root = json::parse(body, document);
  if (!root) return std::unexpected(fmt::format("it is no JSON: {}", root.error().message));
  if (!root->is_object()) return std::unexpected("it is no JSON object");
  const json::Value* const old = root->find("model");
  if (old == nullptr || !old->is_string()) return std::unexpected("\"model\" is no text");
  const auto places = places_of(body, *root);
  std::vector<Edit> edits;
  for (const Place& each : places) {
    if (each.key != "model") continue;
    std::string name;
    if (old->string() != model) {
      json::append_quoted(name, model);
      edits.push_back({each.value, each.end, std::move(name)});
    }
    if (adapter && !adapter->value.empty())
      edits.push_back({each.end, each.end, fmt::format(",\"{}\":{}", adapter->name, adapter->value)});
  }
  // "model" stays, so there is always a member beside those that go.
  remove(places, [&](std::string_view key) { return key == "peft_name" || (adapter && key == adapter->name); }, edits);
  return applied(body, std::move(edits));
}

}  // namespace stackgate::inference::upstream
