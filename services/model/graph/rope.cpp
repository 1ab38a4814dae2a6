#include "services/model/graph/rope.hpp"

#include <cmath>
#include <numbers>

namespace stackgate::model {
namespace {

double scaled(double frequency, const Rope& rope) {
  switch (rope.kind) {
    case Rope::Kind::plain:
      return frequency;
    case Rope::Kind::linear:
      return frequency / rope.factor;
    case Rope::Kind::llama3:
      break;
  }
  const double wave = 2 * std::numbers::pi / frequency, context = rope.original_context;
  if (wave > context / rope.low_frequency_factor) return frequency / rope.factor;
  if (wave < context / rope.high_frequency_factor) return frequency;
  const double smooth =
      (context / wave - rope.low_frequency_factor) / (rope.high_frequency_factor - rope.low_frequency_factor);
  return (1 - smooth) * frequency / rope.factor + smooth * frequency;
}

}  // namespace

std::vector<double> rope_frequencies(const Config& config) {
  std::vector<double> out(config.head_width / 2);
  for (std::size_t j = 0; j < out.size(); ++j)
    out[j] = scaled(std::pow(config.rope.theta, -2.0 * static_cast<double>(j) / config.head_width), config.rope);
  return out;
}

RopeTables rope_tables(const Config& config, std::size_t positions) {
  const std::vector<double> frequencies = rope_frequencies(config);
  RopeTables out;
  out.cosines.reserve(positions * frequencies.size());
  out.sines.reserve(positions * frequencies.size());
  for (std::size_t p = 0; p < positions; ++p)
    for (const double frequency : frequencies) {
      const double angle = static_cast<double>(p) * frequency;
      out.cosines.push_back(static_cast<float>(std::cos(angle)));
      out.sines.push_back(static_cast<float>(std::sin(angle)));
    }
  return out;
}

}  // namespace stackgate::model
