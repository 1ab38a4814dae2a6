#include "services/evaluator/vectors/hnsw_graph.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <unordered_map>

// Without its own products: those read behind the ends of lists, and ours are as fast.
#define NO_MANUAL_VECTORIZATION
#include <fmt/format.h>
#include <hnswlib/hnswlib.h>

#include "services/evaluator/vectors/vector_math.hpp"

namespace stackgate::evaluator {
namespace {

constexpr std::uint32_t most_levels = 64;

float distance(const void* a, const void* b, const void* dimension) {
  return 1 -
         dot(static_cast<const float*>(a), static_cast<const float*>(b), *static_cast<const std::size_t*>(dimension));
}

class Space final : public hnswlib::SpaceInterface<float> {
 public:
  explicit Space(std::size_t dimension) : dimension_(dimension) {}
  /// An odd number of them: so the label behind it stands where a number of 8 bytes may.
  std::size_t stored() const { return dimension_ | 1U; }
  std::size_t get_data_size() override { return stored() * sizeof(float); }
  hnswlib::DISTFUNC<float> get_dist_func() override { return &distance; }
  void* get_dist_func_param() override { return &dimension_; }

 private:
  std::size_t dimension_;
};

using Index = hnswlib::HierarchicalNSW<float>;

std::uint32_t* list_of(const Index& index, std::uint32_t number, std::uint32_t level) {
  return index.get_linklist_at_level(number, static_cast<int>(level));
}

/// Walks over HnswLinks::lists. What is wrong with them, or "".
std::string fault_of(const HnswLinks& links, std::size_t count, const HnswSettings& settings) {
  if (links.levels.size() != count) return "it has another number of levels than of vectors";
  if (count == 0) return links.lists.empty() ? "" : "it has edges without vectors";
  if (links.entry >= count) return "it begins at a vector that there is not";
  const std::uint32_t top = *std::ranges::max_element(links.levels);
  if (top > most_levels || links.levels[links.entry] != top) return "it does not begin at its highest level";
  std::size_t at = 0;
  for (std::size_t number = 0; number < count; ++number) {
    for (std::uint32_t level = 0; level <= links.levels[number]; ++level) {
      if (at >= links.lists.size()) return "its edges end early";
      const std::uint32_t size = links.lists[at++];
      if (size > settings.links * (level == 0 ? 2 : 1)) return "a vector has too many edges";
      if (size > links.lists.size() - at) return "its edges end early";
      for (std::uint32_t i = 0; i < size; ++i, ++at)
        if (links.lists[at] >= count || links.levels[links.lists[at]] < level)
          return "an edge leads to a vector that there is not";
    }
  }
  return at == links.lists.size() ? "" : "it has edges without vectors";
}

}  // namespace

struct HnswGraph::Impl {
  Impl(std::size_t dimension, std::size_t capacity, HnswSettings settings)
      : space(dimension),
        index(&space, std::max<std::size_t>(capacity, 1), std::clamp(settings.links, 2U, 100U), settings.build_width) {
    index.setEf(std::max(settings.search_width, 1U));
  }
  Space space;
  Index index;
};

HnswGraph::HnswGraph(std::size_t dimension, std::size_t capacity, HnswSettings settings)
    : impl_(std::make_unique<Impl>(dimension, capacity, settings)) {}
HnswGraph::~HnswGraph() = default;
HnswGraph::HnswGraph(HnswGraph&&) noexcept = default;
HnswGraph& HnswGraph::operator=(HnswGraph&&) noexcept = default;

void HnswGraph::add(std::span<const float> vector) {
  std::vector<float> stored(vector.begin(), vector.end());
  stored.resize(impl_->space.stored());
  impl_->index.addPoint(stored.data(), static_cast<hnswlib::labeltype>(size()));
}

std::vector<std::uint32_t> HnswGraph::nearest(const float* query, std::size_t k) const {
  std::vector<std::uint32_t> out;
  for (auto found = impl_->index.searchKnn(query, std::min(k, size())); !found.empty(); found.pop())
    out.push_back(static_cast<std::uint32_t>(found.top().second));
  return out;
}

std::size_t HnswGraph::size() const { return impl_->index.cur_element_count; }

const float* HnswGraph::vector(std::size_t number) const {
  return reinterpret_cast<const float*>(impl_->index.getDataByInternalId(static_cast<hnswlib::tableint>(number)));
}

HnswLinks HnswGraph::links() const {
  const Index& index = impl_->index;
  HnswLinks out;
  if (size() == 0) return out;
  out.entry = index.enterpoint_node_;
  for (std::uint32_t number = 0; number < size(); ++number) {
    out.levels.push_back(static_cast<std::uint32_t>(index.element_levels_[number]));
    for (std::uint32_t level = 0; level <= out.levels.back(); ++level) {
      std::uint32_t* const list = list_of(index, number, level);
      const std::uint32_t count = index.getListCount(list);
      out.lists.insert(out.lists.end(), list, list + 1 + count);
      out.lists[out.lists.size() - count - 1] = count;  // its upper half holds marks of hnswlib's
    }
  }
  return out;
}

std::expected<HnswGraph, std::string> HnswGraph::restore(std::size_t dimension, std::span<const float> vectors,
                                                         const HnswLinks& links, HnswSettings settings) {
  const std::size_t count = dimension == 0 ? 0 : vectors.size() / dimension;
  if (settings.links < 2 || settings.links > 100) return std::unexpected("it says that a vector has too many edges");
  if (std::string fault = fault_of(links, count, settings); !fault.empty()) return std::unexpected(std::move(fault));
  HnswGraph out(dimension, count, settings);
  Index& index = out.impl_->index;
  std::size_t at = 0;
  for (std::uint32_t number = 0; number < count; ++number) {
    char* const element = index.data_level0_memory_ + number * index.size_data_per_element_;
    std::memset(element, 0, index.size_data_per_element_);
    std::memcpy(element + index.offsetData_, vectors.data() + number * dimension, dimension * sizeof(float));
    index.setExternalLabel(number, number);
    const std::uint32_t levels = links.levels[number];
    if (levels > 0) {
      // One byte more, as hnswlib has it. Freed by its destructor.
      const std::size_t bytes = index.size_links_per_element_ * levels + 1;
      index.linkLists_[number] = static_cast<char*>(std::calloc(1, bytes));
      if (index.linkLists_[number] == nullptr) return std::unexpected("there is no memory for it");
    }
    index.element_levels_[number] = static_cast<int>(levels);
    index.cur_element_count = number + 1;
    for (std::uint32_t level = 0; level <= levels; ++level) {
      const std::uint32_t size = links.lists[at];
      std::memcpy(list_of(index, number, level), links.lists.data() + at, (size + 1) * sizeof(std::uint32_t));
      at += size + 1;
    }
  }
  if (count > 0) {
    index.enterpoint_node_ = links.entry;
    index.maxlevel_ = static_cast<int>(links.levels[links.entry]);
  }
  return out;
}

}  // namespace stackgate::evaluator
