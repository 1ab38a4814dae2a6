// Any text through the detectors: spans are whole characters in order, and what stands before the tail of a part of
// the text is what the whole text has there. What comes before the first byte 0 is a pattern.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "services/guardrail/detect/injection.hpp"
#include "services/guardrail/detect/jailbreak.hpp"
#include "services/guardrail/detect/language.hpp"
#include "services/guardrail/detect/patterns.hpp"
#include "services/guardrail/detect/perplexity.hpp"
#include "services/guardrail/detect/sensitive_data.hpp"
#include "services/kit/base/utf8.hpp"
#include "tests/guardrail/detect/pieces.hpp"

using namespace stackgate;
using namespace stackgate::guardrail;

namespace {

void judge(const std::string& fault, std::string_view text) {
  if (fault.empty()) return;
  std::fprintf(stderr, "%s\n%.*s\n", fault.c_str(), static_cast<int>(text.size()), text.data());
  std::abort();
}

template <class Detector>
void check(const Detector& detector, std::string_view text, std::size_t cut, bool tails) {
  const Spans spans = detector.find(text);
  judge(test::fault_of(text, spans), text);
  if (tails) judge(test::tail_fault(detector, text, spans, cut), text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto all = SensitiveData::compile(
      {.entities = {served_entities().begin(), served_entities().end()}, .score_threshold = 0}, "p");
  static const auto injection = Injection::compile({.injections = {"code", "sqli", "template", "xss"}}, "p");
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t zero = input.find('\0');
  const std::string_view text = zero == input.npos ? input : input.substr(zero + 1);
  if (!utf8::is_valid(text)) {
    (void)all->masked(text, all->find(text));
    return 0;
  }
  std::size_t cut = size * 7 % (text.size() + 1);
  while (cut < text.size() && (text[cut] & '\xC0') == '\x80') ++cut;
  check(*all, text, cut, text.size() <= longest_open_tail);
  judge(test::fault_of(text, injection->find(text)), text);
  const Surprise found = surprise(text);
  if (!(found.perplexity >= 1) || found.symbols > 2 * text.size() + 1) std::abort();
  (void)jailbreak_sign(jailbreak_scores(text));
  if (const Language language = language_of(text); language.confidence < 0 || language.confidence > 1) std::abort();
  if (zero == input.npos || zero > 100) return 0;
  const auto patterns = Patterns::compile({.patterns = {std::string(input.substr(0, zero))}}, "p");
  if (!patterns) {
    if (patterns.error().empty() || patterns.error()[0].problem.empty()) std::abort();
    return 0;
  }
  check(*patterns, text, cut, patterns->unbounded().empty());
  for (const Span& span : patterns->find(text))  // the bound holds
    if (patterns->unbounded().empty() && span.end - span.begin > patterns->open_tail(std::string(4096, 'x')))
      std::abort();
  return 0;
}
