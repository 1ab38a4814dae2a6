// One operator, one namespace, one proxy between: a scenario from its beginning to rest.
#pragma once
#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "tests/chaos/operator_process.hpp"
#include "tests/chaos/proxy.hpp"
#include "tests/chaos/stage.hpp"

namespace stackgate::chaos {

struct Setting {
  std::string binary, kubeconfig, scratch;
  std::vector<std::string> flags;     // more of the operator's
  std::vector<Change> scenario;       // stage "before" happens before the operator starts
  std::chrono::seconds patience{60};  // for each stage
};

/// What an undisturbed run ended each stage with.
using Golden = std::map<std::string, State>;

class Trial {
 public:
  /// `name` is the namespace's and the files'. Throws.
  Trial(const Setting& setting, kube::Client& client, const kube::Config& config, const std::string& name);

  Proxy& proxy() { return proxy_; }
  OperatorProcess& process() { return operator_; }

  /// The whole scenario, without a wanted end: waits for rest after each stage. Throws when it does not come to rest.
  Golden first_run();
  /// The whole scenario; each stage must end as in `golden`. The operator is started again when it was killed.
  /// Throws what went wrong.
  void run(const Golden& golden);
  /// Kills the operator and starts it again: a settled cluster must cost no write.
  void restart_for_nothing();
  /// One stage again and again: the wanted state is only looked at.
  void repeat(const std::string& stage, const State& wanted);
  /// When it has gone well: what would only be in the way of others.
  void clean_up() { stage_.clean_up(); }
  unsigned starts() const { return starts_; }

 private:
  void carry_out(const std::string& stage);
  void begin();
  void wait_for(const std::string& stage, const State& wanted);
  State wait_for_rest(std::chrono::milliseconds quiet);
  void keep_running();

  const Setting& setting_;
  const std::string name_;
  Proxy proxy_;
  OperatorProcess operator_;
  Stage stage_;
  unsigned starts_ = 0;
};

}  // namespace stackgate::chaos
