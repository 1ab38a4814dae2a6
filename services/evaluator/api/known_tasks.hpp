// Names of tasks that the images' harnesses are known to have: for warnings of misspelt ones. Pure.
// Source: lm-evaluation-harness and bigcode-evaluation-harness, their lists of tasks and groups.
#pragma once
#include <array>
#include <span>
#include <string_view>

#include "services/evaluator/api/framework.hpp"

namespace stackgate::evaluator {

inline constexpr std::array<std::string_view, 66> lm_eval_tasks = {
    "aexams",         "agieval",        "ai2_arc",     "anli",
    "arabicmmlu",     "arc_challenge",  "arc_easy",    "arithmetic",
    "asdiv",          "babi",           "bbh",         "belebele",
    "bigbench",       "blimp",          "boolq",       "ceval-valid",
    "cmmlu",          "commonsense_qa", "copa",        "coqa",
    "crows_pairs",    "drop",           "eq_bench",    "fld",
    "glue",           "gpqa",           "gsm8k",       "gsm8k_cot",
    "gsm_plus",       "headqa",         "hellaswag",   "hendrycks_ethics",
    "hendrycks_math", "humaneval",      "ifeval",      "kmmlu",
    "lambada",        "lambada_openai", "leaderboard", "logiqa",
    "mathqa",         "mbpp",           "medmcqa",     "medqa_4options",
    "mgsm_direct",    "minerva_math",   "mmlu",        "mmlu_pro",
    "mutual",         "nq_open",        "openbookqa",  "piqa",
    "pubmedqa",       "qasper",         "race",        "sciq",
    "social_iqa",     "squadv2",        "super_glue",  "swag",
    "toxigen",        "triviaqa",       "truthfulqa",  "truthfulqa_mc2",
    "wikitext",       "winogrande"};
inline constexpr std::array<std::string_view, 16> bigcode_tasks = {"apps-introductory",
                                                                   "apps-interview",
                                                                   "apps-competition",
                                                                   "codexglue_code_to_text-python",
                                                                   "conala",
                                                                   "concode",
                                                                   "ds1000-all-completion",
                                                                   "humaneval",
                                                                   "humanevalplus",
                                                                   "instruct-humaneval",
                                                                   "mbpp",
                                                                   "mbppplus",
                                                                   "mercury",
                                                                   "multiple-js",
                                                                   "multiple-py",
                                                                   "pal-gsm8k-greedy"};

/// Empty: of this framework none is known.
constexpr std::span<const std::string_view> known_tasks(Framework framework) {
  if (framework == Framework::lm_eval_harness) return lm_eval_tasks;
  if (framework == Framework::bigcode_eval_harness) return bigcode_tasks;
  return {};
}

}  // namespace stackgate::evaluator
