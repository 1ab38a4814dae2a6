// What conversations need on the side: locks of turns under way renewed, conversations that expired removed.
#pragma once
#include "services/guardrail/memory/conversations.hpp"
#include "services/kit/run/periodic.hpp"

namespace stackgate::guardrail {

class Upkeep {
 public:
  /// Renews each third of the lease, sweeps each minute or so. `conversations` must outlive it.
  explicit Upkeep(Conversations& conversations);

 private:
  run::Periodic renewal_, sweep_;
};

}  // namespace stackgate::guardrail
