// Finds the bytes that end or change a string, sixteen at a time.
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace stackgate::json {

/// True for a quote, a backslash, a control character, or a byte outside ASCII.
inline bool ends_plain_run(char c) { return static_cast<signed char>(c) < 0x20 || c == '"' || c == '\\'; }

/// The first byte in [at, end) for which ends_plain_run() holds, or end.
inline const char* skip_plain_run(const char* at, const char* end) {
#if defined(__SSE2__)
  const __m128i space = _mm_set1_epi8(0x20);
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i backslash = _mm_set1_epi8('\\');
  while (end - at >= 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    // The comparison is signed, so bytes from 0x80 on count as below a space, too.
    const __m128i hits = _mm_or_si128(_mm_cmplt_epi8(bytes, space),
                                      _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash)));
    const int mask = _mm_movemask_epi8(hits);
    if (mask != 0) return at + std::countr_zero(static_cast<unsigned>(mask));
    at += 16;
  }
#else
  constexpr std::uint64_t ones = 0x0101010101010101U;
  constexpr std::uint64_t tops = ones * 0x80;
  const auto has_zero = [](std::uint64_t x) { return (x - ones) & ~x & tops; };
  while (end - at >= 8) {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    const std::uint64_t hits = (word & tops) | ((word - ones * 0x20) & ~word & tops) | has_zero(word ^ ones * '"') |
                               has_zero(word ^ ones * '\\');
    if (hits != 0) break;  // a borrow may mark a byte too many: look at them one by one
    at += 8;
  }
#endif
  while (at != end && !ends_plain_run(*at)) ++at;
  return at;
}

}  // namespace stackgate::json
