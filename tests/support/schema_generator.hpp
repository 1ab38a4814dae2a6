// Random structural schemas, as JSON, for tests and fuzzers.
#pragma once
#include <string>

#include <nlohmann/json.hpp>

#include "tests/support/dice.hpp"

namespace stackgate::testing {

using Tree = nlohmann::ordered_json;

inline nlohmann::ordered_json random_schema(Dice& dice, int depth = 0) {
  Tree out;
  const std::size_t kind = depth == 0 ? 0 : depth > 5 || dice.used_up() ? 4 : dice.roll(depth > 3 ? 6 : 8);
  static const std::string patterns[] = {"^[a-z]*$", "^a", "b$", "^[0-9]+Gi$", "^(a|b)+$", "[A-Z]", "^.{1,3}$"};
  static const std::string names[] = {"alpha", "beta", "gamma", "delta"};
  switch (kind) {
    case 0:
    case 6:
      out["type"] = "object";
      if (depth > 0 && dice.chance(20)) {
        out["additionalProperties"] = random_schema(dice, depth + 1);
        if (dice.chance(30)) out["maxProperties"] = dice.roll(3);
        break;
      }
      for (const std::string& name : names)
        if (dice.chance(60)) out["properties"][name] = random_schema(dice, depth + 1);
      for (const std::string& name : names)
        if (out.contains("properties") && out["properties"].contains(name) && dice.chance(30))
          out["required"].push_back(name);
      if (dice.chance(15)) out["x-kubernetes-preserve-unknown-fields"] = true;
      if (out.contains("properties") && out["properties"].size() > 1 && dice.chance(20)) {
        const auto first = out["properties"].begin();
        out[dice.chance(50) ? "oneOf" : "anyOf"] = {{{"required", {first.key()}}},
                                                    {{"required", {std::next(first).key()}}}};
      }
      if (dice.chance(10)) out["not"] = {{"required", {"delta"}}};
      return out;
    case 1:
      out["type"] = "integer";
      if (dice.chance(40)) out["minimum"] = static_cast<int>(dice.roll(5)) - 1;
      if (dice.chance(40)) out["maximum"] = 5 + dice.roll(1000);
      if (out.contains("minimum") && dice.chance(30)) out["exclusiveMinimum"] = true;
      if (dice.chance(15)) out["multipleOf"] = 2;
      break;
    case 2:
      out["type"] = "number";
      if (dice.chance(40)) out["maximum"] = 2.5;
      break;
    case 3:
      out["type"] = "boolean";
      break;
    case 4:
    case 5:
      out["type"] = "string";
      if (dice.chance(30)) out["minLength"] = dice.roll(3);
      if (dice.chance(30)) out["maxLength"] = 2 + dice.roll(10);
      if (dice.chance(40))
        out["pattern"] = dice.pick(patterns);
      else if (dice.chance(30))
        out["enum"] = {"a", "Abc", "10Gi"};
      break;
    default:
      if (dice.chance(20)) {
        out["x-kubernetes-int-or-string"] = true;
        return out;
      }
      out["type"] = "array";
      out["items"] = random_schema(dice, depth + 1);
      if (dice.chance(30)) out["minItems"] = dice.roll(2);
      if (dice.chance(30)) out["maxItems"] = 1 + dice.roll(3);
      break;
  }
  if (dice.chance(10)) out["nullable"] = true;
  return out;
}

}  // namespace stackgate::testing
