// The JSON Schema of POST /v1/evaluations: the part of the rules that a schema can say, and a part of /openapi.json.
#pragma once
#include <string_view>

namespace stackgate::evaluator {

inline constexpr std::string_view evaluation_schema = R"({
  "type": "object", "additionalProperties": false,
  "required": ["name", "framework"],
  "properties": {
    "name": {"type": "string"},
    "description": {"type": "string", "maxLength": 4096},
    "framework": {"type": "string", "enum": ["custom", "lm-eval-harness", "bigcode-eval-harness", "similarity-metrics",
      "llm-as-judge", "mt-bench", "retriever", "rag", "bfcl", "agentic-eval"]},
    "model_endpoint": {"type": "string", "maxLength": 2048},
    "model": {"type": "string", "minLength": 1, "maxLength": 512},
    "api_key": {"type": "string", "minLength": 1, "maxLength": 4096},
    "tasks": {"type": "array", "minItems": 1, "maxItems": 100, "items": {"type": "string", "minLength": 1, "maxLength": 200}},
    "num_fewshot": {"type": "integer", "minimum": 0, "maximum": 100},
    "limit": {"type": "integer", "minimum": 1, "maximum": 1000000},
    "seed": {"type": "integer", "minimum": 0, "maximum": 4294967295},
    "dataset": {"type": "string", "maxLength": 2048},
    "rows": {"type": "array", "minItems": 1, "maxItems": 1000, "items": {"type": "object"}},
    "judge": {
      "type": "object", "additionalProperties": false, "required": ["model_endpoint"],
      "properties": {
        "model_endpoint": {"type": "string", "maxLength": 2048},
        "model": {"type": "string", "minLength": 1, "maxLength": 512},
        "api_key": {"type": "string", "minLength": 1, "maxLength": 4096}
      }
    },
    "embeddings": {
      "type": "object", "additionalProperties": false, "required": ["model_endpoint"],
      "properties": {
        "model_endpoint": {"type": "string", "maxLength": 2048},
        "model": {"type": "string", "minLength": 1, "maxLength": 512},
        "api_key": {"type": "string", "minLength": 1, "maxLength": 4096}
      }
    },
    "params": {
      "type": "object", "additionalProperties": false,
      "properties": {
        "parallelism": {"type": "integer", "minimum": 1, "maximum": 256},
        "request_timeout": {"type": "integer", "minimum": 1, "maximum": 3600},
        "max_retries": {"type": "integer", "minimum": 0, "maximum": 20},
        "max_tokens": {"type": "integer", "minimum": 1, "maximum": 131072},
        "temperature": {"type": "number", "minimum": 0, "maximum": 2},
        "top_p": {"type": "number", "minimum": 0, "maximum": 1},
        "format": {"type": "string", "enum": ["completions", "chat"]},
        "prompt": {"type": "string", "minLength": 1, "maxLength": 65536},
        "response": {"type": "string", "minLength": 1, "maxLength": 65536},
        "reference": {"type": "string", "minLength": 1, "maxLength": 65536},
        "judge_prompt": {"type": "string", "minLength": 1, "maxLength": 65536},
        "scores": {
          "type": "object", "minProperties": 1, "maxProperties": 20,
          "additionalProperties": {
            "type": "object", "additionalProperties": false, "required": ["pattern"],
            "properties": {
              "pattern": {"type": "string", "minLength": 1, "maxLength": 1000},
              "minimum": {"type": "number"},
              "maximum": {"type": "number"}
            }
          }
        },
        "metrics": {
          "type": "array", "minItems": 1, "maxItems": 6, "uniqueItems": true,
          "items": {"type": "string", "enum": ["accuracy", "bleu", "rouge", "em", "f1", "chrf"]}
        },
        "checks": {
          "type": "object", "minProperties": 1, "maxProperties": 20,
          "additionalProperties": {
            "type": "object", "additionalProperties": false, "required": ["operation", "reference"],
            "properties": {
              "operation": {"type": "string", "enum": ["equals", "not equals", "contains", "not contains",
                "starts with", "ends with"]},
              "reference": {"type": "string", "maxLength": 65536}
            }
          }
        },
        "bootstrap_rounds": {"type": "integer", "minimum": 0, "maximum": 100000},
        "engine": {"type": "string", "enum": ["native", "workflow"]},
        "index": {"type": "string", "enum": ["exact", "hnsw", "vector-db"]},
        "top_k": {"type": "integer", "minimum": 1, "maximum": 1000},
        "chunk_size": {"type": "integer", "minimum": 1, "maximum": 1000000},
        "chunk_overlap": {"type": "integer", "minimum": 0, "maximum": 1000000},
        "cutoffs": {
          "type": "array", "minItems": 1, "maxItems": 20, "uniqueItems": true,
          "items": {"type": "integer", "minimum": 1, "maximum": 1000}
        },
        "baseline": {"type": "string", "minLength": 1, "maxLength": 1024},
        "programs": {"type": "integer", "minimum": 1, "maximum": 1000},
        "ks": {
          "type": "array", "minItems": 1, "maxItems": 20, "uniqueItems": true,
          "items": {"type": "integer", "minimum": 1, "maximum": 1000}
        },
        "run_seconds": {"type": "integer", "minimum": 1, "maximum": 600}
      }
    }
  }
})";

}  // namespace stackgate::evaluator
