// The types that weights and adapters may have. No standard headers: kernels for single instruction sets include it.
#pragma once

namespace stackgate::model {

enum class Dtype : unsigned char { f32, f16, bf16 };

constexpr unsigned long bytes_of(Dtype type) { return type == Dtype::f32 ? 4 : 2; }

}  // namespace stackgate::model
