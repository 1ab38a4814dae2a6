// Questions to the API server itself, for what the cache does not know for certain.
#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster_state/request_coalescer.hpp"
#include "services/kit/kube/client.hpp"
#include "validators/lookup.hpp"

namespace stackgate::cluster {

/// An answer of the API server; presence is unknown when it gave none.
struct AskedReference {
  validate::ReferencedObject referred;
  bool server_reached = false;  // false: another question would most likely end the same way
  std::string error;
};

/// Thread-safe; blocks.
class ReferenceAsker {
 public:
  explicit ReferenceAsker(kube::Client& client) : client_(client) {}

  AskedReference find(validate::ReferenceKind reference_kind, std::string_view ns, std::string_view name,
                      std::chrono::milliseconds limit);

  struct AskedNeighbours {
    std::optional<std::vector<validate::Neighbour>> list;
    bool server_reached = false;
    std::string error;
  };
  AskedNeighbours neighbours(std::string_view ns, std::chrono::milliseconds limit);

 private:
  AskedReference ask(validate::ReferenceKind reference_kind, std::string_view ns, std::string_view name,
                     std::chrono::milliseconds limit);
  AskedNeighbours ask_neighbours(std::string_view ns, std::chrono::milliseconds limit);

  kube::Client& client_;
  RequestCoalescer<AskedReference> references_;
  RequestCoalescer<AskedNeighbours> neighbours_;
};

}  // namespace stackgate::cluster
