// The same work for each of many things, on some threads.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

namespace stackgate {

/// Calls body(0) … body(count - 1), each once, in any order. `body` must not throw when `jobs` is above 1.
template <class Body>
void for_each_index(std::size_t count, unsigned jobs, const Body& body) {
  constexpr std::size_t at_a_time = 16;
  const std::size_t threads = std::min<std::size_t>(jobs, (count + at_a_time - 1) / at_a_time);
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    while (true) {
      const std::size_t first = next.fetch_add(at_a_time);
      if (first >= count) return;
      for (std::size_t i = first; i < std::min(count, first + at_a_time); ++i) body(i);
    }
  };
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < threads; ++i) others.emplace_back(work);
  work();
}

}  // namespace stackgate
