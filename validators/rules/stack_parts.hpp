// Sub-objects and values of the stack kinds' specs, one .cpp for each concern: endpoints, training, volumes and object
// stores. Each function does nothing when the sub-object is absent.
#pragma once
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "services/kit/grammar/problem.hpp"
#include "validators/rules/context.hpp"

namespace stackgate::validate {

// --- Addresses of other services, beyond the grammar that check_endpoint() holds ---

/// The base URL of a service that the workload calls: grammar, no query, not the pod itself, not its own Service.
/// `object` is the whole resource.
void check_service_endpoint(Context& context, Field object, Field endpoint);

/// The same for a vector database, which may also be PostgreSQL's.
void check_vector_database_endpoint(Context& context, Field object, Field endpoint);

/// `spec.datastore.endpoint` of a kind that calls the datastore's root.
void check_datastore_root(Context& context, Field endpoint);

/// `spec.datastore.endpoint` and `spec.entitystore.endpoint` are two addresses.
void check_endpoints_differ(Context& context, Field datastore, Field entitystore);

/// The URL's path ends in `suffix` ("/v1"), without a '/' behind it. `what` begins the problem: "the base URL".
void check_endpoint_suffix(Context& context, const Rule& rule, Field endpoint, std::string_view suffix,
                           std::string_view what);

// --- The customizer's training jobs ---

/// `spec.trainingConfig`, without its queue and its claims' access modes.
void check_training(Context& context, Field training);

// --- Whether a claim can serve all the pods that mount it ---

/// The claim that the operator creates, by its `volumeAccessMode`; also one that exists, when the cluster cannot be
/// asked for its modes. `spec` is the whole resource's: how a claim is used depends on the kind, the replicas and more.
void check_volumes(Context& context, Field spec);

/// A claim with `create: false` that was found in the cluster; `name` is the field that names it.
void check_existing_claim(Context& context, Field spec, Field name, std::span<const std::string> access_modes);

// --- The evaluator's frameworks ---

struct EvaluationFramework {
  std::string_view field;  // of spec.evaluationImages
  std::string_view word;   // in the variable STACKGATE_EVALUATION_IMAGE_<word>
};
inline constexpr std::array<EvaluationFramework, 9> evaluation_frameworks{
    {{"bigcodeEvalHarness", "BIGCODE_EVAL_HARNESS"},
     {"lmEvalHarness", "LM_EVAL_HARNESS"},
     {"similarityMetrics", "SIMILARITY_METRICS"},
     {"llmAsJudge", "LLM_AS_JUDGE"},
     {"mtBench", "MT_BENCH"},
     {"retriever", "RETRIEVER"},
     {"rag", "RAG"},
     {"bfcl", "BFCL"},
     {"agenticEval", "AGENTIC_EVAL"}}};

// --- An S3-compatible object store ---

/// {endpoint, bucketName, region, ssl, credentials}.
void check_object_store(Context& context, Field store);

/// Source: Amazon S3 user guide, "General purpose bucket naming rules".
std::optional<grammar::Problem> check_bucket_name(std::string_view text);

}  // namespace stackgate::validate
