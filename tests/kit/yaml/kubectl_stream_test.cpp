// Each row was given to kubectl 1.20 and 1.32 (`kubectl annotate --local -o json`), whose answers the comments tell.
#include "services/kit/yaml/kubectl_stream.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "services/kit/yaml/parse.hpp"

namespace stackgate::yaml {
namespace {

using testing::HasSubstr;

struct Remarked {
  std::string text;
  std::uint32_t offset;
  std::string says;
  bool some_only = false;
};

TEST(KubectlStream, what_kubectl_refuses_or_drops_is_remarked_on_at_its_place) {
  for (const Remarked& each : std::vector<Remarked>{
           // Refused by both: JSON from the first brace on.
           {"{\"a\": 1,}", 8, "and this is none: expected a key"},
           {"\xEF\xBB\xBF \n{\n  # why\n  \"a\": 1}", 9, "and this is none"},
           {"{a: 1}\n", 1, "and this is none"},
           {"{'a': 1}\n---\nb: 1\n", 1, "and this is none"},
           {"{\"a\": \"x\ty\"}", 8, "and this is none"},
           {"{\"a\": 1}\n# end\n", 9, "and this is none"},
           // Refused by both, behind the first document.
           {"{\"a\": 1}\n---\nb: 1\n", 9, "JSON has no lines of ---"},
           {"{\"a\": 1}\n---\n", 9, "JSON has no lines of ---"},
           // 1.20 drops the second document, 1.32 reads both.
           {"a: 1\n--- # b\nb: 1\n", 5, "drops the document", true},
           {"a: |\n  x\n---\t# b\r\nb: 1\n", 9, "drops the document", true},
           // 1.20 drops it, 1.32 refuses the stream.
           {"a: 1\n--- {b: 1}\n", 5, "goes on"},
           {"a: 1\n--- |\n  b\n", 5, "goes on"},
           // Refused by both.
           {"%YAML 1.1\n---\na: 1\n", 0, "refuses directives"},
           {"a: 1\n\xEF\xBB\xBF\n", 5, "byte order mark"},
           {"---\n\xEF\xBB\xBF{\"a\": 1}\n", 4, "byte order mark"},
           {"a: 1\n---\n---\n\xEF\xBB\xBF"
            "b: 1\n",
            13, "byte order mark"},
       }) {
    ASSERT_FALSE(parse(each.text).failed) << each.text << parse(each.text).error.message;
    const std::vector<StreamRemark> remarks = kubectl_remarks(each.text);
    ASSERT_EQ(remarks.size(), 1U) << each.text;
    EXPECT_EQ(remarks[0].offset, each.offset) << each.text;
    EXPECT_EQ(remarks[0].some_only, each.some_only) << each.text;
    EXPECT_THAT(remarks[0].problem, HasSubstr(each.says));
    EXPECT_FALSE(remarks[0].cure.empty());
  }
}

TEST(KubectlStream, what_every_kubectl_reads_alike_is_not_remarked_on) {
  for (const std::string text : {"",
                                 "\n",
                                 "a: 1\n",
                                 "a: 1\n---\nb: 1\n",
                                 "---   \na: 1\n---\t\nb: 1\n",
                                 "a: 1\r\n---\r\nb: 1\r\n",
                                 "--- # first\na: 1\n",
                                 "# only a comment\n--- # first\na: 1\n",
                                 "a: 1\n--- # nothing\n# b\n---\nb: 1\n",
                                 "a: 1\n...\n---\nb: 1\n",
                                 "a: 1\n...\n%YAML 1.1\n---\nb: 1\n",
                                 "{\"a\": 1}",
                                 "{\"a\": 1}\n{\"b\": 2}{\"c\": 3}\n",
                                 "# c\n{\"a\": 1,}\n",
                                 "---\n{\"a\": 1,}\n---\n{b: 1}\n",
                                 "[{a: 1,}]\n",
                                 "a: |\n  --- x\n  % y\n",
                                 "\xEF\xBB\xBF{\"a\": 1}",
                                 "a: 1\n---\n\xEF\xBB\xBF"
                                 "b: 1\nc: 1\n",
                                 "a: 1\n---\n\xEF\xBB\xBF---\nb: 1\n"}) {
    ASSERT_FALSE(parse(text).failed) << text;
    EXPECT_TRUE(kubectl_remarks(text).empty()) << text << kubectl_remarks(text)[0].problem;
  }
}

}  // namespace
}  // namespace stackgate::yaml
