#include "services/evaluator/suite/harness/examples.hpp"

#include <algorithm>
#include <numeric>

#include "services/evaluator/suite/harness/python_random.hpp"
#include "services/kit/json/parse.hpp"

namespace stackgate::evaluator::harness {

Examples::Examples(SplitPtr pool, const Fewshot& fewshot, std::uint32_t count, bool of_own_split, std::uint32_t samples,
                   std::uint64_t seed)
    : pool_(std::move(pool)), count_(count), of_own_split_(of_own_split), first_n_(fewshot.first_n) {
  for (const std::uint32_t index : fewshot.indices)
    if (index < pool_->rows.size()) places_.push_back(index);
  if (fewshot.indices.empty()) {
    places_.resize(pool_->rows.size());
    std::iota(places_.begin(), places_.end(), 0U);
  }
  const auto size = static_cast<std::uint32_t>(places_.size());
  drawn_for_each_ = std::min(count + (of_own_split ? 1U : 0U), size);
  if (first_n_) return;
  PythonRandom random(seed);
  drawn_.reserve(std::size_t{samples} * drawn_for_each_);
  for (std::uint32_t i = 0; i < samples; ++i)
    for (const std::uint32_t each : random.sample(size, drawn_for_each_)) drawn_.push_back(places_[each]);
}

/// The same row, or one that says the same.
bool Examples::is(std::uint32_t row, const DataRow& own) const {
  const DataRow& other = pool_->rows[row];
  if (other.text == own.text) return true;
  json::Document a, b;
  const auto left = json::parse(other.text, a), right = json::parse(own.text, b);
  return left && right && json::equal(*left, *right);
}

std::vector<std::uint32_t> Examples::of(std::uint32_t sample, const DataRow& own) const {
  std::vector<std::uint32_t> out;
  if (pool_ == nullptr) return out;
  const auto add = [&](std::uint32_t row) {
    if (out.size() < count_ && !(of_own_split_ && is(row, own))) out.push_back(row);
    return out.size() < count_;
  };
  if (first_n_) {
    for (const std::uint32_t each : places_)
      if (!add(each)) break;
    return out;
  }
  for (std::size_t i = 0; i < drawn_for_each_; ++i)
    if (!add(drawn_[std::size_t{sample} * drawn_for_each_ + i])) break;
  return out;
}

std::vector<std::uint32_t> Examples::all() const {
  std::vector<std::uint32_t> out = first_n_ ? places_ : drawn_;
  if (first_n_ && out.size() > drawn_for_each_) out.resize(drawn_for_each_);
  std::ranges::sort(out);
  const auto same = std::ranges::unique(out);
  out.erase(same.begin(), same.end());
  return out;
}

}  // namespace stackgate::evaluator::harness
