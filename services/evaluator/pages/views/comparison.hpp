// Evaluations side by side: bars with error bars, differences, winners. Pure.
#pragma once
#include <string>

#include "services/evaluator/compare/compare.hpp"
#include "services/evaluator/pages/views/frame.hpp"

namespace stackgate::evaluator::pages {

html::Html comparison_page(const Comparison& comparison);

/// What keeps them from being compared. `forcible`: the link that compares them nevertheless; "": there is none.
html::Html comparison_refused(const validate::Findings& findings, const html::Link& forcible);

/// "McNemar's test", for a person.
std::string_view test_words(std::string_view test);

}  // namespace stackgate::evaluator::pages
