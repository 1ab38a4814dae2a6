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

#if defined(__SSE2__)
/// A bit for each of the sixteen bytes for which ends_plain_run() holds.
inline unsigned plain_run_ends(__m128i bytes) {
  // The comparison is signed, so bytes from 0x80 on count as below a space, too.
  return static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(
      _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20)),
      _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'))))));
}
#endif

/// The first byte in [at, end) for which ends_plain_run() holds, or end.
inline const char* skip_plain_run(const char* at, const char* end) {
#if defined(__SSE2__)
  while (end - at >= 16) {
    const unsigned ends = plain_run_ends(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)));
    if (ends != 0) return at + std::countr_zero(ends);
    at += 16;
  }
  if (end - at >= 8) {  // the upper half is zero, which ends a run
    at += std::countr_zero(plain_run_ends(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(at))));
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

/// Copies what skip_plain_run() passes over and moves `at` behind it. May write behind what it copies, never more than
/// `end - at` bytes in all. Returns the end of the copy.
inline char* copy_plain_run(char* out, const char*& at, const char* end) {
#if defined(__SSE2__)
  while (end - at >= 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), bytes);
    const int length = std::countr_zero(plain_run_ends(bytes) | 1U << 16U);
    at += length;
    out += length;
    if (length < 16) return out;
  }
  if (end - at >= 8) {  // the upper half is zero, which ends a run
    const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(at));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(out), bytes);
    const int length = std::countr_zero(plain_run_ends(bytes));
    at += length;
    out += length;
  }
#endif
  while (at != end && !ends_plain_run(*at)) *out++ = *at++;
  return out;
}

}  // namespace stackgate::json
