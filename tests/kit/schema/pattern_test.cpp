#include "services/kit/schema/pattern.hpp"

#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <re2/re2.h>

#include "crds/embedded.hpp"
#include "services/kit/json/parse.hpp"

namespace stackgate::validate::schema {
namespace {

void collect_patterns(const json::Value& value, std::vector<std::string>& out) {
  for (const json::Member& each : value.members()) {
    if (each.key == "pattern" && each.value.is_string()) out.emplace_back(each.value.string());
    collect_patterns(each.value, out);
  }
  for (const json::Value& each : value.items()) collect_patterns(each, out);
}

std::vector<std::string> patterns_of_our_crds() {
  std::vector<std::string> out;
  for (const crds::KindInfo& kind : crds::kinds) {
    json::Document document;
    collect_patterns(*json::parse(crds::definition_json(kind.kind), document), out);
  }
  std::ranges::sort(out);
  out.erase(std::ranges::unique(out).begin(), out.end());
  return out;
}

class Pair {
 public:
  explicit Pair(const std::string& source) : reference_(source) {
    std::string error;
    pattern_ = Pattern::compile(source, error);
    EXPECT_NE(pattern_, nullptr) << source << ": " << error;
    EXPECT_TRUE(reference_.ok()) << source;
  }
  void expect_same(const std::string& text) const {
    EXPECT_EQ(pattern_->matches(text), re2::RE2::PartialMatch(text, reference_))
        << pattern_->source() << " on " << text;
  }

 private:
  std::shared_ptr<const Pattern> pattern_;
  re2::RE2 reference_;
};

TEST(Automaton, TakesThePatternsOfOurSchemas) {
  const auto sources = patterns_of_our_crds();
  EXPECT_GT(sources.size(), 10U);
  for (const std::string& source : sources) EXPECT_TRUE(Automaton::compile(source)) << source;
}

TEST(Automaton, LeavesTheRestToTheLibrary) {
  for (const std::string_view source :
       {"a", "^a", "a$", "^a|b$", "^(?i)a$", "^a*?$", "^\\ba$", "^[[:alpha:]]$", "^(a$", "^a\\$", "^é$", "^a{2000}$",
        "^\\pL$", "^a**$", "^$a$", "^(a|^b)$", "^\\x41$", "^(\\q){0}$", "^a{02}$"})
    EXPECT_FALSE(Automaton::compile(source)) << source;
}

TEST(Automaton, AgreesWithTheLibraryOnChosenTexts) {
  const std::vector<std::string> sources{
      "^$",        "^a$",         "^a*$",    "^a+b?$",    "^(ab|c)*$",   "^[a-c]{2,3}$",
      "^[^a]$",    "^.$",         "^..$",    "^\\S+$",    "^\\s$",       "^\\d{3}$",
      "^\\w*\\W$", "^(a|b|)c$",   "^[]a]$",  "^[\\]a-]$", "^[a\\-z]$",   "^(?:a(b(c)?)?)$",
      "^a{0}b$",   "^a{2}$",      "^a{2,}$", "^(a*)*$",   "^(a|b)*abb$", "^[^/?#]+$",
      "^()$",      "^\\.\\/\\+$", "^[.]$",   "^[+--]$"};
  const std::vector<std::string> texts{
      "",    "a", "b",   "ab", "abc", "aa", "aaa", "aaaa", "c",  "cab", "é",      "éé",  "a\n",
      "\n",  " ", "123", "12", "_!",  "]",  "-",   "ac",   "bc", "abb", "aababb", "x/y", "\xf0\x9f\x98\x80",
      "./+", ".", "+",   ",",  "z"};
  for (const std::string& source : sources) {
    const Pair pair(source);
    for (const std::string& text : texts) pair.expect_same(text);
  }
}

TEST(Automaton, AgreesWithTheLibraryOnRandomTexts) {
  std::mt19937 random(7);
  const std::string alphabet = "ab01-._/:*+ \tzZ@GiKm?#[]eE";
  for (const std::string& source : patterns_of_our_crds()) {
    const Pair pair(source);
    for (int round = 0; round < 400; ++round) {
      std::string text;
      const std::size_t length = random() % 12;
      for (std::size_t i = 0; i < length; ++i)
        text += random() % 20 == 0 ? "é" : std::string(1, alphabet[random() % alphabet.size()]);
      pair.expect_same(text);
    }
    for (const std::string text : {"http://a.b:1/c", "10Gi", "my-app", "a.b.c", "a/b", "registry.example.com/x",
                                   "10.0.0.0:9000", "*.a.b", "2025-01-01", "UPPER_CASE", "1h30m", "500ms"})
      pair.expect_same(text);
  }
}

TEST(Automaton, AgreesWithTheLibraryOnRandomPatterns) {
  std::mt19937 random(11);
  const std::vector<std::string> pieces{"a",   "b",   "[ab]",   "[^a]",   ".", "(a|b)", "(ab)?",
                                        "\\d", "\\S", "a{1,2}", "(b*a)+", "-", "(?:a|)"};
  const std::vector<std::string> suffixes{"", "", "*", "+", "?", "{2}", "{1,3}"};
  for (int round = 0; round < 1500; ++round) {
    std::string source = "^";
    const std::size_t count = random() % 5;
    for (std::size_t i = 0; i < count; ++i) {
      const std::string& piece = pieces[random() % pieces.size()];
      source += "(" + piece + ")" + suffixes[random() % suffixes.size()];
    }
    source += "$";
    ASSERT_TRUE(Automaton::compile(source)) << source;
    const re2::RE2 reference(source);
    ASSERT_TRUE(reference.ok()) << source;
    const auto automaton = Automaton::compile(source);
    for (int i = 0; i < 20; ++i) {
      std::string text;
      const std::size_t length = random() % 7;
      for (std::size_t at = 0; at < length; ++at)
        text += random() % 12 == 0 ? "é" : std::string(1, "ab1- "[random() % 5]);
      EXPECT_EQ(automaton->matches(text), re2::RE2::PartialMatch(text, reference)) << source << " on " << text;
    }
  }
}

TEST(Patterns, ExplainThemselvesByTheGrammarTheyStandFor) {
  std::string error;
  const auto quantity = Pattern::compile("^\\+?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][-+]?[0-9]+)?$",
                                         error, "quantity");
  EXPECT_EQ(explain_mismatch(*quantity, "10GB").fix, "write \"10Gi\" (binary) or \"10G\" (decimal)");
  const auto odd = Pattern::compile("^x[0-9]y$", error);
  EXPECT_NE(explain_mismatch(*odd, "z").fix.find("^x[0-9]y$"), std::string::npos);
}

TEST(Patterns, KeepGrammarsApart) {
  std::string error;
  const auto label = Pattern::compile("^[a-c]+$", error, "dns-label");
  const auto value = Pattern::compile("^[a-c]+$", error, "label-value");
  EXPECT_NE(label->grammar(), value->grammar());
  EXPECT_EQ(Pattern::compile("^[a-c]+$", error)->grammar(), nullptr);
}

TEST(Patterns, OfAGrammarThatNobodyKnowsDoNotCompile) {
  std::string error;
  EXPECT_EQ(Pattern::compile("^a$", error, "dns-lable"), nullptr);
  EXPECT_EQ(error, "there is no grammar \"dns-lable\"");
}

// What each grammar takes and refuses, and so every pattern whose source names it.
struct Sample {
  std::string_view grammar;
  std::vector<std::string_view> good, bad;
};
const std::vector<Sample> samples{
    {"quantity", {"10Gi", "500m", "1.5", "2e3"}, {"10GB", "x", "1 Gi", "1Gb", "a-b", "1g"}},
    {"prometheus-duration", {"30s", "1h30m", "500ms", "1w"}, {"30", "1m1h", "x", "1.5m", "1sec", "30 s"}},
    {"positive-integer", {"1", "8", "10", "999"}, {"0", "x", "1.5", "-1", "+1", " 1"}},
    {"http-url",
     {"http://a", "https://a.b:1/c", "http://10.0.0.1/x", "https://a?b"},
     {"a", "ftp://a", "http:/a", "//a", "a:1", "http a"}},
    {"host-port", {"a:1", "a.b:9000", "[::1]:80", "10.0.0.1:1"}, {"a", "http://a:1", "a:b", ":1", "a:1/x", "a b:1"}},
    {"dns1035-label", {"a", "a-b", "a1", "abc"}, {"1a", "a.b", "A", "a_b", "-a", "a-"}},
    {"dns-label", {"a", "a-b", "1a", "0"}, {"a.b", "A", "a_b", "-a", "a-", "a b"}},
    {"dns-subdomain", {"a", "a.b", "1.a-b", "a.b.c"}, {"a..b", "A", "a_b", "-a", "*.a", "a."}},
    {"ingress-host", {"a", "a.b", "*.a", "*.a.b"}, {"a..b", "A", "a_b", "-a", "*", "a."}},
    {"env-name", {"A", "a.b", "_a", "-a1"}, {"1a", "a b", "a=b", "a/b", "", "a:b"}},
    {"config-key", {"A", "1.b", ".a", "-a_1"}, {"a b", "a=b", "a/b", "", "a:b", "é"}},
    {"label-value", {"A", "a.b_c-d", "1", "Ab"}, {"-a", "a-", "a b", "a/b", ".a", "a:b"}},
};

TEST(Patterns, OfOurSchemasStateTheGrammarThatTheirSourceNames) {
  std::size_t named = 0;
  for (const std::string& source : patterns_of_our_crds()) {
    const std::string_view name = crds::grammar_of(source);
    if (name.empty()) continue;
    ++named;
    std::string error;
    const auto pattern = Pattern::compile(source, error, name);
    ASSERT_NE(pattern, nullptr) << source << ": " << error;
    const auto sample = std::ranges::find(samples, name, &Sample::grammar);
    ASSERT_NE(sample, samples.end()) << name;
    for (const std::string_view text : sample->good) {
      EXPECT_TRUE(pattern->matches(text)) << source << " on " << text;
      EXPECT_FALSE(pattern->grammar()(text)) << name << " on " << text;
    }
    for (const std::string_view text : sample->bad) {
      EXPECT_FALSE(pattern->matches(text)) << source << " on " << text;
      EXPECT_TRUE(pattern->grammar()(text)) << name << " on " << text;
    }
  }
  EXPECT_GE(named, samples.size());
}

}  // namespace
}  // namespace stackgate::validate::schema
