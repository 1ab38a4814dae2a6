// The samples: parse, name the right things, and together use every field there is.
#include <set>

#include <gmock/gmock.h>

#include "services/kit/yaml/parse.hpp"
#include "tests/crds/definitions.hpp"

namespace stackgate::crds {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

struct Set {
  const char* name;
  std::string_view (*text)(Kind);
};
constexpr Set sets[] = {{"minimal", minimal_sample}, {"full", full_sample}, {"bad", bad_sample}};

TEST(Samples, embedded_are_the_files) {
  for (const Set& set : sets)
    for (const KindInfo& kind : kinds)
      EXPECT_TRUE(set.text(kind.kind) ==
                  read_file(crds_folder / "samples" / set.name / (std::string(kind.plural) + ".yaml")))
          << set.name << kind.name;
  EXPECT_TRUE(stack_sample() == read_file(crds_folder / "samples" / "stack.yaml"));
}

TEST(Samples, are_one_object_of_their_kind_without_a_namespace) {
  for (const Set& set : sets) {
    for (const KindInfo& kind : kinds) {
      const yaml::Stream stream = yaml::parse(set.text(kind.kind));
      ASSERT_FALSE(stream.failed) << set.name << " " << kind.name << ": " << stream.error.message;
      ASSERT_EQ(stream.documents.size(), 1U) << set.name << " " << kind.name;
      const json::Value& root = stream.documents[0].root;
      EXPECT_EQ(root.find("apiVersion")->string(), api_group_version);
      EXPECT_EQ(root.find("kind")->string(), kind.name) << set.name;
      EXPECT_FALSE(root.find("metadata")->find("name")->string().empty());
      EXPECT_EQ(root.find("metadata")->find("namespace"), nullptr);
    }
  }
}

TEST(Samples, of_good_objects_pin_their_images) {
  for (const KindInfo& kind : kinds) {
    EXPECT_THAT(std::string(minimal_sample(kind.kind)), Not(HasSubstr("latest")));
    EXPECT_THAT(std::string(full_sample(kind.kind)), Not(HasSubstr("latest")));
  }
  EXPECT_THAT(std::string(stack_sample()), Not(HasSubstr("latest")));
}

/// Kubernetes' own shapes come many times over in affinity and in scale.metrics: using each of their fields once, in
/// any of those places, is enough.
std::string place(const std::string& path) {
  const std::size_t at =
      path.find("affinity.") != std::string::npos ? path.find("affinity.") : path.find("scale.metrics[].");
  const std::size_t last = path.rfind('.');
  if (at == std::string::npos || last == std::string::npos) return path;
  return path.substr(0, path.find('.', at)) + " … " + path.substr(last + 1);
}

/// Notes the places of the schema that the object uses; unknown fields go to `unknown`.
void collect(const json::Value& schema, const json::Value& value, const std::string& path, std::set<std::string>& used,
             std::set<std::string>& unknown) {
  used.insert(place(path));
  if (const json::Value* items = schema.find("items"); items != nullptr && value.is_array())
    for (const json::Value& item : value.items()) collect(*items, item, path + "[]", used, unknown);
  if (!value.is_object()) return;
  const json::Value* values = schema.find("additionalProperties");
  for (const json::Member& each : value.members()) {
    const std::string inside = path.empty() ? std::string(each.key) : path + "." + std::string(each.key);
    if (values != nullptr)
      collect(*values, each.value, path + "{}", used, unknown);
    else if (const json::Value* property = member(schema.find("properties"), each.key))
      collect(*property, each.value, inside, used, unknown);
    else if (path != "metadata")
      unknown.insert(inside);
  }
}

void collect_stream(std::string_view text, Kind kind, std::set<std::string>& used, std::set<std::string>& unknown) {
  const yaml::Stream stream = yaml::parse(text);
  EXPECT_FALSE(stream.failed) << stream.error.message;
  for (const json::Document& document : stream.documents)
    if (document.root.find("kind")->string() == info(kind).name)
      collect(*root_schema(kind), document.root, "", used, unknown);
}

TEST(Samples, together_use_every_field) {
  for (const KindInfo& kind : kinds) {
    std::set<std::string> used, unknown, unused;
    collect_stream(full_sample(kind.kind), kind.kind, used, unknown);
    // The alternatives that exclude each other: the other source of a cache, the other store of a guardrail.
    collect_stream(minimal_sample(kind.kind), kind.kind, used, unknown);
    collect_stream(stack_sample(), kind.kind, used, unknown);
    walk_schema(*root_schema(kind.kind), "", [&](const std::string& path, const json::Value&) {
      if (!path.starts_with("status") && !used.contains(place(path))) unused.insert(path);
    });
    EXPECT_THAT(unused, IsEmpty()) << kind.name;
    EXPECT_THAT(unknown, IsEmpty()) << kind.name;
  }
}

TEST(Samples, of_bad_objects_reach_the_api_server) {
  // kubectl itself stops at unknown fields, so the bad samples have none: they shall show what the gate says.
  for (const KindInfo& kind : kinds) {
    std::set<std::string> used, unknown;
    collect_stream(bad_sample(kind.kind), kind.kind, used, unknown);
    EXPECT_THAT(unknown, IsEmpty()) << kind.name;
  }
}

TEST(Samples, of_the_stack_bring_what_they_refer_to) {
  const yaml::Stream stream = yaml::parse(stack_sample());
  ASSERT_FALSE(stream.failed) << stream.error.message;
  std::set<std::string> there, kinds_there;
  for (const json::Document& document : stream.documents) {
    const std::string kind(document.root.find("kind")->string());
    kinds_there.insert(kind);
    EXPECT_TRUE(there.insert(kind + "/" + std::string(document.root.find("metadata")->find("name")->string())).second);
  }
  for (const KindInfo& kind : kinds) EXPECT_TRUE(kinds_there.contains(std::string(kind.name))) << kind.name;
  const auto expect = [&](const char* kind, const json::Value* name) {
    if (name == nullptr) return;
    EXPECT_TRUE(there.contains(std::string(kind) + "/" + std::string(name->string()))) << kind << " " << name->string();
  };
  for (const json::Document& document : stream.documents) {
    const json::Value* spec = document.root.find("spec");
    expect("Secret", member(spec, "authSecret"));
    expect("InferenceCache", member(member(member(spec, "storage"), "nimCache"), "name"));
    expect("Secret", member(member(member(spec, "databaseConfig"), "credentials"), "secretName"));
    expect("Secret", member(member(member(spec, "source"), "registry"), "authSecret"));
    expect("Secret", member(member(member(spec, "source"), "datastore"), "authSecret"));
    expect("ConfigMap", member(member(member(spec, "configStore"), "configMap"), "name"));
    expect("ConfigMap", member(member(spec, "modelConfig"), "name"));
    expect("ServiceAccount", member(member(spec, "workflowServer"), "serviceAccount"));
    if (const json::Value* secrets = member(spec, "secrets"))
      for (const json::Member& each : secrets->members()) expect("Secret", &each.value);
  }
}

}  // namespace
}  // namespace stackgate::crds
