// Which file may include what: the arrows of README.md as data, and a pure function that holds #include lines against
// them.
#pragma once
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stackgate::structure {

/// Path from the repository's top → the file's text.
using Tree = std::map<std::string, std::string>;

struct Include {
  std::string path;
  int line;
};

/// A folder with everything below it (the longest match counts) and the folders or files it may include besides itself.
struct Module {
  std::string_view folder;
  std::vector<std::string_view> may_include;
};

inline const std::vector<Module>& modules() {
  static const std::vector<Module> table = {
      {"services/kit/base", {}},
      {"services/kit/json", {"services/kit/base"}},
      {"services/kit/yaml", {"services/kit/base", "services/kit/json"}},
      {"services/kit/yaml_writer", {"services/kit/json", "services/kit/yaml"}},
      {"services/kit/grammar", {"services/kit/base"}},
      {"services/kit/pods", {"services/kit/json", "services/kit/grammar"}},
      {"services/kit/pod_problems", {"services/kit/base", "services/kit/json"}},
      {"services/kit/jinja", {"services/kit/base", "services/kit/json"}},
      {"services/kit/findings", {"services/kit/base", "services/kit/json", "services/kit/grammar"}},
      {"services/kit/schema",
       {"services/kit/base", "services/kit/json", "services/kit/grammar", "services/kit/findings"}},
      {"services/kit/json_schema", {"services/kit/json", "services/kit/findings", "services/kit/schema"}},
      {"services/kit/log", {"services/kit/base", "services/kit/json"}},
      {"services/kit/metrics", {}},
      {"services/kit/files", {}},
      {"services/kit/subprocess", {"services/kit/files"}},
      {"services/kit/shared_object", {"services/kit/base"}},
      {"services/kit/asio", {"services/kit/base"}},
      {"services/kit/http", {"services/kit/base", "services/kit/log", "services/kit/asio"}},
      {"services/kit/kube",
       {"services/kit/base", "services/kit/json", "services/kit/yaml", "services/kit/log", "services/kit/http_client",
        "services/kit/subprocess"}},
      {"services/kit/mlflow",
       {"services/kit/base", "services/kit/http_client", "services/kit/json", "services/kit/log"}},
      {"services/kit/run", {"services/kit/base", "services/kit/log", "services/kit/metrics", "services/kit/http"}},
      {"services/kit/safetensors", {"services/kit/json"}},
      {"services/kit/archive", {"services/kit/base", "services/kit/findings"}},
      {"services/kit/peft",
       {"services/kit/base", "services/kit/json", "services/kit/findings", "services/kit/schema",
        "services/kit/safetensors", "services/kit/archive"}},
      {"services/kit/html", {"services/kit/base"}},
      {"services/kit/charts", {"services/kit/html"}},
      {"services/kit/crypto", {"services/kit/base", "services/kit/json"}},
      {"services/kit/sql", {"services/kit/base", "services/kit/log"}},
      {"services/kit/http_client", {"services/kit/base", "services/kit/asio"}},
      {"services/kit/jobs",
       {"services/kit/base", "services/kit/json", "services/kit/log", "services/kit/crypto", "services/kit/sql",
        "services/kit/run"}},
      {"services/kit/objects",
       {"services/kit/base", "services/kit/files", "services/kit/log", "services/kit/crypto",
        "services/kit/http_client"}},
      {"services/kit/settings",
       {"services/kit/base", "services/kit/json", "services/kit/grammar", "services/kit/findings"}},
      {"services/kit/web",
       {"services/kit/base", "services/kit/json", "services/kit/log", "services/kit/metrics", "services/kit/http",
        "services/kit/run", "services/kit/crypto", "services/kit/findings", "services/kit/schema",
        "services/kit/json_schema"}},
      {"services/kit/datastore_client",
       {"services/kit/base", "services/kit/json", "services/kit/web", "services/kit/http_client"}},
      {"services/kit/relay",
       {"services/kit/base", "services/kit/log", "services/kit/http", "services/kit/web", "services/kit/http_client"}},
      {"services/kit/telemetry",
       {"services/kit/base", "services/kit/json", "services/kit/log", "services/kit/metrics", "services/kit/http",
        "services/kit/web", "services/kit/settings", "services/kit/http_client", "services/kit/findings",
        "services/kit/schema"}},
      {"services/kit/service",
       {"services/kit/base", "services/kit/log", "services/kit/metrics", "services/kit/http", "services/kit/run",
        "services/kit/web", "services/kit/settings", "services/kit/sql", "services/kit/telemetry",
        "services/kit/findings", "certs"}},
      {"crds", {}},
      {"crds/generator", {"crds", "services/kit/json", "services/kit/yaml", "services/kit/yaml_writer"}},
      {"validators",
       {"crds", "services/guardrail/configuration", "services/kit/base", "services/kit/json", "services/kit/grammar",
        "services/kit/findings", "services/kit/schema"}},
      {"certs",
       {"services/kit/base", "services/kit/json", "services/kit/files", "services/kit/log", "services/kit/metrics",
        "services/kit/http", "services/kit/run", "services/kit/kube"}},
      {"cluster_state", {"validators", "crds", "services/kit"}},
      {"webhook", {"cluster_state", "validators", "services/kit"}},
      {"reconcile", {"crds", "services/kit/kube/resource.hpp", "services/kit/json/read.hpp"}},
      {"reconcile/status", {"crds", "services/kit/base", "services/kit/json", "services/kit/pod_problems"}},
      {"reconcile/compare",
       {"reconcile/labels.hpp", "reconcile/ownership.hpp", "services/kit/base", "services/kit/json"}},
      {"reconcile/plan",
       {"reconcile/status", "reconcile/child_types.hpp", "reconcile/labels.hpp", "reconcile/ownership.hpp",
        "validators", "crds", "services/kit/base", "services/kit/json", "services/kit/grammar", "services/kit/findings",
        "services/kit/pod_problems", "services/kit/pods"}},
      {"reconcile/observe",
       {"reconcile/status", "reconcile/compare", "reconcile/plan", "reconcile/child_types.hpp", "reconcile/labels.hpp",
        "reconcile/ownership.hpp", "cluster_state", "crds", "services/kit"}},
      {"reconcile/control",
       {"reconcile/status", "reconcile/compare", "reconcile/plan", "reconcile/observe", "validators", "crds",
        "services/kit"}},
      {"services/model/directory",
       {"services/kit/json", "services/kit/findings", "services/kit/safetensors", "services/model/dtype.hpp",
        "services/model/tokenizer"}},
      {"services/model/training_lines", {"services/kit/base", "services/kit/json"}},
      {"services/model/chat",
       {"services/kit/base", "services/kit/json", "services/kit/findings", "services/kit/jinja",
        "services/model/directory"}},
      {"services/model/adapter",
       {"services/kit/json", "services/kit/findings", "services/kit/peft", "services/kit/safetensors",
        "services/model/modules.hpp", "services/model/directory"}},
      {"services/model/loading",
       {"services/kit/base", "services/kit/files", "services/kit/findings", "services/kit/safetensors",
        "services/kit/peft", "services/model/adapter", "services/model/dtype.hpp", "services/model/directory",
        "services/model/tokenizer"}},
      {"services/model/dtype.hpp", {}},
      {"services/model/modules.hpp", {}},
      {"services/model/kernels", {"services/model/dtype.hpp"}},
      {"services/model/graph",
       {"services/kit/base", "services/model/modules.hpp", "services/model/directory", "services/model/adapter",
        "services/model/loading", "services/model/kernels"}},
      {"services/model/graph_library",
       {"services/kit/base", "services/kit/shared_object", "services/model/graph/graph.hpp"}},
      {"services/model/tokenizer", {"services/kit/base", "services/kit/json", "services/kit/findings"}},
      {"services/inference/sampling", {"services/kit/base"}},
      {"services/inference/schedule", {}},
      {"services/inference/text", {"services/inference/sampling", "services/model/tokenizer"}},
      {"services/inference/constrain",
       {"services/inference/sampling", "services/model/tokenizer", "services/kit/base", "services/kit/json",
        "services/kit/findings"}},
      {"services/inference/engine",
       {"services/inference/sampling", "services/inference/schedule", "services/inference/constrain",
        "services/inference/text", "services/model/graph/graph.hpp", "services/model/tokenizer", "services/kit/base"}},
      {"services/inference/adapters/catalogue",
       {"services/kit/base", "services/kit/json", "services/kit/crypto", "services/kit/peft"}},
      {"services/inference/figures", {"services/kit/metrics"}},
      {"services/inference/upstream/plan", {"services/kit/json"}},
      {"services/inference/upstream",
       {"services/inference/upstream/plan", "services/inference/api", "services/inference/figures", "services/kit/base",
        "services/kit/http", "services/kit/http_client", "services/kit/json", "services/kit/log",
        "services/kit/metrics", "services/kit/relay", "services/kit/run", "services/kit/web"}},
      {"services/inference/front",
       {"services/inference/constrain", "services/inference/adapters", "services/inference/api",
        "services/inference/engine", "services/inference/figures", "services/model/chat", "services/model/directory",
        "services/model/loading", "services/model/tokenizer", "services/kit/base", "services/kit/crypto",
        "services/kit/json", "services/kit/metrics", "services/kit/web"}},
      {"services/inference/program",
       {"services/inference/front", "services/inference/adapters", "services/inference/engine",
        "services/inference/upstream", "services/model/graph_library", "services/model/directory",
        "services/model/loading", "services/kit/base", "services/kit/log", "services/kit/metrics", "services/kit/run",
        "services/kit/service", "services/kit/settings", "services/kit/web"}},
      {"services/inference/adapters",
       {"services/inference/adapters/catalogue", "services/inference/api", "services/model/adapter",
        "services/model/loading", "services/kit/archive", "services/kit/base", "services/kit/crypto",
        "services/kit/files", "services/kit/http_client", "services/kit/json", "services/kit/log",
        "services/kit/metrics", "services/kit/peft", "services/kit/run"}},
      {"services/inference/api",
       {"services/inference/sampling", "services/inference/text", "services/kit/base", "services/kit/json",
        "services/kit/findings", "services/kit/web"}},
      {"services/guardrail/colang", {"services/kit/base", "services/kit/jinja", "services/kit/findings"}},
      {"services/guardrail/library", {"services/guardrail/colang"}},
      {"services/guardrail/prompts", {"services/kit/base", "services/kit/jinja", "services/kit/json"}},
      {"services/guardrail/detect", {"services/kit/base", "services/kit/crypto", "services/kit/findings"}},
      {"services/guardrail/retrieval", {"services/kit/base"}},
      {"services/guardrail/configuration",
       {"services/guardrail/colang", "services/guardrail/detect", "services/guardrail/library",
        "services/guardrail/prompts", "services/kit/base", "services/kit/findings", "services/kit/jinja",
        "services/kit/json", "services/kit/yaml"}},
      {"services/guardrail/python",
       {"services/guardrail/configuration", "services/guardrail/dialog", "services/kit/findings", "services/kit/jinja",
        "services/kit/json", "services/kit/log", "services/kit/subprocess"}},
      {"services/guardrail/dialog",
       {"services/guardrail/configuration", "services/guardrail/library", "services/kit/base", "services/kit/jinja"}},
      {"services/guardrail/models/protocol", {"services/guardrail/prompts", "services/kit/base", "services/kit/json"}},
      {"services/guardrail/models",
       {"services/guardrail/models/protocol", "services/kit/base", "services/kit/http_client", "services/kit/metrics"}},
      {"services/guardrail/stream", {"services/kit/base"}},
      {"services/guardrail/memory",
       {"services/kit/base", "services/kit/json", "services/kit/log", "services/kit/run", "services/kit/sql"}},
      {"services/guardrail/store",
       {"services/guardrail/configuration", "services/kit/base", "services/kit/files", "services/kit/findings",
        "services/kit/log", "services/kit/metrics", "services/kit/run"}},
      {"services/guardrail/api",
       {"services/guardrail/configuration", "services/guardrail/dialog", "services/kit/base", "services/kit/jinja",
        "services/kit/json", "services/kit/findings", "services/kit/web"}},
      {"services/guardrail/actions",
       {"services/guardrail/configuration", "services/guardrail/detect", "services/guardrail/dialog",
        "services/guardrail/models", "services/guardrail/prompts", "services/guardrail/retrieval", "services/kit/base",
        "services/kit/jinja", "services/kit/json", "services/kit/log"}},
      {"services/guardrail/front",
       {"services/guardrail/actions", "services/guardrail/api", "services/guardrail/configuration",
        "services/guardrail/dialog", "services/guardrail/memory", "services/guardrail/python",
        "services/guardrail/store", "services/guardrail/stream", "services/kit/base", "services/kit/http",
        "services/kit/jinja", "services/kit/json", "services/kit/log", "services/kit/metrics", "services/kit/run",
        "services/kit/web"}},
      {"services/guardrail/managed",
       {"services/guardrail/api", "services/guardrail/memory", "services/guardrail/store", "services/kit/base",
        "services/kit/json", "services/kit/log", "services/kit/run", "services/kit/sql", "services/kit/web"}},
      {"services/guardrail/pages",
       {"services/kit/base", "services/kit/files", "services/kit/json", "services/kit/log", "services/kit/web"}},
      {"services/guardrail/program",
       {"services/guardrail/front", "services/guardrail/managed", "services/guardrail/memory",
        "services/guardrail/pages", "services/guardrail/python", "services/guardrail/store", "services/kit/base",
        "services/kit/crypto", "services/kit/findings", "services/kit/json", "services/kit/log", "services/kit/metrics",
        "services/kit/run", "services/kit/service", "services/kit/settings"}},
      {"services/guardrail", {"services/guardrail/program"}},
      {"services/customizer/job", {"services/kit/jobs/run_state.hpp", "services/kit/json"}},
      {"services/customizer/api",
       {"services/customizer/catalogue", "services/customizer/job", "services/kit/base", "services/kit/findings",
        "services/kit/grammar", "services/kit/json", "services/model/hyperparameters"}},
      {"services/customizer/catalogue",
       {"services/kit/findings", "services/kit/grammar", "services/kit/json", "services/kit/yaml",
        "services/model/hyperparameters"}},
      {"services/customizer/objects",
       {"services/customizer/catalogue", "services/customizer/job", "services/customizer/setup", "services/kit/base",
        "services/kit/json", "services/kit/kube/resource.hpp", "services/kit/pods", "services/model/hyperparameters"}},
      {"services/customizer/observe",
       {"services/customizer/job", "services/customizer/objects", "services/customizer/setup", "services/kit/json",
        "services/kit/pod_problems"}},
      {"services/customizer/setup",
       {"services/kit/findings", "services/kit/grammar", "services/kit/json", "services/kit/pods"}},
      {"services/customizer/records",
       {"services/customizer/job", "services/kit/base", "services/kit/crypto", "services/kit/sql"}},
      {"services/customizer/runs",
       {"services/customizer/api", "services/customizer/catalogue", "services/customizer/job",
        "services/customizer/objects", "services/customizer/records", "services/kit/base",
        "services/kit/datastore_client", "services/kit/files", "services/kit/findings", "services/kit/http_client",
        "services/kit/json", "services/kit/log", "services/kit/metrics", "services/kit/run",
        "services/model/training_lines"}},
      {"services/customizer/trackers",
       {"services/customizer/api", "services/customizer/records", "services/kit/base", "services/kit/crypto",
        "services/kit/http_client", "services/kit/json", "services/kit/log", "services/kit/mlflow",
        "services/kit/run"}},
      {"services/customizer/front",
       {"services/customizer/api", "services/customizer/records", "services/customizer/runs",
        "services/customizer/trackers", "services/kit/base", "services/kit/crypto", "services/kit/files",
        "services/kit/json", "services/kit/log", "services/kit/web", "services/model/hyperparameters"}},
      {"services/customizer/pages/views",
       {"services/customizer/api", "services/customizer/job", "services/customizer/records", "services/kit/base",
        "services/kit/charts", "services/kit/html", "services/kit/json"}},
      {"services/customizer/pages",
       {"services/customizer/pages/views", "services/customizer/records", "services/kit/base", "services/kit/charts",
        "services/kit/web"}},
      {"services/customizer/program",
       {"services/customizer/front", "services/customizer/pages", "services/customizer/runs",
        "services/customizer/setup", "services/customizer/trackers", "services/kit/base", "services/kit/files",
        "services/kit/http_client", "services/kit/kube", "services/kit/log", "services/kit/metrics", "services/kit/run",
        "services/kit/service", "services/kit/settings", "services/kit/web"}},
      {"services/customizer", {"services/customizer/program", "services/kit/run"}},
      {"services/customizer/runs/cluster",
       {"services/customizer/api", "services/customizer/objects", "services/customizer/observe",
        "services/customizer/runs/executor.hpp", "services/customizer/setup", "services/kit/base",
        "services/kit/findings", "services/kit/grammar", "services/kit/json", "services/kit/kube"}},
      {"services/customizer/runs/local",
       {"services/customizer/api", "services/customizer/objects", "services/customizer/observe",
        "services/customizer/runs/executor.hpp", "services/kit/base", "services/kit/files", "services/kit/findings",
        "services/kit/json", "services/kit/subprocess"}},
      {"services/evaluator/api",
       {"services/kit/base", "services/kit/findings", "services/kit/grammar", "services/kit/json", "services/kit/web"}},
      {"services/evaluator/endpoint/protocol", {"services/kit/base", "services/kit/grammar", "services/kit/json"}},
      {"services/evaluator/endpoint",
       {"services/evaluator/endpoint/protocol", "services/kit/base", "services/kit/findings", "services/kit/grammar",
        "services/kit/http_client"}},
      {"services/evaluator/metrics", {"services/kit/base", "services/kit/jinja", "services/kit/json"}},
      {"services/evaluator/score",
       {"services/evaluator/metrics", "services/kit/base", "services/kit/findings", "services/kit/json"}},
      {"services/evaluator/suite",
       {"services/evaluator/api", "services/evaluator/endpoint/protocol", "services/evaluator/metrics",
        "services/kit/base", "services/kit/findings", "services/kit/jinja", "services/kit/json", "services/kit/yaml"}},
      {"services/evaluator/sandbox", {"services/kit/crypto", "services/kit/json", "services/kit/subprocess"}},
      {"services/evaluator/vectors/protocol", {"services/kit/json"}},
      {"services/evaluator/vectors",
       {"services/evaluator/vectors/protocol", "services/kit/base", "services/kit/crypto", "services/kit/files",
        "services/kit/http_client", "services/kit/log", "services/kit/sql"}},
      {"services/evaluator/retrieval",
       {"services/evaluator/api", "services/evaluator/endpoint", "services/evaluator/engine",
        "services/evaluator/suite", "services/evaluator/vectors", "services/kit/base", "services/kit/crypto",
        "services/kit/files", "services/kit/json"}},
      {"services/evaluator/engine",
       {"services/evaluator/endpoint", "services/evaluator/suite", "services/kit/base", "services/kit/crypto",
        "services/kit/json"}},
      {"services/evaluator/compare",
       {"services/evaluator/metrics", "services/evaluator/suite", "services/kit/base", "services/kit/findings",
        "services/kit/json", "services/kit/web"}},
      {"services/evaluator/pages/views",
       {"services/evaluator/api", "services/evaluator/compare", "services/evaluator/records/evaluation.hpp",
        "services/evaluator/suite", "services/kit/base", "services/kit/charts", "services/kit/html",
        "services/kit/json"}},
      {"services/evaluator/pages",
       {"services/evaluator/api", "services/evaluator/compare", "services/evaluator/pages/views",
        "services/evaluator/records", "services/evaluator/suite", "services/kit/base", "services/kit/charts",
        "services/kit/web"}},
      {"services/evaluator/workflow/protocol",
       {"services/evaluator/api", "services/evaluator/suite", "services/kit/base", "services/kit/findings",
        "services/kit/grammar", "services/kit/json"}},
      {"services/evaluator/workflow",
       {"services/evaluator/api", "services/evaluator/suite", "services/evaluator/workflow/protocol",
        "services/kit/base", "services/kit/files", "services/kit/findings", "services/kit/http_client",
        "services/kit/json", "services/kit/subprocess", "services/kit/yaml_writer"}},
      {"services/evaluator/runs",
       {"services/evaluator/api", "services/evaluator/endpoint", "services/evaluator/engine",
        "services/evaluator/records", "services/evaluator/retrieval", "services/evaluator/sandbox",
        "services/evaluator/suite", "services/evaluator/workflow", "services/kit/base", "services/kit/crypto",
        "services/kit/datastore_client", "services/kit/findings", "services/kit/http_client", "services/kit/jobs",
        "services/kit/json", "services/kit/log", "services/kit/metrics", "services/kit/run", "services/kit/telemetry"}},
      {"services/evaluator/front",
       {"services/evaluator/api", "services/evaluator/compare", "services/evaluator/records", "services/evaluator/runs",
        "services/evaluator/sandbox", "services/evaluator/suite", "services/evaluator/workflow", "services/kit/archive",
        "services/kit/base", "services/kit/crypto", "services/kit/findings", "services/kit/json", "services/kit/log",
        "services/kit/web"}},
      {"services/evaluator/program",
       {"services/evaluator/front", "services/evaluator/pages", "services/evaluator/score",
        "services/evaluator/workflow", "services/kit/base", "services/kit/grammar", "services/kit/http_client",
        "services/kit/metrics", "services/kit/run", "services/kit/service", "services/kit/settings"}},
      {"services/evaluator", {"services/evaluator/program", "services/kit/run"}},
      {"services/evaluator/records",
       {"services/kit/base", "services/kit/crypto", "services/kit/jobs", "services/kit/sql"}},
      {"services/model/hyperparameters", {"services/kit/findings", "services/kit/json", "services/model/modules.hpp"}},
      {"services/trainer/config", {"services/model/hyperparameters"}},
      {"services/trainer/data",
       {"services/kit/base", "services/kit/json", "services/kit/jinja", "services/model/chat",
        "services/model/directory", "services/model/tokenizer", "services/model/training_lines"}},
      {"services/trainer/checkpoint",
       {"services/kit/base", "services/kit/files", "services/kit/json", "services/kit/peft", "services/kit/safetensors",
        "services/trainer/optimizer"}},
      {"services/trainer/report",
       {"services/kit/http_client", "services/kit/json", "services/kit/log", "services/kit/metrics",
        "services/kit/mlflow", "services/kit/telemetry"}},
      {"services/trainer/optimizer", {}},
      {"services/trainer/learn",
       {"services/kit/base", "services/model/directory", "services/model/graph", "services/model/loading",
        "services/trainer/data", "services/trainer/parameters"}},
      {"services/trainer/learn_library",
       {"services/kit/base", "services/kit/shared_object", "services/trainer/learn/group.hpp",
        "services/trainer/learn/learner.hpp"}},
      {"services/trainer/parameters",
       {"services/model/modules.hpp", "services/model/directory", "services/trainer/data",
        "services/trainer/optimizer"}},
      {"services/inference", {"services/inference/program"}},
      {"services/trainer",
       {"services/trainer/config", "services/trainer/data", "services/trainer/optimizer", "services/trainer/checkpoint",
        "services/trainer/report", "services/trainer/parameters", "services/trainer/learn/group.hpp",
        "services/trainer/learn/learner.hpp", "services/trainer/learn_library", "services/model", "services/kit"}},
      {"services/stackgate", {"cluster_state", "webhook", "reconcile", "validators", "crds", "certs", "services/kit"}},
      {"services", {"services/kit"}},  // a workload: never another one
      {"tests", {"services", "cluster_state", "webhook", "reconcile", "validators", "crds", "certs"}},
  };
  return table;
}

/// A library's headers and the only files that may see them (a folder ends in '/'). Tests may use any of them.
struct Fence {
  std::string_view header;  // the start of what stands between < and >
  std::vector<std::string_view> allowed;
  std::string_view reason;
};

inline const std::vector<Fence>& fences() {
  static const std::vector<Fence> table = {
      {"boost/",
       {"services/kit/asio/", "services/kit/http/loop.cpp", "services/kit/http/framing.cpp",
        "services/kit/http/listen.cpp", "services/kit/http_client/engine.cpp"},
       "Asio and Beast cost seconds for each file that sees them"},
      {"spdlog/", {"services/kit/log/"}, "the process log belongs to kit/log"},
      {"valijson/", {"services/kit/json_schema/"}, "23 s for each file"},
      {"nlohmann/",
       {"services/kit/json_schema/", "services/kit/peft/write_config.cpp", "services/kit/jinja/template.hpp",
        "services/kit/jinja/from_json.cpp", "services/guardrail/api/", "crds/generator/"},
       "services/kit/json is the project's JSON for what is judged"},
      {"yaml-cpp/", {"services/kit/yaml_writer/write.cpp"}, "one file writes the project's YAML"},
      {"yaml.h", {"services/kit/yaml/"}, "services/kit/yaml is the project's YAML"},
      {"curl/",
       {"services/kit/http_client/"},
       "services/kit/http_client is the way out: one file has the loop, one the handles, one reads URLs"},
      {"re2/",
       {"services/kit/schema/", "services/guardrail/detect/", "services/evaluator/metrics/",
        "services/evaluator/suite/harness/patterns.cpp"},
       "patterns belong to the schema engine, the guardrail's detectors, the evaluator's metrics and task files"},
      {"openssl/",
       {"services/kit/http/", "services/kit/crypto/", "certs/", "cluster_state/pruning.cpp",
        "reconcile/control/ssh_key.cpp"},
       "TLS belongs to certs and kit/http"},
      {"sqlite3.h", {"services/kit/sql/"}, "databases are reached through kit/sql"},
      {"libpq-fe.h", {"services/kit/sql/"}, "databases are reached through kit/sql"},
      {"zlib.h",
       {"services/kit/web/", "services/kit/telemetry/sender.cpp", "services/datastore/git/", "services/kit/archive/"},
       "compression belongs to kit/web (in) and kit/telemetry (out), to Git's objects and to archives, whose checksums "
       "libarchive does not verify"},
      {"git2", {"services/datastore/git/"}, "Git belongs to one folder"},
      {"archive", {"services/kit/archive/"}, "archives are read in one folder"},
      {"cmark", {"services/datastore/pages/markdown.cpp"}, "what it renders goes through one check"},
      {"ATen",
       {"services/model/graph/", "services/trainer/learn/"},
       "10 s for each file, and a program that loads libtorch takes 160 MB"},
      {"c10/", {"services/model/graph/", "services/trainer/learn/"}, "as ATen"},
      {"torch/", {"services/model/graph/", "services/trainer/learn/"}, "as ATen"},
      {"pcre2", {"services/model/tokenizer/pattern.cpp"}, "patterns of tokenizers are bounded in one file"},
      {"utf8proc",
       {"services/model/tokenizer/unicode.cpp", "services/kit/jinja/unicode.cpp"},
       "one file of each module has the tables of Unicode"},
      {"hnswlib", {"services/evaluator/vectors/hnsw_graph.cpp"}, "its functions are not inline"},
      {"simdjson", {"services/kit/json/"}, "services/kit/json is the project's JSON"},
  };
  return table;
}

/// What a pure module has no use for: headers of input, output and threads, and the clocks (durations are only
/// numbers).
inline constexpr std::array<std::string_view, 12> impure = {"fstream", "iostream", "filesystem", "thread",
                                                            "ctime",   "time.h",   "unistd",     "fcntl",
                                                            "sys/",    "poll",     "netinet/",   "netdb"};
inline constexpr std::array<std::string_view, 3> clocks = {"system_clock", "steady_clock", "getenv("};

inline bool is_pure(std::string_view path) {
  static constexpr std::string_view pure[] = {"validators/",
                                              "services/kit/pods/",
                                              "services/kit/pod_problems/",
                                              "services/kit/grammar/",
                                              "services/kit/findings/",
                                              "services/kit/schema/",
                                              "services/kit/json_schema/",
                                              "crds/",
                                              "services/kit/base/",
                                              "services/kit/json/",
                                              "services/kit/yaml/",
                                              "services/kit/yaml_writer/",
                                              "services/kit/safetensors/",
                                              "services/kit/peft/",
                                              "services/kit/jinja/",
                                              "services/model/adapter/",
                                              "services/model/chat/",
                                              "services/model/directory/",
                                              "services/model/hyperparameters/",
                                              "services/model/tokenizer/",
                                              "services/model/training_lines/",
                                              "services/inference/sampling/",
                                              "services/inference/schedule/",
                                              "services/inference/text/",
                                              "services/inference/api/",
                                              "services/inference/constrain/",
                                              "services/inference/upstream/plan/",
                                              "services/guardrail/colang/",
                                              "services/guardrail/library/",
                                              "services/guardrail/prompts/",
                                              "services/guardrail/detect/",
                                              "services/guardrail/retrieval/",
                                              "services/guardrail/configuration/",
                                              "services/guardrail/dialog/",
                                              "services/guardrail/stream/",
                                              "services/guardrail/api/",
                                              "services/guardrail/models/protocol/",
                                              "services/kit/html/",
                                              "services/kit/charts/",
                                              "services/customizer/api/",
                                              "services/customizer/catalogue/",
                                              "services/customizer/job/",
                                              "services/customizer/objects/",
                                              "services/customizer/observe/",
                                              "services/customizer/pages/views/",
                                              "services/customizer/setup/",
                                              "services/evaluator/api/",
                                              "services/evaluator/compare/",
                                              "services/evaluator/endpoint/protocol/",
                                              "services/evaluator/metrics/",
                                              "services/evaluator/pages/views/",
                                              "services/evaluator/score/",
                                              "services/evaluator/suite/",
                                              "services/evaluator/workflow/protocol/",
                                              "services/evaluator/vectors/protocol/",
                                              "services/puller/plan/",
                                              "services/trainer/config/",
                                              "services/trainer/data/",
                                              "services/trainer/optimizer/",
                                              "services/trainer/parameters/",
                                              "reconcile/status/",
                                              "reconcile/plan/",
                                              "reconcile/compare/"};
  // Build-time generators read and write files.
  const bool generator = path.contains("/generate_") || path.contains("/generator/");
  return !generator && std::ranges::any_of(pure, [&](auto p) { return path.starts_with(p); });
}

/// #include lines, comments and string literals notwithstanding: only lines that start with '#' count.
inline std::vector<Include> includes_of(std::string_view text) {
  std::vector<Include> found;
  int line = 0;
  while (!text.empty()) {
    ++line;
    const auto end = text.find('\n');
    std::string_view row = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const auto skip = [&row] { row.remove_prefix(std::min(row.find_first_not_of(" \t"), row.size())); };
    skip();
    if (!row.starts_with('#')) continue;
    row.remove_prefix(1);
    skip();
    if (!row.starts_with("include")) continue;
    row.remove_prefix(7);
    skip();
    if (row.empty() || (row[0] != '"' && row[0] != '<')) continue;
    const auto close = row.find(row[0] == '"' ? '"' : '>', 1);
    if (close != std::string_view::npos) found.push_back({std::string(row.substr(1, close - 1)), line});
  }
  return found;
}

inline const Module* module_of(std::string_view path) {
  const Module* best = nullptr;
  for (const Module& m : modules()) {
    const bool inside = path.starts_with(m.folder) && path.size() > m.folder.size() && path[m.folder.size()] == '/';
    if (inside && (best == nullptr || m.folder.size() > best->folder.size())) best = &m;
  }
  return best;
}

/// A workload of its own: services/<name> other than the kit and the operator.
inline std::string_view workload_of(std::string_view path) {
  const Module* m = module_of(path);
  if (m == nullptr || m->folder != "services") return {};
  return path.substr(0, path.find('/', std::string_view("services/").size()));
}

namespace detail {

inline bool under(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && path.size() > folder.size() &&
         (folder.ends_with('/') || path[folder.size()] == '/');
}

inline void check_project_include(const std::string& file, const std::string& path, std::vector<std::string>& why) {
  const Module* from = module_of(file);
  const Module* to = module_of(path);
  if (from == nullptr || to == nullptr) return;
  if (!workload_of(file).empty() && !workload_of(path).empty() && workload_of(file) != workload_of(path)) {
    why.push_back("services speak HTTP with each other, they do not include each other");
  } else if (from != to &&
             std::ranges::none_of(from->may_include, [&](auto f) { return path == f || under(path, f); })) {
    why.push_back(std::string(from->folder) + " may not include " + std::string(to->folder));
  }
  if (under(file, "validators/rules") &&
      (path == "validators/rulebook.hpp" || path == "validators/structure.hpp" || path == "validators/ratchet.hpp"))
    why.push_back("a rule knows nothing of the book that runs it");
}

inline void check_library_include(const std::string& file, const std::string& path, std::vector<std::string>& why) {
  if (under(file, "tests")) return;
  for (const Fence& fence : fences()) {
    if (!path.starts_with(fence.header)) continue;
    if (std::ranges::none_of(fence.allowed, [&](auto a) { return a.ends_with('/') ? under(file, a) : file == a; }))
      why.push_back(std::string(fence.reason));
  }
  if (is_pure(file) && std::ranges::any_of(impure, [&](auto p) { return path.starts_with(p); }))
    why.push_back("this module is pure: no input, output or threads");
}

}  // namespace detail

/// Folders that include each other in a ring, as "a → b → a"; empty when there are none.
inline std::string folder_cycle(const Tree& tree) {
  std::map<std::string_view, std::set<std::string_view>> edges;
  for (const auto& [file, text] : tree) {
    const Module* from = module_of(file);
    for (const Include& include : includes_of(text)) {
      const Module* to = module_of(include.path);
      if (from != nullptr && to != nullptr && from != to) edges[from->folder].insert(to->folder);
    }
  }
  std::set<std::string_view> done;
  std::vector<std::string_view> trail;
  const auto visit = [&](const auto& self, std::string_view at) -> std::string {
    if (const auto seen = std::ranges::find(trail, at); seen != trail.end()) {
      std::string ring;
      for (auto it = seen; it != trail.end(); ++it) ring += std::string(*it) + " → ";
      return ring + std::string(at);
    }
    if (!done.insert(at).second) return {};
    trail.push_back(at);
    for (std::string_view next : edges[at])
      if (std::string ring = self(self, next); !ring.empty()) return ring;
    trail.pop_back();
    return {};
  };
  for (const Module& m : modules())
    if (std::string ring = visit(visit, m.folder); !ring.empty()) return ring;
  return {};
}

/// "file:line: includes path: why not" for each line that breaks a rule. Empty: all is well.
inline std::vector<std::string> violations(const Tree& tree) {
  std::vector<std::string> out;
  for (const auto& [file, text] : tree) {
    for (const auto& [path, line] : includes_of(text)) {
      std::vector<std::string> why;
      detail::check_project_include(file, path, why);
      detail::check_library_include(file, path, why);
      if (path.starts_with("../") || path.starts_with("./")) why.push_back("write the path from the repository's top");
      for (const std::string& reason : why)
        out.push_back(file + ":" + std::to_string(line) + ": includes " + path + ": " + reason);
    }
    for (std::string_view clock : clocks)
      if (is_pure(file) && text.contains(clock))
        out.push_back(file + ":1: uses " + std::string(clock) + " in a pure module");
    if (file.ends_with(".hpp") && !text.contains("#pragma once")) out.push_back(file + ":1: lacks #pragma once");
  }
  if (std::string ring = folder_cycle(tree); !ring.empty()) out.push_back("folders include each other: " + ring);
  return out;
}

/// Arrows of modules() that no include follows: they would let somebody draw one unseen.
inline std::vector<std::string> unused_arrows(const Tree& tree) {
  std::set<std::pair<const Module*, std::string_view>> used;
  for (const auto& [file, text] : tree) {
    const Module* const from = module_of(file);
    if (from == nullptr) continue;
    for (const Include& include : includes_of(text))
      for (const std::string_view to : from->may_include)
        if (include.path == to || detail::under(include.path, to)) used.emplace(from, to);
  }
  std::vector<std::string> out;
  for (const Module& m : modules())
    for (const std::string_view to : m.may_include)
      if (!used.contains({&m, to}))
        out.push_back(std::string(m.folder) + " may include " + std::string(to) + " and does not");
  return out;
}

}  // namespace stackgate::structure
