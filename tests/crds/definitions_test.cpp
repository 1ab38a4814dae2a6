// The definitions as files: what is committed, what is embedded, what Kubernetes' limits say.
#include "tests/crds/definitions.hpp"

#include <filesystem>
#include <iostream>
#include <set>

#include <gmock/gmock.h>

#include "services/kit/json/write.hpp"
#include "services/kit/yaml/parse.hpp"
#include "tests/support/paths.hpp"

namespace stackgate::crds {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const fs::path generated = test::binary_dir() / "generated/crds/definitions";

std::string file_name(const KindInfo& kind) { return "stackgate.dev_" + std::string(kind.plural) + ".yaml"; }

TEST(Definitions, committed_are_what_the_sources_give) {
  for (const KindInfo& kind : kinds)
    EXPECT_TRUE(read_file(crds_folder / file_name(kind)) == read_file(generated / file_name(kind)))
        << file_name(kind) << " is stale: run ninja refresh_crds and commit the result";
}

TEST(Definitions, are_eight_files_and_no_other) {
  std::set<std::string> found, wanted;
  for (const auto& entry : fs::directory_iterator(crds_folder))
    if (entry.path().extension() == ".yaml") found.insert(entry.path().filename().string());
  for (const KindInfo& kind : kinds) wanted.insert(file_name(kind));
  EXPECT_EQ(found, wanted);
}

TEST(Definitions, embedded_yaml_is_the_committed_file) {
  for (const KindInfo& kind : kinds)
    EXPECT_TRUE(definition_yaml(kind.kind) == read_file(crds_folder / file_name(kind))) << kind.name;
}

TEST(Definitions, embedded_json_says_the_same_as_the_yaml) {
  for (const KindInfo& kind : kinds) {
    const yaml::Stream stream = yaml::parse(definition_yaml(kind.kind));
    ASSERT_FALSE(stream.failed) << kind.name << ": " << stream.error.message;
    ASSERT_EQ(stream.documents.size(), 1U) << kind.name;
    EXPECT_TRUE(json::equal(stream.documents[0].root, definition(kind.kind))) << kind.name;
  }
}

// Client-side apply keeps a copy in an annotation; all annotations of an object together hold 256 KiB.
TEST(Definitions, leave_room_in_the_annotation_of_client_side_apply) {
  for (const KindInfo& kind : kinds) {
    const std::size_t bytes = definition_json(kind.kind).size();
    std::cout << "  " << kind.plural << ": " << bytes << " bytes\n";
    EXPECT_LT(bytes, 200U * 1024U) << kind.name;
    EXPECT_GT(bytes, 8U * 1024U) << kind.name << " looks empty";
  }
}

TEST(Definitions, are_named_as_the_table_of_kinds_says) {
  for (const KindInfo& kind : kinds) {
    const json::Value& root = definition(kind.kind);
    EXPECT_EQ(root.find("apiVersion")->string(), "apiextensions.k8s.io/v1");
    EXPECT_EQ(root.find("metadata")->find("name")->string(), std::string(kind.plural) + ".stackgate.dev");
    const json::Value* spec = root.find("spec");
    EXPECT_EQ(spec->find("group")->string(), api_group);
    EXPECT_EQ(spec->find("scope")->string(), "Namespaced");
    const json::Value* names = spec->find("names");
    EXPECT_EQ(names->find("kind")->string(), kind.name);
    EXPECT_EQ(names->find("listKind")->string(), std::string(kind.name) + "List");
    EXPECT_EQ(names->find("plural")->string(), kind.plural);
    EXPECT_THAT(texts(names->find("shortNames")), ElementsAre(std::string(kind.short_name)));
    EXPECT_THAT(texts(names->find("categories")), ElementsAre("stackgate"));
    EXPECT_EQ(version(kind.kind)->find("name")->string(), api_version);
    EXPECT_TRUE(version(kind.kind)->find("served")->boolean());
    EXPECT_TRUE(version(kind.kind)->find("storage")->boolean());
    EXPECT_NE(member(version(kind.kind)->find("subresources"), "status"), nullptr) << kind.name;
    EXPECT_THAT(texts(root_schema(kind.kind)->find("required")), ElementsAre("spec"));
  }
}

TEST(Definitions, show_state_and_age_as_columns) {
  for (const KindInfo& kind : kinds) {
    const auto columns = version(kind.kind)->find("additionalPrinterColumns")->items();
    ASSERT_GE(columns.size(), 3U);
    EXPECT_EQ(columns.front().find("jsonPath")->string(), ".status.state");
    EXPECT_EQ(columns.back().find("jsonPath")->string(), ".metadata.creationTimestamp");
    for (const json::Value& column : columns) EXPECT_NE(column.find("description"), nullptr) << kind.name;
  }
}

TEST(Definitions, describe_every_field) {
  for (const KindInfo& kind : kinds) {
    walk_schema(*root_schema(kind.kind), "", [&](const std::string& path, const json::Value& schema) {
      if (path.ends_with("[]") || path.ends_with("{}") || path == "metadata") return;
      const json::Value* description = schema.find("description");
      ASSERT_NE(description, nullptr) << kind.name << "." << path;
      EXPECT_GE(description->string().size(), 8U) << kind.name << "." << path;
      EXPECT_TRUE(description->string().ends_with('.')) << kind.name << "." << path << ": " << description->string();
    });
  }
}

TEST(Definitions, leave_no_place_open) {
  for (const KindInfo& kind : kinds) {
    walk_schema(*root_schema(kind.kind), "", [&](const std::string& path, const json::Value& schema) {
      const std::string where = std::string(kind.name) + "." + path;
      EXPECT_EQ(schema.find("x-kubernetes-preserve-unknown-fields"), nullptr) << where;
      const json::Value* type = schema.find("type");
      if (schema.find("x-kubernetes-int-or-string") != nullptr) return;
      ASSERT_NE(type, nullptr) << where;
      if (type->string() == "object" && path != "metadata") {
        EXPECT_TRUE(schema.find("properties") != nullptr || schema.find("additionalProperties") != nullptr) << where;
      }
      if (type->string() == "array") {
        EXPECT_NE(schema.find("items"), nullptr) << where;
        EXPECT_NE(schema.find("x-kubernetes-list-type"), nullptr) << where << ": server-side apply needs to know";
        EXPECT_NE(schema.find("maxItems"), nullptr) << where << ": unbounded lists make rules too dear";
      }
      if (type->string() == "integer") {
        EXPECT_NE(schema.find("format"), nullptr) << where;
        EXPECT_TRUE(schema.find("minimum") != nullptr || path.ends_with("tolerationSeconds")) << where;
      }
    });
  }
}

// A required key, or a key with a default: otherwise the API server refuses the definition.
TEST(Definitions, have_list_maps_with_usable_keys) {
  for (const KindInfo& kind : kinds) {
    walk_schema(*root_schema(kind.kind), "", [&](const std::string& path, const json::Value& schema) {
      const json::Value* list_type = schema.find("x-kubernetes-list-type");
      if (list_type == nullptr || list_type->string() != "map") return;
      const auto keys = texts(schema.find("x-kubernetes-list-map-keys"));
      ASSERT_EQ(keys.size(), 1U) << path;
      EXPECT_THAT(texts(schema.find("items")->find("required")), ::testing::Contains(keys[0])) << path;
    });
  }
}

}  // namespace
}  // namespace stackgate::crds
