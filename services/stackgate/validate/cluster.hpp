// The rules' view of a live cluster, for one run of `stackgate validate --cluster`.
#pragma once
#include <expected>
#include <memory>
#include <string>

#include "services/kit/base/error.hpp"
#include "services/stackgate/validate/options.hpp"
#include "validators/lookup.hpp"

namespace stackgate {

struct ClusterSession {
  std::shared_ptr<void> connection;      // outlives the lookup
  std::unique_ptr<std::string> problem;  // why the server stopped answering; empty as long as it does
  std::unique_ptr<validate::Lookup> lookup;
  std::string ns;        // of the kubeconfig's context
  std::string warnings;  // one per line
};

std::expected<ClusterSession, Error> open_cluster(const ValidateOptions& options);

}  // namespace stackgate
