#pragma once
#include <expected>  // IWYU pragma: export: what TRY returns
#include <utility>

// TRY(expression): the value of a std::expected; without one the enclosing function (or lambda) returns its error,
// which must convert to that function's error type. For `void` it is a statement:
//     const auto names = TRY(read_names(path));
//     TRY(sync(directory));
// A value that is not wanted is cast to void. The value is moved out of the expression. Who adds words to an error, or
// looks at it, writes the `if` instead. Not inside braces: there GCC 12 leaks the members made before the return.
#define TRY(...) STACKGATE_TRY_AS(__COUNTER__, __VA_ARGS__)
#define STACKGATE_TRY_AS(counter, ...) STACKGATE_TRY_NAMED(counter, __VA_ARGS__)
#define STACKGATE_TRY_NAMED(counter, ...)                                           \
  __extension__({                                                                   \
    auto&& tried##counter = (__VA_ARGS__);                                          \
    if (!tried##counter) return std::unexpected(std::move(tried##counter).error()); \
    *std::forward<decltype(tried##counter)>(tried##counter);                        \
  })
