// Any bytes: a stream that is cut at its documents gives the trees and the offsets of the same stream read whole.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "services/kit/json/write.hpp"
#include "services/kit/yaml/kubectl_stream.hpp"
#include "services/kit/yaml/parse.hpp"

namespace {

using stackgate::json::Value;

bool same_places(const Value& a, const Value& b) {
  if (a.offset() != b.offset() || a.type() != b.type()) return false;
  if (a.items().size() != b.items().size() || a.members().size() != b.members().size()) return false;
  for (std::size_t i = 0; i < a.items().size(); ++i)
    if (!same_places(a.items()[i], b.items()[i])) return false;
  for (std::size_t i = 0; i < a.members().size(); ++i) {
    if (a.members()[i].key_offset != b.members()[i].key_offset) return false;
    if (!same_places(a.members()[i].value, b.members()[i].value)) return false;
  }
  return true;
}

[[noreturn]] void differ(const char* what, const Value& cut, const Value& whole) {
  std::fprintf(stderr, "%s differ\nfast: %s\nfull: %s\n", what, stackgate::json::to_json(cut).c_str(),
               stackgate::json::to_json(whole).c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stackgate;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const yaml::StreamRemark& remark : yaml::kubectl_remarks(text))
    if (remark.offset > size) std::abort();
  // A JSON text goes to json::parse, whose strings may hold what YAML's may not.
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && (text[first] == '{' || text[first] == '[')) {
    yaml::parse(text);
    return 0;
  }
  yaml::Reader cut(text);
  yaml::Reader whole(text, {}, yaml::Cut::nowhere);
  json::Document a;
  json::Document b;
  while (true) {
    const bool more_a = cut.next(a);
    const bool more_b = whole.next(b);
    if (more_a != more_b) {
      // A piece alone may end where the whole stream is torn: both must fail in the end.
      while (cut.next(a)) {
      }
      while (whole.next(b)) {
      }
      if (cut.failed() && whole.failed()) return 0;
      differ("numbers of documents", a.root, b.root);
    }
    if (!more_a) break;
    if (json::to_json(a.root) != json::to_json(b.root)) differ("trees", a.root, b.root);
    if (!same_places(a.root, b.root)) differ("offsets", a.root, b.root);
  }
  if (cut.failed() != whole.failed()) differ("verdicts", a.root, b.root);
  if (cut.failed() && cut.error().offset > size) std::abort();
  return 0;
}
