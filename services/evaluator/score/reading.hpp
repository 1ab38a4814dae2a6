// A line's params and items read, with the place of what is wrong. Pure.
#pragma once
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/json/value.hpp"

namespace stackgate::evaluator::scoring {

struct Fault {
  std::string path{};     // "items[3].references", "params.k"; "" is the line
  std::string message{};  // what is wrong and what to write
};
template <class T>
using Read = std::expected<T, Fault>;

inline std::unexpected<Fault> fault(std::string path, std::string message) {
  return std::unexpected(Fault{std::move(path), std::move(message)});
}
/// "is no …; write …", of one that is not there "is missing; write …".
std::unexpected<Fault> wrong_type(const json::Value* value, std::string path, std::string_view wanted);

/// The first of `given`'s members that is not `known`, with the nearest one that is. `path`: "params." or "".
Read<void> check_known(const json::Value& given, std::string_view path, std::span<const std::string_view> known);

// Of params; one that is absent or null is the fallback.

Read<bool> flag_param(const json::Value& params, std::string_view name);
Read<std::string> word_param(const json::Value& params, std::string_view name, std::span<const std::string_view> words);
Read<std::vector<std::string>> texts_param(const json::Value& params, std::string_view name);
/// Whole numbers from 1; in the order given, each once.
Read<std::vector<std::uint32_t>> numbers_param(const json::Value& params, std::string_view name,
                                               std::vector<std::uint32_t> fallback);

/// One of the items.
class Item {
 public:
  Item(const json::Value& value, std::size_t number) : value_(value), number_(number) {}
  std::string path(std::string_view member) const;
  const json::Value* find(std::string_view member) const;

  Read<std::string_view> text(std::string_view member) const;
  Read<double> number(std::string_view member) const;
  Read<std::uint64_t> count(std::string_view member) const;
  /// At least one.
  Read<std::vector<std::string>> texts(std::string_view member) const;
  Read<std::vector<double>> numbers(std::string_view member) const;

 private:
  const json::Value& value_;
  std::size_t number_;
};

/// {prediction, references[]}; a single "reference" will do.
struct Pair {
  std::string_view prediction{};
  std::vector<std::string> references{};
};
Read<Pair> read_pair(const Item& item);

}  // namespace stackgate::evaluator::scoring
