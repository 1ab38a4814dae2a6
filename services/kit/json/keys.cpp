#include "services/kit/json/keys.hpp"

#include <algorithm>

namespace stackgate::json {

namespace {

std::uint64_t head_of(std::string_view key) {
  std::uint64_t head = 0;
  for (std::size_t i = 0; i < 8; ++i) head = head << 8U | (i < key.size() ? static_cast<unsigned char>(key[i]) : 0U);
  return head;
}

constexpr std::size_t few_keys = 16;

}  // namespace

void sort_keys(std::span<const Member> members, std::vector<KeyRef>& out) {
  out.clear();
  out.reserve(members.size());
  for (std::size_t i = 0; i < members.size(); ++i)
    out.push_back({head_of(members[i].key), static_cast<std::uint32_t>(i)});
  std::ranges::sort(out, [&](const KeyRef& a, const KeyRef& b) {
    if (a.head != b.head) return a.head < b.head;
    const int order = members[a.index].key.compare(members[b.index].key);
    return order != 0 ? order < 0 : a.index < b.index;
  });
}

const Member* find_duplicate(std::span<const Member> members, std::vector<KeyRef>& scratch) {
  if (members.size() <= few_keys) {
    for (std::size_t i = 1; i < members.size(); ++i)
      for (std::size_t k = 0; k < i; ++k)
        if (members[k].key == members[i].key) return &members[i];
    return nullptr;
  }
  sort_keys(members, scratch);
  const Member* first = nullptr;
  for (std::size_t i = 1; i < scratch.size(); ++i) {
    const Member& member = members[scratch[i].index];
    if (scratch[i].head == scratch[i - 1].head && member.key == members[scratch[i - 1].index].key &&
        (first == nullptr || &member < first))
      first = &member;
  }
  return first;
}

}  // namespace stackgate::json
