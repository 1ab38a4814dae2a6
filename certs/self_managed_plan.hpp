// What a self-managed CA and its leaf need next. Pure: the Secret's content and the time in, actions out.
//
//   nothing usable ──→ make a CA and a leaf
//   CA at two thirds of its life ──→ stage: a next CA is stored and published beside the signing one
//   staged for long enough and published everywhere ──→ promote: the next CA signs, the old one stays published
//   a leaf of the new CA has served for a day ──→ drop the old CA
//   leaf at two thirds of its life, or not for our names, or not by our CA ──→ a new leaf
//
// So a client that knows only one of the two CAs never meets a leaf of the other.
#pragma once
#include <chrono>
#include <expected>
#include <string>
#include <vector>

#include "certs/identity.hpp"

namespace stackgate::certs {

struct SelfManagedPolicy {
  std::vector<std::string> dns_names;
  std::vector<std::string> ip_addresses;
  std::chrono::hours ca_life{24 * 3650};
  std::chrono::hours leaf_life{24 * 90};
  std::chrono::minutes backdate{60};  // clocks of API servers may be behind ours
  std::chrono::minutes staging{15};   // from storing a next CA to its first leaf
  std::chrono::hours retirement{24};  // from the new CA's leaf to dropping the old CA
};

/// PEM text; empty where there is none. Holds private keys: never log it.
struct SelfManagedState {
  PemPair signing;       // the CA in use
  PemPair next;          // the CA that takes over
  std::string previous;  // the certificate of the CA before; its key is gone
  PemPair leaf;
  bool operator==(const SelfManagedState&) const = default;
};

struct SelfManagedPlan {
  bool make_ca = false;  // and forget what cannot be used
  bool stage_ca = false;
  bool promote_ca = false;
  bool drop_next = false;  // broken or out of date
  bool drop_previous = false;
  bool make_leaf = false;
  std::vector<std::string> reasons;  // one for each of the above, for the log
  Time look_again{};                 // when something will be due if nothing else happens

  bool nothing_to_do() const { return !(make_ca || stage_ca || promote_ca || drop_next || drop_previous || make_leaf); }
};

/// `published`: every webhook configuration that exists trusts both CAs of `state`.
SelfManagedPlan plan(const SelfManagedState& state, const SelfManagedPolicy& policy, bool published, Time now);

/// The state after the plan. Makes keys; otherwise pure.
std::expected<SelfManagedState, Error> carry_out(const SelfManagedPlan& plan, const SelfManagedState& state,
                                                 const SelfManagedPolicy& policy, Time now);

/// The CAs that clients must trust, signing one first; PEM.
std::string trust_bundle(const SelfManagedState& state);

}  // namespace stackgate::certs
