#include "services/stackgate/validate/validate.hpp"

#include <ctime>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "services/kit/json/parse.hpp"
#include "tests/cli/documents.hpp"
#include "tests/cli/run_command.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate {
namespace {

using test::good;
using test::Ran;
using test::run;
using test::with;
using testing::HasSubstr;
using testing::Not;

std::string output_of(std::vector<std::string> words, const std::string& input) {
  words.insert(words.begin(), "validate");
  words.emplace_back("-");
  return run(words, input).out;
}

TEST(Validate, a_good_document_has_no_findings) {
  const Ran ran = run({"validate", "-"}, good);
  EXPECT_EQ(ran.status, 0) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("1 document checked: no findings\n"));
  EXPECT_EQ(ran.err, "");
}

TEST(Validate, a_finding_stands_with_line_column_and_caret) {
  const Ran ran = run({"validate", "-"}, "# é\n---\n" + with(good, "configStore:", "configstore:"));
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, HasSubstr("<stdin>:10:3: error: spec.configstore: unknown field"));
  EXPECT_THAT(ran.out, HasSubstr("   10 |   configstore:\n      |   ^~~~~~~~~~~\n"));
  EXPECT_THAT(ran.out, HasSubstr("In StackGuardrail \"guardrail\":"));
}

TEST(Validate, compiles_the_config_map_of_a_guardrail) {
  const std::string rails =
      "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: rails}\ndata:\n  config.yml: |\n"
      "    rails:\n      input: {flows: [self check input]}\nbinaryData: {kb__a.md: aGk=, b.co: '!'}\n";
  const Ran ran = run({"validate", "-"}, good + rails);
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, HasSubstr("spec.configStore.configMap.name: configMap config.yml:2:19 rails.input.flows[0]: "
                                 "\"self check input\" has no prompt"));
  EXPECT_THAT(ran.out, HasSubstr("[guardrail-configuration]"));
  EXPECT_EQ(run({"validate", "--references", "warn", "-"}, good + rails).status, 0);
  EXPECT_EQ(run({"validate", "-"}, good + with(rails, "self check input", "check length on input")).status, 0);
}

TEST(Validate, the_caret_stands_under_a_wrong_value) {
  const Ran ran = run({"validate", "-"}, with(good, "http://llm:8000/v1", "'http://llm:8000'  # why"));
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out,
              HasSubstr("    7 |     baseURL: 'http://llm:8000'  # why\n      |              ^~~~~~~~~~~~~~~~~\n"));
}

TEST(Validate, the_caret_stands_right_behind_wide_and_combining_characters) {
  const auto marked = [](const std::string& spec) {
    return run({"validate", "-"},
               "apiVersion: stackgate.dev/v1alpha1\nkind: StackGuardrail\nmetadata: {name: g}\n" + spec)
        .out;
  };
  // Two columns each, one for the \xC3\xA9 of a letter and a mark, none for a zero-width joiner.
  EXPECT_THAT(marked("spec: {\"日本\": 1, 鍵é: 1}\n"), HasSubstr("\n    4 | spec: {\"日本\": 1, 鍵é: 1}\n"
                                                                 "      |        ^~~~~~\n"));
  EXPECT_THAT(marked("spec: {\"日本\": 1, 鍵é: 1}\n"), HasSubstr("\n    4 | spec: {\"日本\": 1, 鍵é: 1}\n"
                                                                 "      |                   ^~~\n"));
  EXPECT_THAT(marked("spec: {e\xCC\x81🚀\xE2\x80\x8D: 1, x: 1}\n"), HasSubstr("      |                ^\n"));
  EXPECT_THAT(marked("spec: {a: \"\t\", x: 1}\n"), HasSubstr("\n      |            \t   ^\n"));
}

TEST(Validate, long_lines_are_cut_around_the_fault) {
  const std::string text =
      R"({"apiVersion":"stackgate.dev/v1alpha1","kind":"StackGuardrail","metadata":{"name":"g","labels":{"a":")" +
      std::string(63, 'x') + R"(","b":")" + std::string(63, 'y') +
      R"("}},"spec":{"nimEndpoint":{"baseURL":7},"configStore":{"configMap":{"name":"rails"}}}})";
  const Ran ran = run({"validate", "-"}, text);
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, HasSubstr("| …"));
  EXPECT_THAT(ran.out, HasSubstr(" ^\n"));
  for (std::size_t at = 0, end = 0; at < ran.out.size(); at = end + 1) {
    end = std::min(ran.out.find('\n', at), ran.out.size());
    EXPECT_LT(end - at, 300U);
  }
}

TEST(Validate, an_excerpt_of_a_long_line_begins_sixty_characters_before_the_fault) {
  const std::string head = R"({"apiVersion":"stackgate.dev/v1alpha1","kind":"StackGuardrail","metadata":{"name":"g",)"
                           R"("annotations":{"a":")";
  std::string filler;
  for (int i = 0; i < 3000; ++i) filler += "é\xE2\x82\xAC";  // two and three bytes
  const Ran ran = run({"validate", "-"}, head + filler +
                                             R"("}},"spec":{"nimEndpoint":{"baseURL":7},)"
                                             R"("configStore":{"configMap":{"name":"rails"}}}})");
  const std::size_t column =
      head.size() + 6000 + std::string_view(R"("}},"spec":{"nimEndpoint":{"baseURL":)").size() + 1;
  EXPECT_THAT(ran.out, HasSubstr("<stdin>:1:" + std::to_string(column) + ": error: spec.nimEndpoint.baseURL:"));
  EXPECT_THAT(ran.out, HasSubstr("1 | …€é€"));
  EXPECT_THAT(ran.out, HasSubstr("\n      |  " + std::string(60, ' ') + "^\n"));
}

TEST(Validate, a_thousand_faults_in_one_line_of_megabytes_take_no_longer_than_their_number) {
  std::string text =
      R"({"apiVersion":"stackgate.dev/v1alpha1","kind":"InferenceService","metadata":{"name":"llm"},)"
      R"("spec":{"authSecret":"a","image":{"repository":"registry.example.com/llm","tag":"1"},"storage":{"nimCache":{"name":"m"}},)"
      R"("resources":{"limits":{"nvidia.com/gpu":1}},"expose":{"service":{"port":8000}},"env":[)";
  for (int i = 0; i < 1200; ++i)
    text += std::string(i == 0 ? "" : ",") + R"({"name":"BAD NAME )" + std::to_string(i) + R"(","value":")" +
            std::string(4000, 'v') + "\"}";
  text += "]}}";
  const std::clock_t begin = std::clock();  // CPU time: the machine may be busy
  const Ran ran = run({"validate", "-"}, text);
  const std::clock_t took = std::clock() - begin;
  EXPECT_THAT(ran.out, HasSubstr("1001 errors"));
  EXPECT_LT(took / CLOCKS_PER_SEC, 2);
}

TEST(Validate, no_document_can_speak_to_the_terminal) {
  const Ran ran = run({"validate", "-"}, with(good, "configMap:", "\"\\e[31mx\": \xC2\x9B 1\n    configMap:"));
  EXPECT_EQ(ran.status, 2) << ran.out;
  const Ran escaped = run({"validate", "-"}, with(good, "configMap:", "\"\\e[31m\\x9b\": é 1\n    configMap:"));
  EXPECT_EQ(escaped.status, 1);
  EXPECT_THAT(escaped.out, HasSubstr("é 1"));
  for (const Ran& each : {ran, escaped}) {
    EXPECT_THAT(each.out, Not(HasSubstr("\x1b")));
    EXPECT_THAT(each.out, Not(HasSubstr("\xC2\x9B")));
  }
}

TEST(Validate, other_kinds_are_passed_over_unless_strict) {
  const std::string text = std::string("apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n---\nfoo: 1\n---\n") + good;
  const Ran ran = run({"validate", "-"}, text);
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out, HasSubstr("1 document checked, 2 passed over: no findings"));
  const Ran strict = run({"validate", "--strict", "-"}, text);
  EXPECT_EQ(strict.status, 1);
  EXPECT_THAT(strict.out, HasSubstr("Secret of v1 is no resource of ours"));
  EXPECT_THAT(strict.out, HasSubstr("is no Kubernetes resource"));
}

TEST(Validate, a_wrong_version_or_kind_of_our_group_is_always_an_error) {
  EXPECT_THAT(output_of({}, with(good, "v1alpha1", "v1beta1")), HasSubstr("write stackgate.dev/v1alpha1"));
  EXPECT_THAT(output_of({}, with(good, "StackGuardrail", "StackGuardrails")),
              HasSubstr("did you mean StackGuardrail?"));
  EXPECT_THAT(output_of({}, with(good, "kind: StackGuardrail\n", "")), HasSubstr("the kind is missing"));
  EXPECT_THAT(output_of({}, with(good, "stackgate.dev/v1alpha1", "stackgate.dev")),
              HasSubstr("[document-version-wrong]"));
}

TEST(Validate, items_of_a_list_are_checked) {
  const std::string item = R"({"apiVersion":"stackgate.dev/v1alpha1","kind":"StackGuardrail","metadata":{"name":"g"},)"
                           R"("spec":{"nimEndpoint":{"baseURL":"http://llm:8000/v1"},"configStore":{}}})";
  const Ran ran = run({"validate", "-"}, R"({"apiVersion":"v1","kind":"List","items":[)" + item + "," + item + "]}");
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, HasSubstr("2 documents checked"));
  EXPECT_THAT(ran.out, HasSubstr("spec.configStore"));
}

TEST(Validate, what_cannot_be_read_ends_with_2_and_the_rest_is_reported) {
  const Ran ran = run({"validate", "/nowhere/a.yaml", "-"}, with(good, "configStore:", "configstore:") + "---\na: [\n");
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.out, HasSubstr("/nowhere/a.yaml: error: cannot be read: No such file or directory"));
  EXPECT_THAT(ran.out, HasSubstr("unknown field"));
  EXPECT_THAT(ran.out, HasSubstr("<stdin>:12:5: error:"));
  EXPECT_THAT(ran.out, HasSubstr("[document-unreadable]"));
}

TEST(Validate, directories_are_read_below_in_order) {
  const test::TempDir dir;
  const std::filesystem::path root = dir / ".";
  std::filesystem::create_directories(root / "b" / ".hidden");
  std::filesystem::create_directories(root / "empty");
  const auto write = [](const std::filesystem::path& file, const std::string& text) { std::ofstream(file) << text; };
  write(root / "z.yml", with(good, "configStore:", "configstore:"));
  write(root / "b" / "a.yaml", with(good, "configStore:", "configstore:"));
  write(root / "b" / "c.json", R"({"apiVersion":"stackgate.dev/v1alpha1","kind":"Nothing"})");
  write(root / "b" / "notes.txt", "not: [yaml");
  write(root / "b" / ".hidden" / "x.yaml", "not: [yaml");
  const Ran ran = run({"validate", root.string()});
  EXPECT_EQ(ran.status, 1);
  EXPECT_LT(ran.out.find("b/a.yaml"), ran.out.find("b/c.json"));
  EXPECT_LT(ran.out.find("b/c.json"), ran.out.find("z.yml"));
  EXPECT_THAT(ran.out, HasSubstr("3 documents checked"));
  const Ran empty = run({"validate", (root / "empty").string()});
  EXPECT_EQ(empty.status, 2);
  EXPECT_THAT(empty.out, HasSubstr("holds no .yaml, .yml or .json file"));
}

TEST(Validate, old_documents_make_it_an_update) {
  const test::TempDir dir;
  const std::string old = dir / "old.yaml";
  std::ofstream(old) << with(good, "http://llm:8000/v1", "http://llm:8000");
  // The stored fault is untouched: a warning. A new one is an error.
  const std::string still = with(with(good, "http://llm:8000/v1", "http://llm:8000"), "name: rails", "name: other");
  const Ran ratcheted = run({"validate", "--old", old, "-"}, still);
  EXPECT_EQ(ratcheted.status, 0) << ratcheted.out;
  EXPECT_THAT(ratcheted.out, HasSubstr("1 document checked (1 update): 0 errors, 1 warning"));
  EXPECT_EQ(run({"validate", "--old", old, "--warnings-as-errors", "-"}, still).status, 1);
  EXPECT_EQ(run({"validate", "-"}, still).status, 1);
  const Ran other = run({"validate", "--old", old, "-"}, with(good, "name: guardrail", "name: another"));
  EXPECT_THAT(other.err, HasSubstr("nothing was compared"));
}

TEST(Validate, a_claim_among_the_documents_tells_whether_it_can_grow) {
  const auto sized = [](std::string_view size) {
    return with(good, "    configMap:\n      name: rails\n",
                "    pvc: {create: true, volumeAccessMode: ReadWriteMany, size: " + std::string(size) + "}\n");
  };
  const std::string claim = R"(---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: guardrail-pvc}
spec: {storageClassName: local, resources: {requests: {storage: 1Gi}}}
)";
  const std::string storage = "---\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: local}\n";
  const test::TempDir dir;
  const std::string old = dir / "old.yaml";
  std::ofstream(old) << sized("1Gi");
  const Ran refused = run({"validate", "--old", old, "-"}, sized("2Gi") + claim + storage);
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.out, HasSubstr("has 1Gi and cannot grow: its StorageClass \"local\" does not allow it"));
  EXPECT_EQ(
      run({"validate", "--old", old, "-"}, sized("2Gi") + claim + storage + "allowVolumeExpansion: true\n").status, 0);
  // What no document tells is not known.
  EXPECT_EQ(run({"validate", "--old", old, "-"}, sized("2Gi") + claim).status, 0);
  EXPECT_EQ(run({"validate", "--old", old, "-"}, sized("2Gi")).status, 0);
}

TEST(Validate, what_is_stored_and_no_longer_there_counts_as_deleted) {
  const std::string cache = R"(apiVersion: stackgate.dev/v1alpha1
kind: InferenceCache
metadata: {name: llama}
spec: {}
)";
  const std::string service = R"(apiVersion: stackgate.dev/v1alpha1
kind: InferenceService
metadata: {name: llm}
spec:
  storage: {nimCache: {name: llama}}
)";
  const test::TempDir dir;
  const std::string old = dir / "old.yaml";
  std::ofstream(old) << good << "---\n" << cache;
  const Ran used = run({"validate", "--old", old, "-"}, good + ("---\n" + service));
  EXPECT_EQ(used.status, 1);
  EXPECT_THAT(used.out, HasSubstr("old.yaml:14:18: error: metadata.name: the model on its claim would be deleted"));
  EXPECT_THAT(used.out, HasSubstr("uses it: llm"));
  EXPECT_THAT(used.out, HasSubstr("(1 update, 1 deletion)"));
  const Ran unused = run({"validate", "--old", old, "-"}, good);
  EXPECT_EQ(unused.status, 0) << unused.out;
  EXPECT_THAT(unused.out, HasSubstr("2 documents checked (1 update, 1 deletion): no findings"));
  // In another namespace nobody uses it.
  const Ran elsewhere =
      run({"validate", "--old", old, "-"}, good + ("---\n" + with(service, "llm}", "llm, namespace: b}")));
  EXPECT_THAT(elsewhere.out, Not(HasSubstr("would be deleted")));
}

TEST(Validate, a_resource_that_stands_twice_is_named_with_the_place_of_the_first) {
  const Ran ran = run({"validate", "-"}, good + (std::string("---\n") + good));
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out,
              HasSubstr("<stdin>:15:9: warning: metadata.name: the same resource stands twice, first at <stdin>:1"));
  EXPECT_THAT(ran.out, HasSubstr("0 errors, 1 warning"));
  EXPECT_EQ(run({"validate", "--warnings-as-errors", "-"}, good + (std::string("---\n") + good)).status, 1);
  // Another kind, namespace or name is another resource, and so is one whose name the API server makes.
  const std::string elsewhere = with(good, "name: guardrail", "name: guardrail\n  namespace: b");
  const std::string made = with(good, "name: guardrail", "generateName: guardrail-");
  for (const std::string& other : {elsewhere, with(good, "name: guardrail", "name: b"), made + "---\n" + made})
    EXPECT_THAT(output_of({}, good + ("---\n" + other)), Not(HasSubstr("twice")));
  EXPECT_THAT(output_of({"--namespace", "b"}, good + ("---\n" + elsewhere)), HasSubstr("twice"));
}

TEST(Validate, references_within_the_set_are_known_and_others_are_not_blamed) {
  const std::string config_map =
      "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: rails}\ndata: {config.yml: x}\n";
  EXPECT_THAT(output_of({}, good), HasSubstr("--cluster looks for them"));
  EXPECT_THAT(output_of({}, good), Not(HasSubstr("reference-unchecked")));
  EXPECT_THAT(output_of({}, good + config_map), Not(HasSubstr("--cluster looks for them")));
}

TEST(Validate, two_resources_that_would_make_the_same_objects_are_found) {
  const std::string other = with(with(good, "StackGuardrail", "StackDatastore"), "spec:", "spec: {}\nignored:");
  EXPECT_THAT(output_of({}, good + ("---\n" + other)), HasSubstr("[child-name-taken]"));
}

std::string two_faults() { return with(with(good, "configStore:", "configstore:"), "spec:", "spec:\n  replicas: -1"); }

TEST(Validate, json_output_is_an_array_with_all_that_is_known) {
  const std::string text = output_of({"--output", "json"}, two_faults());
  json::Document document;
  const auto findings = json::parse(text, document);
  ASSERT_TRUE(findings.has_value()) << text;
  ASSERT_EQ(findings->items().size(), 2U);
  for (const json::Value& finding : findings->items()) {
    for (const char* key : {"rule", "severity", "path", "message", "fix", "file", "kind", "namespace", "name"})
      EXPECT_TRUE(finding.find(key) != nullptr && finding.find(key)->is_string()) << key;
    EXPECT_TRUE(finding.find("line")->is_integer());
    EXPECT_TRUE(finding.find("column")->is_integer());
  }
  EXPECT_EQ(output_of({"-o", "json"}, good), "[]\n");
}

TEST(Validate, sarif_names_rules_and_places) {
  const std::string text = output_of({"--output", "sarif"}, two_faults());
  json::Document document;
  const auto log = json::parse(text, document);
  ASSERT_TRUE(log.has_value()) << text;
  EXPECT_EQ(log->find("version")->string(), "2.1.0");
  EXPECT_THAT(text, HasSubstr(R"("invocations":[{"executionSuccessful":true}])"));
  EXPECT_THAT(output_of({"--output", "sarif"}, "a: ["), HasSubstr(R"("executionSuccessful":false)"));
  const json::Value& result = log->find("runs")->items()[0];
  const auto rules = result.find("tool")->find("driver")->find("rules")->items();
  const auto results = result.find("results")->items();
  ASSERT_EQ(results.size(), 2U);
  for (const json::Value& each : results) {
    const auto index = static_cast<std::size_t>(each.find("ruleIndex")->integer());
    ASSERT_LT(index, rules.size());
    EXPECT_EQ(rules[index].find("id")->string(), each.find("ruleId")->string());
    EXPECT_FALSE(rules[index].find("help")->find("text")->string().empty());
    const json::Value* place = each.find("locations")->items()[0].find("physicalLocation");
    EXPECT_GE(place->find("region")->find("startLine")->integer(), 1);
    EXPECT_EQ(place->find("artifactLocation")->find("uri")->string(), "stdin");
  }
}

TEST(Validate, github_commands_are_escaped) {
  const test::TempDir dir;
  const std::string file = dir / "a,b:c%.yaml";
  std::ofstream(file) << with(good, "configStore:", "configstore:");
  const Ran ran = run({"validate", "--output", "github", file});
  EXPECT_THAT(ran.out, HasSubstr("a%2Cb%3Ac%25.yaml,line="));
  EXPECT_THAT(ran.out,
              HasSubstr(",title=StackGuardrail guardrail%3A schema-unknown-field::spec.configstore: unknown field"));
  EXPECT_THAT(ran.out, HasSubstr("%0A"));
}

TEST(Validate, threads_do_not_change_the_report) {
  std::string text;
  for (int i = 0; i < 200; ++i)
    text += "---\n" + with(with(good, "name: guardrail", "name: g" + std::to_string(i)),
                           "configStore:", i % 3 == 0 ? "configstore:" : "configStore:");
  EXPECT_EQ(output_of({"--jobs", "1"}, text), output_of({"--jobs", "4"}, text));
}

}  // namespace
}  // namespace stackgate
