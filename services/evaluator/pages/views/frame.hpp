// Addresses of the evaluator's pages, and words that they share. Pure.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "services/evaluator/records/evaluation.hpp"
#include "services/kit/html/frame.hpp"

namespace stackgate::evaluator::pages {

/// Where the pages lie: links are relative to it.
inline constexpr html::Place at_root{0}, at_evaluation{1}, at_samples{2};

// From the service's root on.

std::string path_of(std::string_view evaluation);
std::string path_of_samples(std::string_view evaluation, std::string_view task, std::int64_t after = -1);

html::Html state_badge(State state);
/// "0.4211", and "± 0.012" where the error is known.
html::Html value_words(double value, double error);

}  // namespace stackgate::evaluator::pages
