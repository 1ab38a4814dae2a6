// What comes in: documents that are meant for us and are not, faults of syntax, odd files, secrets in what is shown.
#include <filesystem>
#include <fstream>
#include <ios>
#include <istream>
#include <streambuf>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "services/stackgate/validate/inputs.hpp"
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

TEST(ValidateInput, what_was_meant_for_us_is_not_passed_over) {
  const auto told = [](const std::string& text, std::string_view problem, std::string_view fix) {
    const Ran ran = run({"validate", "-"}, text);
    EXPECT_EQ(ran.status, 1) << text;
    EXPECT_THAT(ran.out, HasSubstr(problem));
    EXPECT_THAT(ran.out, HasSubstr(fix));
  };
  told(with(good, "apiVersion", "apiversion"), "unknown field apiversion", "write apiVersion");
  told(with(good, "apiVersion: stackgate.dev/v1alpha1\n", ""), "the apiVersion of the StackGuardrail is missing",
       "write apiVersion: stackgate.dev/v1alpha1");
  told(with(good, "stackgate.dev", "stackgate.io"), "stackgate.io/v1alpha1 is not Stackgate's group",
       "write stackgate.dev/v1alpha1");
  told(with(good, "kind:", "Kind:"), "the kind is missing; Kind is no field", "write kind in lower case");
  told(R"([{"apiVersion":"stackgate.dev/v1alpha1","kind":"StackGuardrail"}])", "a list of resources is no resource",
       "kind: List");
  told("apiVersion: v1\nkind: List\nitem: []\n", "the List has no items", "write items:");
  told("apiVersion: v1\nkind: List\nitems: {}\n", "the items of a List are a list", "write items:");
  // The same words of others are theirs.
  for (const char* others : {"apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\n", "resources: [a.yaml]\n",
                             "- op: remove\n  path: /spec\n"})
    EXPECT_EQ(run({"validate", "-"}, others).status, 0) << others;
}

TEST(ValidateInput, nothing_to_check_is_no_success) {
  for (const char* nothing : {"", "\n", "# only a comment\n", "---\n---\n"}) {
    const Ran ran = run({"validate", "-"}, nothing);
    EXPECT_EQ(ran.status, 2) << nothing;
    EXPECT_THAT(ran.err, HasSubstr("there was nothing to check"));
  }
}

TEST(ValidateInput, what_stands_behind_a_fault_of_syntax_is_not_said_to_be_deleted) {
  const test::TempDir dir;
  const std::string old = dir / "old.yaml";
  std::ofstream(old) << good;
  const Ran ran = run({"validate", "--old", old, "-"}, std::string("foo: [\n---\n") + good);
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.out, Not(HasSubstr("deletion")));
  EXPECT_THAT(ran.out, HasSubstr("the documents behind it in this file have not been checked"));
}

TEST(ValidateInput, lines_that_may_hold_secrets_are_not_shown) {
  const std::string service =
      "apiVersion: stackgate.dev/v1alpha1\nkind: InferenceService\nmetadata: {name: llm}\nspec:\n";
  const struct {
    std::string text;
    bool shown;
  } table[] = {
      {service + "  env:\n  - name: DB_PASSWORD\n    value: 1234567\n", false},
      {service + "  env: [{name: DB_PASSWORD, value: 1234567}]\n", false},
      {service + "  env:\n  - DB_PASSWORD=1234567\n", false},
      {service + "  env:\n  - name: A=1234567\n", false},
      {with(good, "http://llm:8000/v1", "http://user:1234567@llm:8000"), false},
      {service + "  env: DB_PASSWORD=1234567\n", false},
      {service + "  image:\n    repository: user:1234567@registry.example.com/x\n", false},
      {service + "  replica: 1234567\n", true},
  };
  const Ran unreadable = run({"validate", "-"}, "password: @1234567\n");
  EXPECT_THAT(unreadable.out, Not(HasSubstr("1234567")));
  for (const auto& row : table) {
    const Ran ran = run({"validate", "-"}, row.text);
    EXPECT_EQ(ran.status, 1) << row.text;
    EXPECT_EQ(ran.out.find("1234567\n      |") != std::string::npos, row.shown) << ran.out;
    EXPECT_EQ(ran.out.find("the line may hold a secret") != std::string::npos, !row.shown) << ran.out;
  }
}

TEST(ValidateInput, names_of_files_cannot_speak_to_a_terminal_or_a_build) {
  const test::TempDir dir;
  const std::string file = dir / "a\n::error::pwn\x1b[31m.yaml";
  std::ofstream(file) << with(good, "configStore:", "configstore:");
  for (const char* format : {"text", "github"}) {
    const Ran ran = run({"validate", "--output", format, file});
    EXPECT_EQ(ran.status, 1);
    EXPECT_THAT(ran.out, Not(HasSubstr("\n::error::pwn")));
    EXPECT_THAT(ran.out, Not(HasSubstr("\x1b")));
  }
}

TEST(ValidateInput, pipes_in_a_directory_are_not_waited_for) {
  const test::TempDir dir;
  ASSERT_EQ(::mkfifo((dir / "pipe.yaml").c_str(), 0600), 0);
  std::ofstream(dir / "a.yaml") << good;
  EXPECT_EQ(run({"validate", dir / "."}).status, 0);
}

TEST(ValidateInput, a_directory_that_cannot_be_entered_does_not_hide_the_others) {
  const test::TempDir dir;
  std::filesystem::create_directory(dir / "a");
  std::filesystem::create_directory(dir / "b");
  std::ofstream(dir / "a/a.yaml") << good;
  std::filesystem::create_symlink("nowhere", dir / "b/link.yaml");
  std::filesystem::create_directory_symlink("..", dir / "b/loop.yaml");
  // Root may enter any directory, but not one that lies too deep.
  std::string deep = dir / "aa";
  for (int depth = 0; depth < 110; ++depth, deep += "/d") ASSERT_EQ(::mkdir(deep.c_str(), 0700), 0);
  const Ran ran = run({"validate", dir / "."});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.out, HasSubstr("/d/d: error: cannot be read: it lies below more than 100 other directories"));
  EXPECT_THAT(ran.out, HasSubstr("/b/link.yaml: error: cannot be read: No such file or directory"));
  EXPECT_THAT(ran.out, HasSubstr("1 document checked"));
  EXPECT_THAT(ran.out, Not(HasSubstr("loop")));
}

TEST(ValidateInput, no_file_is_read_twice_whatever_its_paths) {
  const test::TempDir dir;
  std::ofstream(dir / "a.yaml") << good;
  std::filesystem::create_symlink("a.yaml", dir / "b.yaml");
  const Ran ran = run({"validate", dir / ".", dir / "a.yaml", dir / "./a.yaml"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out, HasSubstr("1 document checked: no findings"));
  const Ran nowhere = run({"validate", "/nowhere/a", "/nowhere/./a"});
  EXPECT_THAT(nowhere.out, HasSubstr("1 error"));
}

TEST(ValidateInput, a_pattern_that_the_shell_left_alone_is_told_from_a_missing_file) {
  EXPECT_THAT(run({"validate", "/nowhere/*.yaml"}).out, HasSubstr("patterns are for the shell"));
  EXPECT_THAT(run({"validate", "/nowhere/a.yaml"}).out, Not(HasSubstr("pattern")));
}

class BrokenStream : public std::streambuf {
  int_type underflow() override { throw std::ios_base::failure("broken"); }
};

TEST(ValidateInput, standard_input_that_cannot_be_read_or_has_no_end_is_an_error) {
  BrokenStream buffer;
  std::istream broken(&buffer);
  const std::vector<Input> none = read_inputs({"-"}, broken);
  ASSERT_EQ(none.size(), 1U);
  EXPECT_THAT(none[0].problem, HasSubstr("cannot be read"));
  std::ifstream endless("/dev/zero", std::ios::binary);
  const std::vector<Input> much = read_inputs({"-"}, endless);
  EXPECT_EQ(much.at(0).problem, "cannot be read: larger than 64 MiB");
}

TEST(ValidateInput, an_empty_input_beside_what_is_stored_is_no_deletion_of_everything) {
  const test::TempDir dir;
  const std::string old = dir / "old.yaml";
  std::ofstream(old) << good;
  const Ran ran = run({"validate", "--old", old, "-"}, "# the generator failed\n");
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("there was nothing to check"));
  const Ran both = run({"validate", "--old", "-", "-"}, good);
  EXPECT_EQ(both.status, 2);
  EXPECT_THAT(both.err, HasSubstr("standard input cannot be both"));
}

TEST(ValidateInput, parts_that_kustomize_puts_together_are_told_from_manifests) {
  const test::TempDir dir;
  std::ofstream(dir / "kustomization.yaml") << "resources: [a.yaml]\n";
  std::ofstream(dir / "a.yaml") << good;
  EXPECT_EQ(run({"validate", dir / "."}).err, "");
  std::ofstream(dir / "patch.yaml") << with(good, "spec:", "spec: {}\nnothing:");
  EXPECT_THAT(run({"validate", dir / "."}).err, HasSubstr("kustomize build DIRECTORY | stackgate validate -"));
}

TEST(ValidateInput, a_namespace_is_one) {
  const Ran ran = run({"validate", "--namespace", "Bad_NS", "-"}, good);
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("'Bad_NS'"));
}

TEST(ValidateInput, what_kubectl_would_not_read_is_an_error_and_the_rest_is_checked_all_the_same) {
  const std::string flow =
      R"({"apiVersion": "stackgate.dev/v1alpha1", "kind": "StackGuardrail", "metadata": {"name": "g"},
  "spec": {"nimEndpoint": {"baseURL": "http://llm:8000/v1"}, "configstore": {"configMap": {"name": "rails"}},}})";
  const Ran comma = run({"validate", "-"}, flow);
  EXPECT_EQ(comma.status, 1);
  EXPECT_THAT(comma.out, HasSubstr("<stdin>:2:110: error: kubectl reads what begins with { as JSON, and this is none"));
  EXPECT_THAT(comma.out, HasSubstr("[document-read-otherwise]"));
  EXPECT_THAT(comma.out, HasSubstr("write configStore"));
  // The cure that it names.
  EXPECT_THAT(run({"validate", "-"}, "---\n" + flow).out, Not(HasSubstr("document-read-otherwise")));
  // What holds nothing for us is none of our business.
  EXPECT_EQ(run({"validate", "-"}, "{\"compilerOptions\": {\"strict\": true,},\n}").status, 0);
}

TEST(ValidateInput, what_only_some_kubectl_read_is_a_warning) {
  const Ran ran =
      run({"validate", "-"}, good + std::string("--- # the second\n") + with(good, "name: guardrail", "name: another"));
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out, HasSubstr("<stdin>:11:1: warning: older kubectl, 1.20 among them, takes this for no separator"));
  EXPECT_THAT(ran.out, HasSubstr("2 documents checked: 0 errors, 1 warning"));
}

TEST(ValidateInput, yaml_in_a_json_file_is_a_warning) {
  const test::TempDir dir;
  std::ofstream(dir / "a.json") << good;
  std::ofstream(dir / "B.JSON") << "\xEF\xBB\xBF" << good;
  for (const char* name : {"a.json", "B.JSON"}) {
    const Ran ran = run({"validate", dir / name});
    EXPECT_EQ(ran.status, 0);
    EXPECT_THAT(ran.out, HasSubstr(std::string(name) + ":1:1: warning: the file is called .json and holds YAML"));
  }
}

TEST(ValidateInput, files_with_byte_order_marks_can_be_put_behind_one_another) {
  const std::string marked = std::string("\xEF\xBB\xBF") + with(good, "configStore:", "configstore:");
  const Ran ran = run({"validate", "-"}, marked + "---\n" + marked);
  EXPECT_EQ(ran.status, 1) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("<stdin>:8:3: error: spec.configstore"));
  EXPECT_THAT(ran.out, HasSubstr("<stdin>:19:3: error: spec.configstore"));
  // Without a separator there is no new document.
  const Ran bare = run({"validate", "-"}, marked + marked);
  EXPECT_EQ(bare.status, 2);
  EXPECT_THAT(bare.out, HasSubstr("a byte order mark (U+FEFF, not visible) stands in line 11: take it out"));
}

TEST(ValidateInput, entries_that_the_api_server_drops_are_warned_of) {
  const std::string service = R"(apiVersion: stackgate.dev/v1alpha1
kind: InferenceService
metadata: {name: llm}
spec:
  authSecret: a
  image: {repository: registry.example.com/llm, tag: "1"}
  storage: {nimCache: {name: m}}
  resources:
    limits: {nvidia.com/gpu: 1, memory: null}
    requests:
      cpu:
  nodeSelector: {zone: ~}
  expose: {service: {port: 8000}}
  replicas: null
  tolerations:
)";
  const Ran ran = run({"validate", "-"}, service);
  for (const char* path :
       {"9:33: warning: spec.resources.limits.memory: ", "11:7: warning: spec.resources.requests.cpu: "})
    EXPECT_THAT(ran.out, HasSubstr(std::string("<stdin>:") + path + "has no value: the API server drops it"));
  EXPECT_THAT(ran.out, Not(HasSubstr("spec.replicas")));
  EXPECT_THAT(ran.out, HasSubstr("0 errors, 2 warnings"));
}

TEST(SyntaxCure, says_what_to_do) {
  const struct {
    std::string text;
    const char* cure;
  } table[] = {
      {"a:\n\tb: 1\n", "YAML takes no tabs"},
      {"\x1F\x8B\x08 packed", "this is no text: unpack or decode it first"},
      {"a: \x1b[1m\n", "write it as \"\\x1b\" in double quotes"},
      {"a: {{ .Values.x }}\n", "render it first"},
      {"{{- if .Values.x }}\na: 1\n{{- end }}\n", "render it first"},
      {"apiVersion: v1\nkind: A\napiVersion: v1\nkind: B\n", "put a line --- between the two"},
      {"a: 1\na: 2\n", "keep one of them"},
      {"a: @b\n", "put the value in quotes"},
      {"a:\n  b:c\n  d: 1\n", "without a space behind it"},
      {"\xFF\xFE" + std::string("a\0:\0", 4), "UTF-16"},
      {"a: \xE9\n", "save the file as UTF-8"},
      {"a: \"b\n", "close the quotes"},
      {"a: [1\n", "close the bracket"},
      {"a: 1\n---\n\n\xEF\xBB\xBF"
       "b: 1\nc: 1\n",
       "a byte order mark (U+FEFF, not visible) stands in line 4: take it out"},
      {"{\"a\": 1}\n\xEF\xBB\xBF{\"b\": 1}\n", "stands in line 2: take it out"},
      {"a: 1\n...\nb: 1\n", "put a line --- between two documents"},
      {"{\n  // why\n  \"a\": 1\n}\n", "JSON has no comments"},
      {"{\"a\": 1,\n  /* why */\n  \"b\": 1}\n", "JSON has no comments"},
      {"<<<<<<< HEAD\na: 1\n=======\na: 2\n>>>>>>> b\n", "settle the conflict"},
  };
  for (const auto& row : table) {
    const Ran ran = run({"validate", "-"}, row.text);
    EXPECT_EQ(ran.status, 2) << row.text;
    EXPECT_THAT(ran.out, HasSubstr(row.cure)) << row.text << "\n" << ran.out;
  }
}

}  // namespace
}  // namespace stackgate
