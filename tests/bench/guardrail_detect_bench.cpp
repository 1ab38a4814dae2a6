// What each detector costs on 16 KB of ordinary text.
#include <string>

#include "services/guardrail/detect/injection.hpp"
#include "services/guardrail/detect/jailbreak.hpp"
#include "services/guardrail/detect/language.hpp"
#include "services/guardrail/detect/patterns.hpp"
#include "services/guardrail/detect/sensitive_data.hpp"
#include "tests/bench/figure.hpp"

namespace {

using namespace stackgate;
using namespace stackgate::guardrail;

constexpr std::size_t text_bytes = 16U << 10U;

/// Letters, questions and a table: with what people write into them now and then.
std::string ordinary() {
  constexpr std::string_view page =
      "Dear Mrs. Miller, thank you for your order of 12 March 2024. We have sent the two chairs and the table to 14 "
      "Park "
      "Road, Bristol, and expect them to arrive on Tuesday before 10:30. If nobody is at home, please call our driver "
      "on "
      "020 7946 0958, or write to service@shop.example.com. The total of 1,249.50 was charged to your card ending in "
      "1111. "
      "You will find the terms of delivery, which have changed since last year, at "
      "https://shop.example.com/terms?lang=en. "
      "Could you explain to me how a compiler turns a loop into instructions, and why the order of two additions may "
      "matter? I have read that floating point numbers are not associative; 0.1 + 0.2 is not 0.3, for example. In the "
      "United States, Germany and Japan the rules differ, as John Smith said in his talk. Summarise the following "
      "minutes in three sentences, and list who has to do what until when. The server at 192.168.0.17 did not answer "
      "between 14:05 and 14:20; after that everything went well, and nobody complained. Version 2.4.1 has 350 "
      "changes. ";
  std::string out;
  while (out.size() < text_bytes) out += page;
  out.resize(text_bytes);
  return out;
}

void measure(const char* name, const std::string& text, const std::vector<std::string>& entities, double limit) {
  const auto detector = SensitiveData::compile({.entities = entities}, "bench");
  if (!detector) std::abort();
  std::size_t found = 0;
  const double took = bench::microseconds([&] { found = detector->find(text).size(); });
  bench::print(
      {.name = name, .value = took / 1000, .unit = "ms", .limit = limit, .text = fmt::format("{} found", found)});
}

}  // namespace

int main() {
  const std::string text = ordinary();
  const std::vector<std::string> all(served_entities().begin(), served_entities().end());
  measure("sensitive_data_16_kb", text, all, 0.4);
  measure("sensitive_data_16_kb_4_entities", text, {"EMAIL_ADDRESS", "PHONE_NUMBER", "CREDIT_CARD", "US_SSN"}, 0.4);
  std::string digits;
  while (digits.size() < text_bytes) digits += "4111 1111 1111 1112, 536-22-1234; ";
  measure("sensitive_data_16_kb_of_numbers", digits, all, 2);
  const auto patterns =
      Patterns::compile({.patterns = {"\\bproject[- ]?osiris\\b", "SKU-[0-9]{6}", "(?i)internal use only",
                                      "[A-Z]{2}[0-9]{4}-[a-z]+", "password\\s*[:=]"}},
                        "bench");
  if (!patterns) std::abort();
  const double took = bench::microseconds([&] { (void)patterns->find(text); });
  bench::print({.name = "patterns_5_of_16_kb", .value = took / 1000, .unit = "ms", .limit = 0.2, .text = ""});
  const auto injection = Injection::compile({.injections = {"code", "sqli", "template", "xss"}}, "bench");
  if (!injection) std::abort();
  const double searched = bench::microseconds([&] { (void)injection->find(text); });
  bench::print({.name = "injection_16_kb", .value = searched / 1000, .unit = "ms", .limit = 0.5, .text = ""});
  const double scored = bench::microseconds([&] { (void)jailbreak_scores(text); });
  bench::print({.name = "jailbreak_16_kb", .value = scored / 1000, .unit = "ms", .limit = 0.4, .text = ""});
  const double told = bench::microseconds([&] { (void)language_of(text); });
  bench::print({.name = "language_16_kb", .value = told / 1000, .unit = "ms", .limit = 0.6, .text = ""});
  return bench::exit_status;
}
