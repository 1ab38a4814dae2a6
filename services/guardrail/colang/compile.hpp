// Colang 1.0 source to a Program, or every fault at once. Pure.
#pragma once
#include <cstdint>
#include <expected>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/guardrail/colang/program.hpp"
#include "services/kit/findings/finding.hpp"

namespace stackgate::guardrail::colang {

/// One *.co file: its name as the user knows it ("rails.co", "default__rails.co"), its text. Later files win where two
/// define a bot message of one name; two flows of one name are a finding unless `built_in` is set for the first.
struct Source {
  std::string name;
  std::string text;
  bool built_in = false;
};

/// At most so much is read; beyond it is a finding.
struct CompileLimits {
  std::size_t file_bytes = 1U << 20U;
  std::size_t bytes = 8U << 20U;  // of all files
  std::size_t files = 256;
  std::size_t flows = 10'000;
  std::size_t instructions = 200'000;  // of all flows
  std::uint32_t nesting = 32;          // blocks inside of blocks
};

/// Which names exist besides what the sources define. Empty functions: everything is known.
struct KnownNames {
  std::function<bool(std::string_view action)> action{};  // built in, of actions.py, of an action server
  std::vector<std::string_view> actions{};                // for "did you mean"
  std::vector<std::string_view> variables{};              // set by others than flows, besides context_variables()
};

/// What the guardrail itself sets: user_message, bot_message, relevant_chunks, config, …
std::span<const std::string_view> context_variables();

struct Compiled {
  Program program;                // what could be read, also when there are errors
  validate::Findings findings{};  // errors and warnings, in the order of files and places; `path` is
                                  // "rails.co:12:7", `problem` and `fix` as everywhere
};
Compiled compile(std::span<const Source> sources, const KnownNames& names = {}, const CompileLimits& limits = {});

}  // namespace stackgate::guardrail::colang
