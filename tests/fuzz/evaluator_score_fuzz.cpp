// Any line to `stackgate-evaluator score`: one line of JSON comes out, with scores or an error, and no number that is
// none.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "services/evaluator/score/score_line.hpp"
#include "services/kit/json/parse.hpp"

using namespace stackgate;

namespace {
void require(bool holds) {
  if (!holds) std::abort();
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string out = evaluator::score_line({reinterpret_cast<const char*>(data), size});
  require(!out.contains('\n'));
  json::Document document;
  const auto root = json::parse(out, document);
  require(root.has_value() && root->is_object());
  require((root->find("scores") != nullptr) != (root->find("error") != nullptr));
  return 0;
}
