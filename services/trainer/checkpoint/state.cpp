#include "services/trainer/checkpoint/state.hpp"

#include <charconv>

#include <fmt/format.h>

#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::trainer {

std::string write_state(const TrainingState& state) {
  return json::object_text([&](json::Writer& w) {
           w.member("format", 1);
           w.member("step", state.step);
           w.member("fingerprint", fmt::format("{:016x}", state.fingerprint));
           w.member("loss_sum", state.loss_sum);
           w.member("trained_tokens", state.trained_tokens);
           w.member("tokens", state.tokens);
           w.member("seconds", state.seconds);
           if (state.val_loss) w.member("val_loss", *state.val_loss);
           if (state.best_val_loss) w.member("best_val_loss", *state.best_val_loss);
           w.member("worse_validations", state.worse_validations);
         }) +
         "\n";
}

std::expected<TrainingState, std::string> read_state(std::string_view text) {
  json::Document document;
  const auto root = json::parse(text, document, {.max_depth = 4, .max_bytes = 1U << 16U});
  if (!root || json::integer(&*root, {"format"}) != 1) return std::unexpected("is no state of a training run");
  const auto count = [&](std::string_view key) { return static_cast<std::uint64_t>(json::integer(&*root, {key}, -1)); };
  const auto real = [&](std::string_view key) -> std::optional<double> {
    const json::Value* found = root->find(key);
    return found != nullptr && found->is_number() ? std::optional(found->number()) : std::nullopt;
  };
  TrainingState out;
  const std::string_view mark = json::text_at(*root, "fingerprint");
  const auto read = std::from_chars(mark.data(), mark.data() + mark.size(), out.fingerprint, 16);
  const auto sum = real("loss_sum"), seconds = real("seconds");
  out.step = count("step"), out.trained_tokens = count("trained_tokens"), out.tokens = count("tokens");
  constexpr std::uint64_t absent = ~std::uint64_t{0};
  if (mark.size() != 16 || read.ptr != mark.data() + mark.size() || !sum || !seconds || out.step == absent ||
      out.trained_tokens == absent || out.tokens == absent)
    return std::unexpected("lacks a member of a state, or one is of another type");
  out.loss_sum = *sum, out.seconds = *seconds;
  out.val_loss = real("val_loss"), out.best_val_loss = real("best_val_loss");
  out.worse_validations = static_cast<std::uint32_t>(json::integer(&*root, {"worse_validations"}));
  return out;
}

}  // namespace stackgate::trainer
