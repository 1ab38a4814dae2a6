#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "services/kit/grammar/characters.hpp"
#include "services/kit/json/read.hpp"
#include "validators/rules/common/single_values.hpp"

namespace stackgate::validate {
namespace amounts {

using grammar::Quantity;

constexpr std::int64_t mebibyte = std::int64_t{1} << 20;
constexpr std::int64_t most_memory = std::int64_t{1} << 50;
constexpr std::int64_t most_of_claim = std::int64_t{1} << 60;
constexpr std::int64_t most_cpus = 10'000;
constexpr std::int64_t most_gpus = 1'024;
constexpr std::size_t longest_number = 6;

bool below(const Quantity& amount, std::int64_t bound) { return amount < Quantity::from_integer(bound); }
bool above(const Quantity& amount, std::int64_t bound) { return amount > Quantity::from_integer(bound); }

/// As it is written: "500m", "16". The field holds an amount.
std::string written(const Field& field) { return json::scalar_text(*field.value()); }

struct Parts {
  std::string number, unit;  // "0.5", "Gi"
};
Parts split(const std::string& text) {
  const auto in_number = [](char c) { return grammar::is_digit(c) || c == '.' || c == '+'; };
  const auto end = std::ranges::find_if_not(text, in_number);
  return {std::string(text.begin(), end), std::string(end, text.end())};
}

/// "16" → "16Gi", "4096" → "4096Mi": what a number without a unit may have meant.
std::string with_unit(const std::string& number, std::string_view example) {
  if (number.size() > longest_number) return std::string(example);
  return number + (number.find('.') == std::string::npos && number.size() > 3 ? "Mi" : "Gi");
}

std::string cure_small(const Field& field, std::string_view example) {
  const Parts parts = split(written(field));
  if (parts.unit == "m" && parts.number.size() <= longest_number)
    return fmt::format("write \"{0}Mi\" for mebibytes or \"{0}M\" for megabytes", parts.number);
  if (parts.unit.empty()) return fmt::format("add the unit, for example \"{}\"", with_unit(parts.number, example));
  return fmt::format("write it with another unit, for example \"{}\"", example);
}

std::string describe_fraction(const Field& field) {
  return written(field).ends_with('m') ? "is a fraction of a byte: the suffix m means a thousandth"
                                       : "is a fraction of a byte";
}

}  // namespace amounts

void check_bytes(Context& context, const Field& field, const grammar::Quantity& amount, Bytes kind,
                 std::string_view example) {
  using namespace amounts;
  if (amount.sign() <= 0) return;
  if (above(amount, kind == Bytes::of_memory ? most_memory : most_of_claim))
    return context.report(rule::amount_unlikely, field,
                          kind == Bytes::of_memory ? "is more than any node has" : "is more than any volume holds",
                          fmt::format("write it with another unit, for example \"{}\"", example));
  const bool small = below(amount, mebibyte);
  if (!amount.is_integer())
    return context.report(
        rule::memory_fraction, field, describe_fraction(field),
        small ? cure_small(field, example)
              : fmt::format("write whole mebibytes: \"{}Mi\"", (amount.rounded_up() + mebibyte - 1) / mebibyte));
  if (small)
    context.report(
        rule::amount_unlikely, field,
        fmt::format("is {} {}, less than a mebibyte", amount.rounded_up(), amount.rounded_up() == 1 ? "byte" : "bytes"),
        cure_small(field, example));
}

void check_cpus(Context& context, const Field& field, const grammar::Quantity& amount) {
  using namespace amounts;
  if (!above(amount, most_cpus)) return;
  const Parts parts = split(written(field));
  const bool short_enough = parts.number.size() <= longest_number;
  std::string fix = "write a number of CPUs or thousandths of one, for example \"8\" or \"500m\"";
  if (parts.unit == "M" && short_enough)
    fix = fmt::format("write \"{}m\" for thousandths of a CPU: M means a million", parts.number);
  else if (parts.unit.empty() && short_enough)
    fix = fmt::format("write \"{}m\" if thousandths of a CPU are meant", parts.number);
  context.report(rule::amount_unlikely, field, "is more CPUs than any node has", std::move(fix));
}

void check_gpu_number(Context& context, const Field& field, const grammar::Quantity& amount) {
  using namespace amounts;
  if (!above(amount, most_gpus)) return;
  context.report(rule::amount_unlikely, field, "is more GPUs than any node has",
                 fmt::format("write how many each pod needs, without a unit, for example {}: 1", field.key()));
}

}  // namespace stackgate::validate
