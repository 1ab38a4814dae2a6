// Two texts side by side: what of each the other does not have, word by word. Pure.
#pragma once
#include <string_view>
#include <vector>

namespace stackgate::evaluator::pages {

struct DiffPart {
  std::string_view text{};
  bool differs = false;
};
/// Each side's parts, put together, are its text. Beyond 500 words a side nothing is compared: each is one part that
/// does not differ.
struct Diff {
  std::vector<DiffPart> left{}, right{};
  bool is_compared = true;
};
Diff diff_of(std::string_view left, std::string_view right);

}  // namespace stackgate::evaluator::pages
