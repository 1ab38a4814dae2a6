// Every instruction set this machine has, held against plain loops in double.
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "services/model/kernels/kernels.hpp"
#include "tests/model/kernels/weights.hpp"

namespace stackgate::model {
namespace {

struct Shape {
  std::size_t rows, columns, count;
};

const std::vector<Shape> shapes = {{1, 1, 1},    {3, 5, 2},    {4, 16, 1},   {7, 17, 3},  {16, 64, 5}, {33, 100, 7},
                                   {65, 129, 9}, {8, 256, 16}, {12, 31, 31}, {5, 640, 4}, {2, 15, 6}};

class ProductTest : public ::testing::TestWithParam<Dtype> {};

TEST_P(ProductTest, is_what_plain_loops_say) {
  Drawn drawn(1);
  for (const Shape& shape : shapes) {
    const std::vector<float> w = drawn.floats(shape.rows * shape.columns),
                             x = drawn.floats(shape.count * shape.columns);
    const Stored stored(w, GetParam());
    for (const Kernels& each : runnable_kernels()) {
      std::vector<float> y(shape.count * shape.rows, -1);
      each.product(stored.matrix(shape.rows, shape.columns), 0, shape.rows, {x.data(), shape.count, shape.columns},
                   y.data(), shape.rows);
      for (std::size_t r = 0; r < shape.count; ++r)
        for (std::size_t o = 0; o < shape.rows; ++o) {
          double expected = 0, size = 0;
          for (std::size_t k = 0; k < shape.columns; ++k) {
            const double part = static_cast<double>(stored.value(o * shape.columns + k)) *
                                static_cast<double>(x[r * shape.columns + k]);
            expected += part;
            size += std::abs(part);
          }
          ASSERT_NEAR(y[r * shape.rows + o], expected, 1e-6 * size + 1e-12)
              << each.instruction_set << ", row " << r << ", output " << o << " of " << shape.rows << " x "
              << shape.columns;
        }
    }
  }
}

TEST_P(ProductTest, of_a_row_is_the_same_alone_and_in_any_company) {
  Drawn drawn(2);
  constexpr std::size_t rows = 37, columns = 203, count = 16;
  const Stored stored(drawn.floats(rows * columns), GetParam());
  const std::vector<float> x = drawn.floats(count * columns);
  for (const Kernels& each : runnable_kernels()) {
    std::vector<float> together(count * rows), alone(rows), parts(count * rows);
    const Matrix w = stored.matrix(rows, columns);
    each.product(w, 0, rows, {x.data(), count, columns}, together.data(), rows);
    for (const std::size_t border : {std::size_t{0}, std::size_t{1}, std::size_t{18}, rows}) {
      each.product(w, 0, border, {x.data(), count, columns}, parts.data(), rows);
      each.product(w, border, rows, {x.data(), count, columns}, parts.data(), rows);
      EXPECT_EQ(parts, together) << each.instruction_set << ", shared out at " << border;
    }
    for (std::size_t r = 0; r < count; ++r) {
      each.product(w, 0, rows, {x.data() + r * columns, 1, columns}, alone.data(), rows);
      EXPECT_EQ(std::memcmp(alone.data(), together.data() + r * rows, rows * sizeof(float)), 0) << each.instruction_set;
    }
  }
}

TEST_P(ProductTest, writes_its_part_and_nothing_else) {
  Drawn drawn(3);
  constexpr std::size_t rows = 9, columns = 20, count = 3, stride = 14;
  const Stored stored(drawn.floats(rows * columns), GetParam());
  const std::vector<float> x = drawn.floats(count * columns);
  for (const Kernels& each : runnable_kernels()) {
    std::vector<float> y(count * stride, 7);
    each.product(stored.matrix(rows, columns), 2, 8, {x.data(), count, columns}, y.data(), stride);
    for (std::size_t r = 0; r < count; ++r)
      for (std::size_t o = 0; o < stride; ++o)
        EXPECT_EQ(y[r * stride + o] == 7, o < 2 || o >= 8) << each.instruction_set << ' ' << r << ' ' << o;
  }
}

std::string name_of(const ::testing::TestParamInfo<Dtype>& each) {
  return std::string(each.param == Dtype::f32 ? "f32" : each.param == Dtype::f16 ? "f16" : "bf16");
}
INSTANTIATE_TEST_SUITE_P(types, ProductTest, ::testing::Values(Dtype::f32, Dtype::f16, Dtype::bf16), name_of);

TEST(ProductTypes, every_half_is_widened_as_the_standard_says) {
  std::vector<std::uint16_t> all;
  for (std::uint32_t bits = 0; bits < 65536; ++bits) all.push_back(static_cast<std::uint16_t>(bits));
  // Sixteen columns, of which one input is 1: each weight comes back as it is. Not a number spreads, so one at a time.
  for (const Kernels& each : runnable_kernels())
    for (std::uint32_t bits = 0; bits < 65536; ++bits) {
      std::uint16_t w[16] = {};
      float x[16] = {}, y = 0;
      w[5] = static_cast<std::uint16_t>(bits);
      x[5] = 1;
      for (const Dtype type : {Dtype::f16, Dtype::bf16}) {
        each.product({w, type, 1, 16}, 0, 1, {x, 1, 16}, &y, 1);
        const float expected = widened(w[5], type);
        if (std::isnan(expected))
          ASSERT_TRUE(std::isnan(y)) << each.instruction_set << ' ' << bits;
        else
          ASSERT_EQ(y, expected) << each.instruction_set << ' ' << bits;
      }
    }
}

TEST(Combinations, are_added_to_what_is_there) {
  Drawn drawn(8);
  for (const std::size_t width : {std::size_t{1}, std::size_t{13}, std::size_t{64}, std::size_t{200}})
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{9}}) {
      const std::vector<float> weights = drawn.floats(3 * count), rows = drawn.floats(count * width);
      const std::vector<float> before = drawn.floats(3 * width);
      for (const Kernels& each : runnable_kernels()) {
        std::vector<float> y = before;
        each.add_combinations({weights.data(), 3, count}, rows.data(), count, width, y.data(), width);
        for (std::size_t r = 0; r < 3; ++r)
          for (std::size_t o = 0; o < width; ++o) {
            double expected = static_cast<double>(before[r * width + o]);
            for (std::size_t k = 0; k < count; ++k)
              expected += static_cast<double>(weights[r * count + k]) * static_cast<double>(rows[k * width + o]);
            ASSERT_NEAR(y[r * width + o], expected, 1e-5)
                << each.instruction_set << ' ' << width << ' ' << r << ' ' << o;
          }
      }
    }
}

}  // namespace
}  // namespace stackgate::model
