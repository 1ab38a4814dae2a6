#include "services/evaluator/workflow/protocol/workflow_json.hpp"

#include <span>

#include <fmt/format.h>

#include "services/kit/base/fnv.hpp"
#include "services/kit/grammar/names.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::evaluator {
namespace workflow_json_detail {

constexpr std::string_view output_directory = "/stackgate-output";

void write_labels(json::Writer& w, Framework framework, std::string_view id) {
  w.object("labels", [&] {
    w.member("app.kubernetes.io/name", "stackgate-evaluator");
    w.member("app.kubernetes.io/component", "evaluation");
    w.member("app.kubernetes.io/managed-by", "stackgate-evaluator");
    w.member("stackgate.dev/framework", to_string(framework));
    if (!id.empty()) w.member(evaluation_label, id);
  });
}

void write_environment(json::Writer& w, std::span<const Variable> variables, const WorkflowOptions& options) {
  w.array("env", [&] {
    for (const Variable& each : variables)
      w.object([&] {
        w.member("name", each.name);
        w.member("value", fmt::format("{{{{workflow.parameters.{}}}}}", each.parameter));
      });
    w.object([&] {
      w.member("name", "STACKGATE_OUTPUT");
      w.member("value", output_directory);
    });
    if (!options.datastore_url.empty())
      w.object([&] {
        w.member("name", datastore_variable);
        w.member("value", options.datastore_url);
      });
    if (const std::string place = results_place(options, "{{workflow.parameters.evaluation}}"); !place.empty())
      w.object([&] {
        w.member("name", results_variable);
        w.member("value", place);
      });
    for (const KeyVariable& each : key_variables())
      w.object([&] {
        w.member("name", each.name);
        w.object("valueFrom", [&] {
          w.object("secretKeyRef", [&] {
            w.member("name", options.api_key_secret);
            w.member("key", each.secret_key);
            w.member("optional", true);
          });
        });
      });
  });
}

void write_container(json::Writer& w, const FrameworkProgram& program, std::span<const Variable> variables,
                     const WorkflowOptions& options) {
  w.object("container", [&] {
    w.member("image", options.image(program.framework));
    w.array("command", [&] {
      w.value("/bin/sh");
      w.value("-c");
    });
    w.array("args", [&] { w.value(script_of(program)); });
    write_environment(w, variables, options);
    w.array("volumeMounts", [&] {
      w.object([&] {
        w.member("name", "output");
        w.member("mountPath", output_directory);
      });
    });
    w.object("securityContext", [&] {
      w.member("allowPrivilegeEscalation", false);
      w.object("capabilities", [&] { w.array("drop", [&] { w.value("ALL"); }); });
      w.object("seccompProfile", [&] { w.member("type", "RuntimeDefault"); });
    });
  });
}

/// Small results are a parameter, too: they are still there when the pods, and their logs, are gone.
void write_outputs(json::Writer& w) {
  w.object("outputs", [&] {
    w.array("parameters", [&] {
      w.object([&] {
        w.member("name", "results");
        w.member("globalName", "results");
        w.object("valueFrom", [&] {
          w.member("path", fmt::format("{}/parameter", output_directory));
          w.member("default", "");
        });
      });
    });
  });
}

void write_template(json::Writer& w, const FrameworkProgram& program, std::span<const Variable> variables,
                    const WorkflowOptions& options) {
  w.object([&] {
    w.member("name", "evaluate");
    // Pods that were lost run again; a framework that failed would fail again.
    w.object("retryStrategy", [&] {
      w.member("limit", std::to_string(options.pod_retries));
      w.member("retryPolicy", "OnError");
      w.object("backoff", [&] {
        w.member("duration", "30s");
        w.member("factor", "2");
        w.member("maxDuration", "10m");
      });
    });
    write_container(w, program, variables, options);
    write_outputs(w);
  });
}

void write_spec(json::Writer& w, const FrameworkProgram& program, std::span<const Variable> variables, bool with_values,
                const WorkflowOptions& options) {
  w.object("spec", [&] {
    w.member("entrypoint", "evaluate");
    if (!options.service_account.empty()) w.member("serviceAccountName", options.service_account);
    w.member("activeDeadlineSeconds", static_cast<std::int64_t>(options.deadline.count()));
    w.object("ttlStrategy",
             [&] { w.member("secondsAfterCompletion", static_cast<std::int64_t>(options.keep_finished.count())); });
    if (options.archive_logs) w.member("archiveLogs", true);
    // Logs go with the pods, so these stay until the workflow is complete.
    w.object("podGC", [&] {
      w.member("strategy", "OnWorkflowCompletion");
      w.member("deleteDelayDuration", "300s");
    });
    w.object("podMetadata", [&] { write_labels(w, program.framework, {}); });
    if (!options.image_pull_secrets.empty())
      w.array("imagePullSecrets", [&] {
        for (const std::string& each : options.image_pull_secrets) w.object([&] { w.member("name", each); });
      });
    w.object("arguments", [&] {
      w.array("parameters", [&] {
        for (const Variable& each : variables)
          w.object([&] {
            w.member("name", each.parameter);
            w.member("value", with_values ? each.value : std::string());
          });
      });
    });
    w.array("volumes", [&] {
      w.object([&] {
        w.member("name", "output");
        w.object("emptyDir", [] {});
      });
    });
    w.array("templates", [&] { write_template(w, program, variables, options); });
  });
}

}  // namespace workflow_json_detail

std::string workflow_name(std::string_view id) {
  if (!validate::grammar::check_dns_label(id)) return std::string(id);
  return fmt::format("evaluation-{:016x}", fnv1a(id));
}

std::string template_name(Framework framework, const WorkflowOptions& options) {
  return fmt::format("{}-{}", options.template_prefix.empty() ? "stackgate" : options.template_prefix,
                     to_string(framework));
}

std::string submit_body(const EvaluationRequest& request, std::string_view id, const WorkflowOptions& options,
                        bool dry_run) {
  using namespace workflow_json_detail;
  const FrameworkProgram* program = program_of(request.framework);
  if (program == nullptr) return {};
  return json::object_text([&](json::Writer& w) {
    if (dry_run) w.member("serverDryRun", true);
    w.object("workflow", [&] {
      w.member("apiVersion", "argoproj.io/v1alpha1");
      w.member("kind", "Workflow");
      w.object("metadata", [&] {
        w.member("name", workflow_name(id));
        write_labels(w, request.framework, workflow_name(id));
      });
      write_spec(w, *program, variables_of(request, id), true, options);
    });
  });
}

std::string submit_template_body(const EvaluationRequest& request, std::string_view id, const WorkflowOptions& options,
                                 bool dry_run) {
  return json::object_text([&](json::Writer& w) {
    w.member("resourceKind", "WorkflowTemplate");
    w.member("resourceName", template_name(request.framework, options));
    w.object("submitOptions", [&] {
      if (dry_run) w.member("serverDryRun", true);
      w.member("name", workflow_name(id));
      w.member("labels", fmt::format("{}={}", evaluation_label, workflow_name(id)));
      if (!options.service_account.empty()) w.member("serviceAccount", options.service_account);
      w.array("parameters", [&] {
        for (const Variable& each : variables_of(request, id))
          w.value(fmt::format("{}={}", each.parameter, each.value));
      });
    });
  });
}

std::string workflow_template(const FrameworkProgram& program, const WorkflowOptions& options) {
  using namespace workflow_json_detail;
  return json::object_text([&](json::Writer& w) {
    w.member("apiVersion", "argoproj.io/v1alpha1");
    w.member("kind", "WorkflowTemplate");
    w.object("metadata", [&] {
      w.member("name", template_name(program.framework, options));
      if (!options.kubernetes_namespace.empty()) w.member("namespace", options.kubernetes_namespace);
      write_labels(w, program.framework, {});
    });
    write_spec(w, program, variables_of({.framework = program.framework}, {}), false, options);
  });
}

}  // namespace stackgate::evaluator
