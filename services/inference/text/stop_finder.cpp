#include "services/inference/text/stop_finder.hpp"

#include <algorithm>

namespace stackgate::inference {

StopFinder::StopFinder(std::vector<std::string> stops) {
  for (std::string& text : stops) {
    Stop stop{.text = std::move(text), .shorter = {}, .matching = 0};
    stop.shorter.resize(stop.text.size());
    for (std::size_t i = 1; i < stop.text.size(); ++i) {
      advance(stop, stop.text[i]);
      stop.shorter[i] = stop.matching;
    }
    stop.matching = 0;
    stops_.push_back(std::move(stop));
  }
}

void StopFinder::advance(Stop& stop, char next) {
  while (stop.matching > 0 && stop.text[stop.matching] != next) stop.matching = stop.shorter[stop.matching - 1];
  if (stop.text[stop.matching] == next) ++stop.matching;
}

std::optional<std::size_t> StopFinder::push(std::string_view piece, std::string& out) {
  const std::size_t before = held_.size();
  held_ += piece;
  for (std::size_t i = before; i < held_.size(); ++i) {
    std::optional<std::size_t> found;
    for (std::size_t each = 0; each < stops_.size(); ++each) {
      advance(stops_[each], held_[i]);
      const bool complete = stops_[each].matching == stops_[each].text.size();
      if (complete && (!found || stops_[each].text.size() > stops_[*found].text.size())) found = each;
    }
    if (!found) continue;
    out.append(held_, 0, i + 1 - stops_[*found].text.size());
    held_.clear();
    return found;
  }
  std::uint32_t longest = 0;
  for (const Stop& stop : stops_) longest = std::max(longest, stop.matching);
  out.append(held_, 0, held_.size() - longest);
  held_.erase(0, held_.size() - longest);
  return std::nullopt;
}

void StopFinder::finish(std::string& out) {
  out += held_;
  held_.clear();
}

}  // namespace stackgate::inference
