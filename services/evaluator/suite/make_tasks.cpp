#include "services/evaluator/suite/make_tasks.hpp"

#include <utility>

#include "services/evaluator/suite/calls/make_call_tasks.hpp"
#include "services/evaluator/suite/code/make_code_tasks.hpp"
#include "services/evaluator/suite/conversations/make_conversation_tasks.hpp"
#include "services/evaluator/suite/harness/harness.hpp"
#include "services/evaluator/suite/retrieval/make_retrieval_tasks.hpp"
#include "services/evaluator/suite/rows/make_row_tasks.hpp"

namespace stackgate::evaluator {

std::expected<Tasks, validate::Findings> make_tasks(const EvaluationRequest& request, const DataSource& data,
                                                    validate::Findings* warnings) {
  switch (request.framework) {
    case Framework::custom:
    case Framework::lm_eval_harness:
      return make_harness_tasks(request, data, warnings);
    case Framework::similarity_metrics:
    case Framework::llm_as_judge:
      return make_row_tasks(request, data);
    case Framework::bfcl:
      return make_call_tasks(request, data);
    case Framework::mt_bench:
      return make_mt_bench_tasks(request, data);
    case Framework::retriever:
      return make_retriever_tasks(request, data);
    case Framework::rag:
      return make_rag_tasks(request, data);
    case Framework::agentic_eval:
      return make_agent_tasks(request, data);
    case Framework::bigcode_eval_harness:
      return make_code_tasks(request, data);
  }
  std::unreachable();
}

}  // namespace stackgate::evaluator
