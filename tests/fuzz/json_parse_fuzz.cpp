// Any bytes: the parser neither crashes nor accepts what it would not read back the same; its errors lie in the text.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "services/kit/json/parse.hpp"
#include "services/kit/json/write.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stackgate;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static json::Document document;
  const auto tree = json::parse(text, document);
  if (!tree) {
    if (tree.error().offset > size || tree.error().message.empty()) std::abort();
    return 0;
  }
  const std::string written = json::to_json(*tree);
  json::Document second;
  const auto again = json::parse(written, second);
  if (!again || !json::equal(*tree, *again)) std::abort();
  return 0;
}
