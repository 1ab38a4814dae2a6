// What the command line says of itself: help that fits a terminal, and complaints that name what was written.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/settings/variables.hpp"

namespace stackgate {

using Words = std::span<const char* const>;  // of argv

struct OptionSource {
  std::vector<std::string> flags;  // "--output", "-o"
  std::string variable;            // "STACKGATE_OUTPUT"; empty when there is none
};

/// Whether one of the flags stands among the words.
bool is_written(Words words, std::span<const std::string> flags);
bool asks_for_help(Words words);

/// Lines that are too long go on under their description, where they have one.
std::string wrap_help(std::string_view help, std::size_t columns = 80);

/// What the parser of the command line complains of, in words that help: options whose values come from the
/// environment are called by their variables, a misspelt one gets its likely name.
std::string complaint(std::string_view fault, Words words, std::span<const OptionSource> options);

/// "; did you mean '--output'?", or nothing.
std::string did_you_mean(std::string_view word, std::span<const std::string> known);

/// Of the environment, the variables that no option reads although they look like one that does.
std::vector<settings::Misspelt> misspelt_variables(std::span<const OptionSource> options);
/// A line for each.
std::string to_text(std::span<const settings::Misspelt> variables);

namespace help {

inline constexpr const char* root =
    "'stackgate COMMAND --help' tells a command's options, with examples.\n"
    "'stackgate rules' lists what is checked.";
inline constexpr const char* gate =
    "Examples:\n"
    "  stackgate gate --tls-cert tls.crt --tls-key tls.key --no-cluster\n"
    "  stackgate gate --listen 0.0.0.0:9443 --certs self-managed\n\n"
    "Each option is also an environment variable: --log-format is\n"
    "STACKGATE_LOG_FORMAT.";
inline constexpr const char* operate =
    "Examples:\n"
    "  stackgate operator --certs self-managed\n"
    "  stackgate operator --no-admission --kubeconfig ~/.kube/config\n\n"
    "--no-leader-elect is for an operator that is alone in its cluster: two that\n"
    "reconcile at a time undo each other's work.\n\n"
    "Each option is also an environment variable: --log-format is\n"
    "STACKGATE_LOG_FORMAT.";
inline constexpr const char* plan =
    "Examples:\n"
    "  stackgate plan llm.yaml\n"
    "  stackgate plan --output json stack/ | kubectl diff -f -\n\n"
    "Caches count as ready, and optional APIs (Gateway API, Prometheus Operator,\n"
    "LeaderWorkerSet) as installed.\n"
    "Exit status: 0 all could be planned, 1 a resource is refused, 2 something could\n"
    "not be read.";
inline constexpr const char* validate =
    "Examples:\n"
    "  stackgate validate manifests/                  every .yaml, .yml, .json below\n"
    "  kustomize build . | stackgate validate -       a stream\n"
    "  stackgate validate --old stored.yaml new.yaml  would this update be accepted?\n"
    "  stackgate validate --cluster manifests/        are secrets and volumes there?\n"
    "  stackgate validate --output sarif . > stackgate.sarif\n\n"
    "Exit status: 0 no errors, 1 errors, 2 something could not be read, there was\n"
    "nothing to check, or the cluster could not be asked.";
inline constexpr const char* rules = "Examples:\n  stackgate rules\n  stackgate rules explain schema-required";
inline constexpr const char* explain = "Example:\n  stackgate rules explain schema-required";
inline constexpr const char* crds =
    "Examples:\n"
    "  stackgate crds isvc icache\n"
    "  stackgate crds | kubectl apply --server-side -f -\n"
    "  stackgate crds --apply --dry-run      what would an upgrade change?\n"
    "  stackgate crds --apply\n\n"
    "Exit status with --apply: 0 all are there and served, 1 refused or failed (run\n"
    "it again).";

}  // namespace help

}  // namespace stackgate
