// Stop texts in a text that comes in pieces (Knuth, Morris, Pratt: one state for each stop text). What is found does
// not depend on where the pieces are cut: the stop text that ends first, of those that end together the longest.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stackgate::inference {

/// Not thread-safe. Time: bytes of text × stop texts.
class StopFinder {
 public:
  /// Whole UTF-8 texts, none empty.
  explicit StopFinder(std::vector<std::string> stops);

  /// `piece`: whole UTF-8. Appends what cannot begin a stop text any more, which is whole UTF-8 too. The index of a
  /// stop text that is complete: what stood before it has been appended, what follows it is dropped, and nothing may
  /// come after.
  std::optional<std::size_t> push(std::string_view piece, std::string& out);
  /// The end of the text: appends what was held back.
  void finish(std::string& out);

  const std::string& stop(std::size_t index) const { return stops_[index].text; }

 private:
  struct Stop {
    std::string text;
    std::vector<std::uint32_t> shorter;  // after i + 1 matching bytes: how many still match when the next one does not
    std::uint32_t matching = 0;          // bytes
  };
  static void advance(Stop& stop, char next);

  std::vector<Stop> stops_;
  std::string held_;
};

}  // namespace stackgate::inference
