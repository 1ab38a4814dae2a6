#include "certs/self_managed_plan.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "certs/issuer.hpp"
#include "services/kit/base/time.hpp"
#include "services/kit/base/try.hpp"

namespace stackgate::certs {
namespace self_managed_plan {

/// Two thirds of a certificate's life.
Time renewal_of(const Description& certificate) {
  return certificate.not_before + (certificate.not_after - certificate.not_before) * 2 / 3;
}

/// The CA, when it can sign a leaf now; otherwise why not.
std::expected<Description, Error> usable_ca(const PemPair& ca, Time now) {
  if (ca.certificates.empty()) return std::unexpected(Error{"there is none"});
  // Also checks that the key belongs to it and that it is in date.
  const auto identity = TRY(make_identity(ca, now));
  if (!identity.leaf.is_ca) return std::unexpected(Error{"it is no CA"});
  return identity.leaf;
}

bool covers(const std::vector<std::string>& have, const std::vector<std::string>& want) {
  return std::ranges::all_of(want,
                             [&](const std::string& name) { return std::ranges::find(have, name) != have.end(); });
}

/// Why the leaf cannot stay, or empty.
std::string fault_of_leaf(const SelfManagedState& state, const SelfManagedPolicy& policy, Time now) {
  if (state.leaf.certificates.empty()) return "there is none";
  const auto identity = make_identity(state.leaf, now);
  if (!identity) return identity.error().message;
  if (!covers(identity->leaf.dns_names, policy.dns_names) || !covers(identity->leaf.ip_addresses, policy.ip_addresses))
    return "it is not for all our names";
  if (const auto chain = verify_chain(state.leaf.certificates, state.signing.certificates, now); !chain)
    return chain.error().message;
  if (now >= renewal_of(identity->leaf)) return "two thirds of its life are over";
  return {};
}

Subject ca_subject(const SelfManagedPolicy& policy, Time now) {
  // The date tells two CAs apart for whoever reads a bundle.
  return {.common_name = fmt::format("stackgate-webhook-ca {}", to_rfc3339(now)),
          .dns_names = {},
          .ip_addresses = {},
          .not_before = now - policy.backdate,
          .not_after = now + policy.ca_life};
}

void consider_leaf(SelfManagedPlan& out, const SelfManagedState& state, const SelfManagedPolicy& policy, Time now) {
  if (out.make_ca || out.promote_ca) {
    out.make_leaf = true;
    out.reasons.emplace_back("new leaf: under the new CA");
  } else if (const std::string fault = fault_of_leaf(state, policy, now); !fault.empty()) {
    out.make_leaf = true;
    out.reasons.push_back(fmt::format("new leaf: {}", fault));
  } else if (const auto leaf = describe(state.leaf.certificates); leaf) {
    out.look_again = std::min(out.look_again, renewal_of(*leaf));
  }
}

void consider_previous(SelfManagedPlan& out, const SelfManagedState& state, const SelfManagedPolicy& policy, Time now) {
  // A promotion in this very plan puts the CA that signs now there.
  if (state.previous.empty() || out.promote_ca || out.make_ca) return;
  const auto previous = describe(state.previous);
  const auto leaf = describe(state.leaf.certificates);
  if (!previous || previous->not_after <= now) {
    out.drop_previous = true;
    out.reasons.emplace_back("previous CA dropped: it is out of date or cannot be read");
  } else if (leaf && !out.make_leaf) {
    const Time due = leaf->not_before + policy.backdate + policy.retirement;
    if (now >= due) {
      out.drop_previous = true;
      out.reasons.emplace_back("previous CA dropped: its last leaf was replaced long enough ago");
    } else {
      out.look_again = std::min(out.look_again, due);
    }
  }
}

}  // namespace self_managed_plan

SelfManagedPlan plan(const SelfManagedState& state, const SelfManagedPolicy& policy, bool published, Time now) {
  using namespace self_managed_plan;
  SelfManagedPlan out;
  out.look_again = now + std::chrono::hours(24);
  const auto signing = usable_ca(state.signing, now);
  const auto next = usable_ca(state.next, now);
  if (!signing) {
    (next ? out.promote_ca : out.make_ca) = true;
    out.reasons.push_back(
        fmt::format("{}: of the one in use: {}", next ? "next CA takes over" : "new CA", signing.error().message));
  } else if (next) {
    const Time due = next->not_before + policy.backdate + policy.staging;
    if (now >= due && published) {
      out.promote_ca = true;
      out.reasons.emplace_back("next CA takes over: it has been published long enough");
    } else if (now < due) {
      out.look_again = std::min(out.look_again, due);
    }
  } else if (now >= renewal_of(*signing)) {
    out.stage_ca = true;
    out.reasons.emplace_back("next CA made: two thirds of the life of the one in use are over");
    out.look_again = std::min(out.look_again, now + policy.staging);
  } else {
    out.look_again = std::min(out.look_again, renewal_of(*signing));
    if (!state.next.certificates.empty()) {
      out.drop_next = true;
      out.reasons.push_back(fmt::format("next CA dropped: {}", next.error().message));
    }
  }
  consider_leaf(out, state, policy, now);
  consider_previous(out, state, policy, now);
  return out;
}

std::expected<SelfManagedState, Error> carry_out(const SelfManagedPlan& plan, const SelfManagedState& state,
                                                 const SelfManagedPolicy& policy, Time now) {
  using namespace self_managed_plan;
  SelfManagedState out = state;
  if (plan.drop_next) out.next = {};
  if (plan.drop_previous) out.previous.clear();
  if (plan.make_ca || plan.promote_ca) {
    // What another replica still serves was signed by the old one: it stays trusted while it is in date.
    const auto old = describe(state.signing.certificates);
    out.previous = old && old->is_ca && old->not_after > now ? state.signing.certificates : std::string();
  }
  if (plan.promote_ca) {
    out.signing = std::move(out.next);
    out.next = {};
  }
  if (plan.make_ca || plan.stage_ca) {
    auto made = TRY(make_self_signed_ca(ca_subject(policy, now)));
    if (plan.make_ca) out.next = {};
    (plan.make_ca ? out.signing : out.next) = std::move(made);
  }
  if (plan.make_leaf) {
    const auto ca = TRY(describe(out.signing.certificates));
    auto made =
        TRY(issue_leaf(out.signing, {.common_name = policy.dns_names.empty() ? "stackgate" : policy.dns_names[0],
                                     .dns_names = policy.dns_names,
                                     .ip_addresses = policy.ip_addresses,
                                     .not_before = std::max(now - policy.backdate, ca.not_before),
                                     .not_after = std::min<Time>(now + policy.leaf_life, ca.not_after)}));
    out.leaf = std::move(made);
  }
  return out;
}

std::string trust_bundle(const SelfManagedState& state) {
  std::string out = state.signing.certificates;
  if (!state.next.certificates.empty()) out += state.next.certificates;
  // After a broken key was replaced the same certificate may stand twice.
  if (!state.previous.empty() && state.previous != state.signing.certificates) out += state.previous;
  return out;
}

}  // namespace stackgate::certs
