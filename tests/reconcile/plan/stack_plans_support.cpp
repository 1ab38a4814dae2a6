#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include <gtest/gtest.h>

#include "crds/embedded.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/yaml/parse.hpp"
#include "tests/reconcile/plan/stack_plans.hpp"
#include "tests/support/paths.hpp"

namespace stackgate::reconcile::tests {
namespace {

Tree patched(std::string_view sample, std::string_view patch) {
  Tree out = tree_of(sample);
  out.merge_patch(tree_of(patch));
  return out;
}

const Tree& nothing() {
  static const Tree null;
  return null;
}

Tree named(const Tree& list, std::string_view key, std::string_view name) {
  if (list.is_array())
    for (const Tree& each : list)
      if (each.value(std::string(key), "") == name) return each;
  return nothing();
}

Tree at(const Tree& tree, std::string_view pointer) {
  const Tree::json_pointer place{std::string(pointer)};
  return tree.contains(place) ? tree.at(place) : nothing();
}

}  // namespace

Tree tree_of(std::string_view text) {
  const std::string copy(text);
  const yaml::Stream stream = yaml::parse(copy);
  if (stream.failed || stream.documents.empty()) throw std::runtime_error("no YAML: " + stream.error.message);
  return Tree::parse(json::to_json(stream.documents.front().root));
}

Tree minimal(crds::Kind kind, std::string_view patch) { return patched(crds::minimal_sample(kind), patch); }
Tree full(crds::Kind kind, std::string_view patch) { return patched(crds::full_sample(kind), patch); }

World::World() {
  for (const char* name :
       {"datastore", "entitystore", "customizer", "evaluator", "guardrail", "inference", "puller", "trainer"})
    settings.images[name] = std::string("registry.example.com/stackgate/") + name + ":0.1.0";
  observed.served.http_routes = observed.served.service_monitors = observed.served.leader_worker_sets = true;
}

void World::add(ChildType type, std::string_view name, std::string_view yaml, bool owned) {
  Held& held = held_.emplace_back();
  held.name = name;
  held.text = tree_of(yaml).dump();
  const auto root = json::parse(held.text, held.document);
  if (!root) throw std::runtime_error(root.error().message);
  held.root = *root;
  children_.push_back({type, held.name, &held.root, owned});
  observed.children = children_;
}

Planned plan_of(const Tree& object, const World& world) {
  const std::string text = object.dump();
  json::Document document;
  const auto root = json::parse(text, document);
  if (!root) throw std::runtime_error("no JSON: " + root.error().message);
  const std::string name = object["metadata"]["name"];
  const Resource resource{.kind = crds::kind_named(object["kind"].get<std::string>()).value(),
                          .ns = "team",
                          .name = name,
                          .uid = "0e8dd0b4-4ee3-4d4c-8f43-6f1a7a3e1c11",
                          .generation = 1,
                          .object = &*root,
                          .spec = root->find("spec"),
                          .status = root->find("status")};
  Planned out{.plan = make_plan(resource, world.observed, world.settings), .bodies = {}};
  for (const DesiredChild& child : out.plan.children) out.bodies.push_back(Tree::parse(child.body.text()));
  return out;
}

Planned plan_of(const Tree& object) {
  const World world;
  return plan_of(object, world);
}

const Tree& Planned::child(ChildType type, std::string_view name) const {
  for (std::size_t i = 0; i < bodies.size(); ++i)
    if (plan.children[i].type == type && plan.children[i].name == name) return bodies[i];
  return nothing();
}

Tree Planned::container(std::string_view init) const {
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    if (plan.children[i].type != ChildType::deployment) continue;
    if (init.empty()) return at(bodies[i], "/spec/template/spec/containers/0");
    return named(at(bodies[i], "/spec/template/spec/initContainers"), "name", init);
  }
  return nothing();
}

Tree Planned::variable(std::string_view name) const {
  const Tree entry = named(at(container(), "/env"), "name", name);
  if (entry.is_null()) return entry;
  return entry.contains("valueFrom") ? entry["valueFrom"] : Tree(entry.value("value", ""));
}

Tree Planned::volume(std::string_view name) const {
  for (std::size_t i = 0; i < bodies.size(); ++i)
    if (plan.children[i].type == ChildType::deployment)
      return named(at(bodies[i], "/spec/template/spec/volumes"), "name", name);
  return nothing();
}

Tree Planned::mount(std::string_view name) const { return named(at(container(), "/volumeMounts"), "name", name); }

std::vector<std::string> Planned::names() const {
  std::vector<std::string> out;
  for (const DesiredChild& child : plan.children) out.push_back(std::string(info(child.type).kind) + " " + child.name);
  std::ranges::sort(out);
  return out;
}

std::string as_list(const Planned& planned) {
  Tree list{{"apiVersion", "v1"}, {"kind", "List"}, {"items", Tree::array()}};
  for (const Tree& body : planned.bodies) list["items"].push_back(body);
  return list.dump(2) + "\n";
}

void expect_golden(const std::string& name, const std::string& text) {
  const std::filesystem::path file = test::source_dir() / "tests/reconcile/plan/golden" / (name + ".json");
  if (std::getenv("UPDATE_GOLDEN") != nullptr) std::ofstream(file, std::ios::binary) << text;
  std::ifstream in(file, std::ios::binary);
  std::ostringstream stored;
  stored << in.rdbuf();
  // Not EXPECT_EQ: thousands of lines are better told by a diff.
  EXPECT_TRUE(stored.str() == text) << file << " differs; UPDATE_GOLDEN=1 writes it, git diff shows how";
}

}  // namespace stackgate::reconcile::tests
