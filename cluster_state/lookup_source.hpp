// Where the gate gets its Lookups: a quick one that answers from memory on the I/O thread, and one that may ask the API
// server, for a pool thread. Implemented by ClusterLookup; a gate without a cluster has none. Thread-safe.
#pragma once
#include <memory>

#include "validators/lookup.hpp"

namespace stackgate::cluster {

/// Answers from memory alone and never blocks. One per review.
class QuickLookup : public validate::Lookup {
 public:
  /// True once a rule got "absent" or "unknown" about something that the API server should be asked about: the
  /// review is then repeated with an asking Lookup.
  virtual bool wants_asking() const = 0;
};

class LookupSource {
 public:
  virtual ~LookupSource() = default;
  virtual std::unique_ptr<QuickLookup> quick() = 0;
  virtual std::unique_ptr<validate::Lookup> asking() = 0;
};

}  // namespace stackgate::cluster
