// What has to be done about one child. Pure and thread-safe.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "reconcile/ownership.hpp"
#include "services/kit/json/value.hpp"

namespace stackgate::reconcile {

enum class Need : std::uint8_t {
  nothing,
  create,
  update,
  adopt,  // it is ours by all it says, but has lost its owner reference
  wait,   // the old one is still being deleted
  taken,  // the name belongs to an object that is not ours
};

struct Verdict {
  Need need = Need::nothing;
  std::string why;     // for the log: "new plan", "spec.replicas was changed", …
  bool drift = false;  // not our plan is new: somebody changed it
};

struct WantedChild {
  const json::Value& body;
  std::string_view hash;  // see plan_hash.hpp
  bool keep = false;      // made once, then left alone
  bool owned = true;      // its body has an owner reference to the resource
  bool adopts = true;     // an orphan is taken back; false where that could cost data
};

struct FoundChild {
  const json::Value* object = nullptr;  // nullptr: there is none
  Ownership ownership = Ownership::foreign;
  bool ours = false;  // it has the operator's label
};

/// An owned child must be found owned; a child without owner reference (a claim that outlives its resource) is known by
/// its labels.
Verdict judge(const WantedChild& wanted, const FoundChild& found);

/// The first place where `live` is not as `desired` wants it, as "spec.template.spec.containers[server].image"; nothing
/// when all is there. Defaults that the API server added, fields of other managers and the order of named list items do
/// not matter. A wanted null, false, 0, "" and empty list or map is there when the field is absent: the API server does
/// not store them. Lists whose items have a merge key in the API (containers, env, volumes, …) are compared by it and
/// may hold more; all others must be equal in length. apiVersion and kind of the objects themselves are not compared:
/// items of a list come without. `desired` must be in the form in which the API server stores it: quantities above all.
std::optional<std::string> first_difference(const json::Value& desired, const json::Value& live);

}  // namespace stackgate::reconcile
