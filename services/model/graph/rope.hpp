// Rotary position embedding's tables. Pure. Source: https://arxiv.org/abs/2104.09864; the scalings are those of Hugging
// Face's transformers.
#pragma once
#include <cstddef>
#include <vector>

#include "services/model/directory/config.hpp"

namespace stackgate::model {

/// Radians per position, head_width / 2 of them.
std::vector<double> rope_frequencies(const Config& config);

/// Row p holds the angles' cosines (sines) at position p, head_width / 2 of each.
struct RopeTables {
  std::vector<float> cosines, sines;
};
RopeTables rope_tables(const Config& config, std::size_t positions);

}  // namespace stackgate::model
