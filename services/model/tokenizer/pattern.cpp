#include "services/model/tokenizer/pattern.hpp"

#include <algorithm>
#include <utility>

#include "services/kit/base/freed.hpp"
#include "services/kit/base/try.hpp"
#include "services/model/tokenizer/pattern_syntax.hpp"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace stackgate::tokenizer {
namespace {

constexpr std::size_t longest_pattern = 16384;
// Backtracking points in one match: a run of 8 MiB blanks takes some of each byte.
constexpr std::uint32_t most_steps = 2'000'000, most_steps_per_byte = 8;
constexpr std::uint32_t most_heap_kib = 16384;
constexpr std::size_t jit_stack = 1U << 20U;

PCRE2_SPTR units(std::string_view text) { return reinterpret_cast<PCRE2_SPTR>(text.data()); }

std::string message_of(int code, std::size_t offset) {
  std::string text(256, '\0');
  const int length = pcre2_get_error_message(code, reinterpret_cast<PCRE2_UCHAR*>(text.data()), text.size());
  text.resize(length < 0 ? 0 : static_cast<std::size_t>(length));
  return "cannot be compiled: " + text + " (at byte " + std::to_string(offset) + " of its PCRE2 form)";
}

}  // namespace

std::expected<Pattern, std::string> Pattern::compile(std::string_view pattern) {
  if (pattern.size() > longest_pattern) return std::unexpected("is longer than 16 KiB");
  const std::string text = TRY(to_pcre(pattern));
  const std::unique_ptr<pcre2_compile_context, Freed<pcre2_compile_context_free>> context(
      pcre2_compile_context_create(nullptr));
  if (context == nullptr) return std::unexpected("needs more memory than there is");
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  pcre2_set_parens_nest_limit(context.get(), 100);
  int code = 0;
  PCRE2_SIZE offset = 0;
  pcre2_code* compiled =
      pcre2_compile(units(text), text.size(), PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C, &code,
                    &offset, context.get());
  if (compiled == nullptr) return std::unexpected(message_of(code, offset));
  pcre2_jit_compile(compiled, PCRE2_JIT_COMPLETE);  // without it matching is slower and gives the same
  return Pattern(std::shared_ptr<const void>(
      compiled, [](const void* owned) { pcre2_code_free(static_cast<pcre2_code*>(const_cast<void*>(owned))); }));
}

struct Matcher::State {
  std::unique_ptr<pcre2_match_data, Freed<pcre2_match_data_free>> data{pcre2_match_data_create(1, nullptr)};
  std::unique_ptr<pcre2_match_context, Freed<pcre2_match_context_free>> context{pcre2_match_context_create(nullptr)};
  std::unique_ptr<pcre2_jit_stack, Freed<pcre2_jit_stack_free>> stack;  // made when the small one does not do
};

Matcher::Matcher() : state_(std::make_shared<State>()) { pcre2_set_heap_limit(state_->context.get(), most_heap_kib); }

Matcher::Result Matcher::find(const Pattern& pattern, std::string_view text, std::size_t from, Match& match) {
  const auto* code = static_cast<const pcre2_code*>(pattern.code_.get());
  const std::size_t bytes = std::min<std::size_t>(text.size(), 1U << 24U);
  pcre2_set_match_limit(state_->context.get(), most_steps + most_steps_per_byte * static_cast<std::uint32_t>(bytes));
  const auto run = [&] {
    return pcre2_match(code, units(text), text.size(), from, PCRE2_NO_UTF_CHECK, state_->data.get(),
                       state_->context.get());
  };
  int result = run();
  if (result == PCRE2_ERROR_JIT_STACKLIMIT && state_->stack == nullptr) {
    state_->stack.reset(pcre2_jit_stack_create(32768, jit_stack, nullptr));
    pcre2_jit_stack_assign(state_->context.get(), nullptr, state_->stack.get());
    result = run();
  }
  if (result == PCRE2_ERROR_NOMATCH) return Result::none;
  if (result < 0) return Result::too_many_steps;
  const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(state_->data.get());
  match = {ends[0], ends[1]};
  if (match.end < match.begin) match.end = match.begin;  // \K is refused; still, never run backwards
  return Result::found;
}

}  // namespace stackgate::tokenizer
