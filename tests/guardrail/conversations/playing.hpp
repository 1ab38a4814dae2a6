// Rows played: their configuration served, their question asked.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "services/guardrail/library/library.hpp"
#include "tests/guardrail/conversations/rows.hpp"
#include "tests/guardrail/conversations/serving.hpp"

namespace stackgate::guardrail::test {

const BuiltInRail& rail_of(const Row& row);

/// `with_rail`: it is in its list; `more`: a further YAML file.
void serve(Serving& serving, const Row& row, bool with_rail = true, const std::string& more = {});

struct Asking {
  bool stream = false;
  bool given = false;  // the answer, too
  bool log = true;     // with all that explains an answer
  std::string_view rails{};
};
std::string body_of(const Row& row, const Asking& asking);

/// Of each request that the endpoint got: the model, or another path than that of models.
std::vector<std::string> models_asked(const Serving& serving);
/// All bodies for the main model.
std::string asked_of_main(const Serving& serving);

}  // namespace stackgate::guardrail::test
