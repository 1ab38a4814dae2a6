// Whatever a server streams: no crash, and the pieces do not depend on how the bytes were cut.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "services/kit/kube/watch_frame.hpp"

namespace {

using stackgate::kube::FrameSplitter;
using stackgate::kube::ListSplitter;

template <class Splitter>
std::vector<std::string> pieces(std::string_view text, std::size_t step, bool& sound) {
  Splitter splitter;
  std::vector<std::string> out;
  sound = true;
  for (std::size_t i = 0; sound && i < text.size(); i += step)
    sound = splitter.feed(text.substr(i, step), [&](std::string_view piece) {
      out.emplace_back(piece);
      return true;
    });
  if constexpr (requires { splitter.finish(); }) (void)splitter.finish();
  return out;
}

template <class Splitter>
void same_in_steps(std::string_view text, std::size_t step) {
  bool whole_sound = false, cut_sound = false;
  const auto whole = pieces<Splitter>(text, text.size() + 1, whole_sound);
  const auto cut = pieces<Splitter>(text, step, cut_sound);
  if (whole != cut || whole_sound != cut_sound) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::size_t step = 1 + data[0] % 16;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  same_in_steps<FrameSplitter>(text, step);
  same_in_steps<ListSplitter>(text, step);
  return 0;
}
