#include "services/guardrail/program/program.hpp"
#include "services/kit/settings/table.hpp"

namespace stackgate::guardrail {
namespace options_detail {

void append_own(std::vector<settings::Setting>& out) {
  using namespace settings::table;
  append(
      out, "Configurations",
      {directory("config-store", "the folder of configurations, one in each subdirectory; or a mounted ConfigMap"),
       text("default-config-id", "the one for requests that name none", "default"),
       flag("inline-configs", "requests may bring a configuration of their own: guardrails.config", "false"),
       flag("managed-configs",
            "serve /v1/guardrail/configs: configurations created, changed and deleted by whoever reaches it, kept in "
            "the database",
            "false"),
       flag("disable-chat-ui", "no chat page at /", "false"),
       duration("reload-interval", "between two looks at the folder", "2s", 1, 3'600)});
  append(out, "Check", {choice("output", {"text", "json"}, "of check: for people, or an array of findings", "text")});
  append(out, "Models",
         {url("inference-url", "the endpoint of models that name none: http://vllm:8000/v1"),
          by_variable("INFERENCE_ENDPOINT_API_KEY", secret("inference-api-key", "its key; or its -file")),
          duration("inference-timeout", "for one call of a model, its repetitions included", "2m", 1, 86'400),
          text("inference-ca-file", "certificates to trust for https, besides the system's"),
          integer("max-model-calls", "calls of models under way", "512", 1, 65'536),
          integer("max-queue", "calls that wait for a place; beyond it: 503", "1024", 0, 1'000'000)});
  append(out, "Conversations",
         {duration("thread-expiry", "conversations that nobody went on with are forgotten after it", "720h", 1,
                   315'360'000),
          duration("thread-lease", "a replica that dies holds the conversations of its turns for so long", "30s", 1,
                   3'600)});
  append(out, "Actions",
         {text("python", "what runs actions.py; empty: none is run", "python3"),
          duration("action-timeout", "for one action of actions.py", "10s", 1, 3'600),
          size("action-memory", "of one configuration's process", "512Mi", 64 << 20),
          flag("action-network", "actions.py may open connections", "false")});
}

}  // namespace options_detail

settings::Program program() {
  settings::Program out{
      .name = "stackgate-guardrail",
      .summary = "Rails in front of any OpenAI endpoint, from configurations of NeMo Guardrails",
      .commands = {{"serve", "answer requests; the default"},
                   {"migrate", "wait for the database and bring it to this version's schema", false, {"Data", "Log"}},
                   {"check",
                    "DIR: every fault of these configurations, with file, line and cure",
                    true,
                    {"default-config-id", "Actions", "output"}}},
      .settings = service::common_settings(),
      .examples =
          "  stackgate-guardrail check ./configs\n"
          "  stackgate-guardrail --config-store ./configs --inference-url http://127.0.0.1:8000/v1 "
          "--listen 127.0.0.1:8001\n"
          "  curl http://127.0.0.1:8001/v1/chat/completions -H 'Content-Type: application/json' -d "
          "'{\"config_id\":\"default\",\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}]}'"};
  options_detail::append_own(out.settings);
  return out;
}

validate::Findings check_options(const settings::Values& values) {
  validate::Findings out;
  if (values.command() != "serve") return out;
  if (values.text("config-store").empty() && !values.flag("managed-configs") && !values.flag("inline-configs"))
    out.push_back(settings::fault("--config-store", "is missing", "name the folder of configurations"));
  return out;
}

}  // namespace stackgate::guardrail
