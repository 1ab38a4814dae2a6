// A configuration's own actions: its Python code, in a process of ours, or a server of actions.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "services/guardrail/actions/actions.hpp"
#include "services/guardrail/python/python_actions.hpp"

namespace stackgate::guardrail {

/// Thread-safe. Keeps what belongs to configurations that are still used.
class CustomActionsOf {
 public:
  CustomActionsOf(std::shared_ptr<const ModelClient> models, std::shared_ptr<const Actions> actions,
                  PythonOptions options);
  /// Empty: it has none. Starts no process yet.
  std::shared_ptr<CustomActions> operator()(const ConfigurationPtr& configuration);

 private:
  struct Kept {
    std::weak_ptr<const Configuration> configuration;
    std::shared_ptr<CustomActions> actions;
  };
  std::shared_ptr<CustomActions> make(const ConfigurationPtr& configuration) const;

  const std::shared_ptr<const ModelClient> models_;
  const std::shared_ptr<const Actions> actions_;
  const PythonOptions options_;
  std::mutex mutex_;
  std::map<const Configuration*, Kept> kept_{};
  std::jthread ends_processes_{};  // of configurations that are gone, which takes a while
};

}  // namespace stackgate::guardrail
