#include "services/trainer/training/peers.hpp"

#include "services/kit/base/try.hpp"

namespace stackgate::trainer {
namespace peers_detail {

constexpr std::uint64_t largest_text = 1U << 20U;

}  // namespace peers_detail

Result<std::string> text_of_first(Group& group, std::string text) {
  std::uint64_t size = text.size();
  TRY(with_peers(group.broadcast(std::as_writable_bytes(std::span(&size, 1)))));
  if (size > peers_detail::largest_text) return failed("what rank 0 says is too long: is it of another version?");
  text.resize(size);
  TRY(with_peers(group.broadcast(std::as_writable_bytes(std::span(text)))));
  return text;
}

}  // namespace stackgate::trainer
