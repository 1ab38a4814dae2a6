// Vectors of LANES floats, by the compiler's vector extensions. Included once by each file that is compiled for an
// instruction set, within that set's namespace: nothing here may be shared between them, and nothing of the standard
// library that is not a macro or a builtin, because the linker would keep one set's copy of an inline function for all.
// https://gcc.gnu.org/onlinedocs/gcc/Vector-Extensions.html
#pragma once

typedef float Floats __attribute__((vector_size(4 * LANES)));
typedef int Ints __attribute__((vector_size(4 * LANES)));
typedef unsigned int Words __attribute__((vector_size(4 * LANES)));
typedef unsigned short Halves __attribute__((vector_size(2 * LANES)));

inline Floats splat(float value) { return value - Floats{}; }

template <class Vector, class Element>
inline Vector load_as(const Element* from) {
  Vector out;
  __builtin_memcpy(&out, from, sizeof out);
  return out;
}

/// The elements of a weight as floats. widen() takes LANES of them.
struct F32 {
  using Element = float;
  static Floats widen(const float* from) { return load_as<Floats>(from); }
};

/// The upper half of a float32.
struct BF16 {
  using Element = unsigned short;
  static Floats widen(const unsigned short* from) {
    return (Floats)(__builtin_convertvector(load_as<Halves>(from), Words) << 16);
  }
};

struct F16 {
  using Element = unsigned short;
  static Floats widen(const unsigned short* from) {
#if defined(__AVX512F__)
    return (Floats)_mm512_cvtph_ps((__m256i)load_as<Halves>(from));
#elif defined(__F16C__)
    return (Floats)_mm256_cvtph_ps((__m128i)load_as<Halves>(from));
#else
    // Exponent and mantissa moved into place and scaled by 2^112, which is right for subnormal numbers too; what was
    // infinite or not a number stays so.
    const Words half = __builtin_convertvector(load_as<Halves>(from), Words);
    const Words magnitude = half & 0x7fff;
    const Floats scaled = (Floats)(magnitude << 13) * splat(0x1p112F);
    const Words special = (Words)(magnitude >= 0x7c00) & 0x7f800000;
    return (Floats)((Words)scaled | special | ((half & 0x8000) << 16));
#endif
  }
};

/// A row's last elements, fewer than LANES: zeros behind them.
template <class Type>
inline Floats widen_tail(const typename Type::Element* from, unsigned long count) {
  typename Type::Element padded[LANES] = {};
  __builtin_memcpy(padded, from, count * sizeof(typename Type::Element));
  return Type::widen(padded);
}

/// Always in the same order.
inline float sum(Floats values) {
  float lane[LANES];
  __builtin_memcpy(lane, &values, sizeof lane);
  for (int half = LANES / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) lane[i] += lane[i + half];
  return lane[0];
}

/// e^x for x <= 0; 0 below -87. Relative error below 2e-7. Powers of two by the exponent's bits, the rest by a
/// polynomial (Taylor's to the sixth power over [-ln 2 / 2, ln 2 / 2]).
inline Floats exp_of_negative(Floats x) {
  const Floats floor = splat(-87.0F);
  const Ints low = x < floor;
  x = (Floats)(((Ints)x & ~low) | ((Ints)floor & low));
  const Floats rounding = splat(0x1.8p23F);
  const Floats shifted = x * splat(1.44269504F) + rounding;
  const Floats power = shifted - rounding;
  const Floats rest = (x - power * splat(0.693359375F)) - power * splat(-2.12194440e-4F);
  Floats out = splat(1.0F / 720);
  out = out * rest + splat(1.0F / 120);
  out = out * rest + splat(1.0F / 24);
  out = out * rest + splat(1.0F / 6);
  out = out * rest + splat(0.5F);
  out = out * rest + splat(1.0F);
  out = out * rest + splat(1.0F);
  const Ints exponent = ((Ints)shifted - (Ints)rounding + 127) << 23;
  return (Floats)((Ints)(out * (Floats)exponent) & ~low);
}
