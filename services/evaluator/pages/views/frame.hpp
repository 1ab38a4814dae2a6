// The frame around every page, its addresses, and words that pages share. Pure.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "services/evaluator/records/evaluation.hpp"
#include "services/kit/html/html.hpp"

namespace stackgate::evaluator::pages {

/// Files of the program, by their addresses.
struct Assets {
  html::Link style{}, charts{}, script{}, icon{};
};

struct Frame {
  std::string title{};
  bool refreshes = false;  // every five seconds, where there is no script
};
std::string framed(const Frame& frame, const Assets& assets, const html::Html& content);

html::Link link_to(std::string_view evaluation);
html::Link link_to_samples(std::string_view evaluation, std::string_view task, std::int64_t after = -1);
html::Link link_to_live(std::string_view evaluation);
/// "?a=b&c=d" of what is not empty.
html::Link with_query(std::string path, std::initializer_list<std::pair<std::string_view, std::string_view>> query);

html::Html state_badge(State state);
/// "0.4211", and "± 0.012" where the error is known.
html::Html value_words(double value, double error);
/// A paragraph for what is not there.
html::Html empty_words(std::string_view text);

}  // namespace stackgate::evaluator::pages
