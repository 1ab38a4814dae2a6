#include "services/model/directory/placement.hpp"

#include <gtest/gtest.h>

#include "services/model/directory/memory.hpp"

namespace stackgate::model {
namespace placement_tests {

/// A matrix of 10 numbers in each of the types, and a vector of 3 in the first one.
ModelDirectory of_types(std::initializer_list<Dtype> types) {
  ModelDirectory out;
  for (const Dtype type : types) {
    const std::string name = "matrix " + std::to_string(out.tensors.size());
    out.tensors[name].place = {.offset = 0, .bytes = 10 * bytes_of(type), .dtype = type, .shape = {2, 5}};
  }
  const Dtype first = *types.begin();
  out.tensors["vector"].place = {.offset = 0, .bytes = 3 * bytes_of(first), .dtype = first, .shape = {3}};
  return out;
}

Dtype chosen(Device device, std::initializer_list<Dtype> types) {
  return placement(device, std::nullopt, of_types(types)).value().dtype;
}

TEST(Placement, a_cpu_computes_in_float32_and_a_gpu_as_the_weights_are) {
  EXPECT_EQ(chosen(Device::cpu, {Dtype::bf16}), Dtype::f32);
  EXPECT_EQ(chosen(Device::cuda, {Dtype::bf16}), Dtype::bf16);
  EXPECT_EQ(chosen(Device::cuda, {Dtype::f16, Dtype::f16}), Dtype::f16);
  EXPECT_EQ(chosen(Device::cuda, {Dtype::f16, Dtype::bf16}), Dtype::f32);
}

TEST(Placement, what_is_asked_for_is_taken_or_refused) {
  const ModelDirectory model = of_types({Dtype::f32});
  EXPECT_EQ(placement(Device::cpu, Dtype::bf16, model).value().dtype, Dtype::bf16);
  EXPECT_EQ(placement(Device::cuda, Dtype::f16, model).value().dtype, Dtype::f16);
  const auto refused = placement(Device::cpu, Dtype::f16, model);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().find("float16"), std::string::npos);
  EXPECT_EQ(arithmetic_of("bfloat16"), Dtype::bf16);
  EXPECT_EQ(arithmetic_of("auto"), std::nullopt);
}

TEST(Placement, weights_are_copied_only_to_another_type_or_device) {
  const auto copied = [](Dtype stored, Placement placed) { return copied_weights(of_types({stored}), placed); };
  EXPECT_EQ(copied(Dtype::f32, {}), 0U);
  EXPECT_EQ(copied(Dtype::bf16, {}), 3U * 4);  // the vector: matrices are read as they lie
  EXPECT_EQ(copied(Dtype::f32, {Device::cpu, Dtype::bf16}), 10U * 2);
  EXPECT_EQ(copied(Dtype::bf16, {Device::cpu, Dtype::bf16}), 3U * 4);
  EXPECT_EQ(copied(Dtype::bf16, {Device::cuda, Dtype::bf16}), 10U * 2 + 3U * 4);
}

}  // namespace placement_tests
}  // namespace stackgate::model
