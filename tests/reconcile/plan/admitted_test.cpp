// What the gate admits is planned: thousands of resources near the samples, drawn at random.
//
// DICE_SEED repeats one run, DRAWS asks for more than a few hundred; PLAN_DUMP names a folder that gets the plans, as
// Lists for `kubectl apply`.
#include <array>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "services/kit/json/parse.hpp"
#include "tests/reconcile/plan/plan_checks.hpp"
#include "tests/support/object_generator.hpp"
#include "validators/children.hpp"
#include "validators/rulebook.hpp"
#include "validators/schemas.hpp"

namespace stackgate::reconcile::tests {
namespace admitted {

using testing::Dice;
using validate::schema::Node;

/// A number from the environment.
std::uint64_t number_of(const char* variable, std::uint64_t otherwise) {
  const char* given = std::getenv(variable);
  return given == nullptr ? otherwise : std::strtoull(given, nullptr, 10);
}

/// Texts that are odd and yet often allowed.
constexpr std::array<std::string_view, 24> odd_texts{
    "",           "$(HOME)", "$$",          "a",     "data", "tmp", "config", "a,b",  "a b",  "ä-€-\xF0\x9F\x98\x80",
    "\"quoted\"", "\\",      "line\nbreak", "%41",   "@",    "0",   "-1",     "true", "null", "9009",
    "localhost",  "a.b.c",   "1.0",         "x-jobs"};
constexpr std::array<std::string_view, 8> names{
    "a",      "x-jobs", "data",      "migrate",
    "config", "x-pvc",  "workflows", "n23456789-123456789-123456789-123456789-123456789-123456789-123"};
constexpr std::array<std::string_view, 12> variables{"A",
                                                     "_",
                                                     "a.b-c",
                                                     "STACKGATE_LISTEN",
                                                     "STACKGATE_LOG_FORMAT",
                                                     "OTEL_SDK_DISABLED",
                                                     "OTEL_SERVICE_NAME",
                                                     "OTEL_LOG_LEVEL",
                                                     "S3_ACCESS_KEY",
                                                     "STACKGATE_APPROVAL",
                                                     "PATH",
                                                     "STACKGATE_NAMESPACE"};

/// A random place below the spec, with its schema.
struct Place {
  Tree* parent = nullptr;
  std::string key;  // of an object
  std::size_t index = 0;
  Tree* at = nullptr;
  const Node* node = nullptr;
};

Place walk(Tree& object, const Node& spec, Dice& dice) {
  Place place{.parent = &object, .key = "spec", .at = &object["spec"], .node = &spec};
  while (place.at->is_structured() && !place.at->empty() && dice.chance(85)) {
    const std::size_t which = dice.roll(place.at->size());
    auto next = place.at->begin();
    std::advance(next, static_cast<std::ptrdiff_t>(which));
    place.parent = place.at;
    if (place.at->is_object()) {
      place.key = next.key();
      const Node* child = place.node == nullptr ? nullptr : place.node->property(place.key);
      place.node = child != nullptr ? child : place.node == nullptr ? nullptr : place.node->additional;
    } else {
      place.index = which;
      place.node = place.node == nullptr ? nullptr : place.node->items;
    }
    place.at = &*next;
  }
  return place;
}

void remove(const Place& place, const Tree& object) {
  if (place.parent == &object) return;
  if (place.parent->is_array())
    place.parent->erase(place.index);
  else
    place.parent->erase(place.key);
}

/// Sets a member that is not there yet.
void add_member(const Place& place, Dice& dice) {
  if (!place.at->is_object() || place.node == nullptr || place.node->properties.empty()) return;
  const auto& property = dice.pick(place.node->properties);
  testing::ObjectGenerator generator(dice);
  if (!place.at->contains(property.name)) (*place.at)[std::string(property.name)] = generator.value(*property.node, 3);
}

void change(Tree& object, const Node& spec, Dice& dice) {
  const Place place = walk(object, spec, dice);
  testing::ObjectGenerator generator(dice);
  switch (dice.roll(8)) {
    case 0:
    case 1:
      return remove(place, object);
    case 2:
      if (place.node != nullptr && place.parent != &object) *place.at = generator.value(*place.node, 3);
      return;
    case 3:
      if (place.at->is_string()) *place.at = std::string(dice.pick(odd_texts));
      if (place.at->is_number()) *place.at = dice.pick(std::array{0, 1, 2, 443, 8080, 9009, 65535});
      if (place.at->is_boolean()) *place.at = !place.at->get<bool>();
      return;
    case 4:
      if (place.at->is_array()) *place.at = Tree::array();
      if (place.at->is_object() && place.parent != &object) *place.at = Tree::object();
      return;
    case 5:
      object["metadata"]["name"] = dice.pick(names);
      return;
    case 6:
      object["spec"]["env"].push_back({{"name", dice.pick(variables)}, {"value", dice.pick(odd_texts)}});
      return;
    default:
      return add_member(place, dice);
  }
}

bool admits(const Tree& object, crds::Kind kind) {
  const std::string text = object.dump(-1, ' ', false, Tree::error_handler_t::replace);
  json::Document document;
  const auto root = json::parse(text, document);
  if (!root) return false;
  return !validate::has_errors(
      validate::review({.kind = kind, .object = &*root, .old = nullptr, .ns = "team"}, nullptr));
}

/// What the rules think that the operator makes: the names that they hold free of collisions.
std::vector<std::string> foreseen(const Tree& object, crds::Kind kind) {
  const std::string spec = object["spec"].dump();
  json::Document document;
  const auto root = json::parse(spec, document);
  std::vector<std::string> out;
  for (const validate::Child& child : validate::children_of(kind, object["metadata"]["name"].get<std::string>(), *root))
    out.push_back(std::string(child.kind) + " " + child.name);
  std::ranges::sort(out);
  return out;
}

void dump(const std::string& list, crds::Kind kind, std::size_t draw) {
  const char* folder = std::getenv("PLAN_DUMP");
  if (folder == nullptr) return;
  std::ofstream(std::string(folder) + "/" + std::string(crds::info(kind).plural) + "-" + std::to_string(draw) + ".json")
      << list;
}

class Admitted : public ::testing::TestWithParam<crds::Kind> {};

TEST_P(Admitted, WhatTheGateAdmitsIsPlanned) {
  const std::uint64_t seed = number_of("DICE_SEED", std::random_device{}());
  const std::size_t draws = number_of("DRAWS", 600);
  std::cout << "DICE_SEED=" << seed << "\n";
  Dice dice(seed);
  const Node& spec = validate::spec_node(GetParam());
  World world;
  world.observed.cache = {.exists = true, .state = "Ready", .claim = "models"};
  const Tree samples[]{full(GetParam()), full(GetParam()), minimal(GetParam())};
  std::size_t admitted = 0;
  std::set<std::string> different;
  for (std::size_t draw = 0; draw < draws; ++draw) {
    Tree object = dice.pick(samples);
    for (std::size_t steps = 1 + dice.roll(5); steps > 0; --steps) change(object, spec, dice);
    if (!admits(object, GetParam())) continue;
    ++admitted;
    const Planned planned = plan_of(object, world);
    const std::string text = as_list(planned);
    dump(text, GetParam(), draw);
    ASSERT_EQ(faults_of(planned), std::vector<std::string>{}) << "draw " << draw << "\n" << object.dump();
    // A pipeline's services make their children themselves, and a LeaderWorkerSet a Service.
    if (GetParam() == crds::Kind::inference_pipeline || GetParam() == crds::Kind::inference_service) {
      ASSERT_TRUE(std::ranges::includes(foreseen(object, GetParam()), planned.names())) << object.dump();
    } else {
      ASSERT_EQ(planned.names(), foreseen(object, GetParam())) << "draw " << draw << "\n" << object.dump();
    }
    if (dice.chance(10)) {
      ASSERT_EQ(text, as_list(plan_of(object, world))) << "draw " << draw;
    }
    different.insert(text);
  }
  std::cout << admitted << " of " << draws << " admitted, " << different.size() << " different plans\n";
  EXPECT_GT(admitted, draws / 10) << "the changes are too coarse to prove anything";
  EXPECT_GT(different.size(), admitted / 4);
}

std::vector<crds::Kind> every_kind() {
  std::vector<crds::Kind> out;
  for (const crds::KindInfo& each : crds::kinds) out.push_back(each.kind);
  return out;
}

INSTANTIATE_TEST_SUITE_P(All, Admitted, ::testing::ValuesIn(every_kind()),
                         [](const auto& each) { return std::string(crds::info(each.param).plural); });

}  // namespace admitted
}  // namespace stackgate::reconcile::tests
