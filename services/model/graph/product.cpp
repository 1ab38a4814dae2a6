#include <algorithm>

#include <ATen/Parallel.h>

#include "services/model/graph/serving.hpp"

namespace stackgate::model {
namespace {

// Beyond so many rows the BLAS is faster: services/model/graph/DECISIONS.md.
constexpr std::int64_t few_rows = 16;
constexpr std::int64_t piece_rows = 1024;    // of a weight that is widened: at 4,096 columns 16 MB
constexpr std::int64_t least_work = 32'768;  // products that are worth a thread

void by_kernels(const Linear& linear, const at::Tensor& x, at::Tensor& y) {
  const Matrix w = linear.matrix();
  const Rows rows{x.data_ptr<float>(), static_cast<std::size_t>(x.size(0)), static_cast<std::size_t>(x.size(1))};
  float* const out = y.data_ptr<float>();
  const std::int64_t grain = std::max<std::int64_t>(16, least_work / std::max<std::int64_t>(1, x.numel()));
  at::parallel_for(0, linear.out(), grain, [&](std::int64_t begin, std::int64_t end) {
    kernels().product(w, static_cast<std::size_t>(begin), static_cast<std::size_t>(end), rows, out, w.rows);
  });
}

void by_blas(const Linear& linear, const at::Tensor& x, at::Tensor& y) {
  if (linear.weight.scalar_type() == at::kFloat) {
    at::mm_out(y, x, linear.weight.t());
    return;
  }
  for (std::int64_t begin = 0; begin < linear.out(); begin += piece_rows) {
    const std::int64_t count = std::min(piece_rows, linear.out() - begin);
    y.narrow(1, begin, count).copy_(at::mm(x, linear.weight.narrow(0, begin, count).to(at::kFloat).t()));
  }
}

}  // namespace

at::Tensor product(const Linear& linear, const at::Tensor& x) {
  const at::Tensor input = x.contiguous();
  at::Tensor y = at::empty({x.size(0), linear.out()}, x.options());
  if (x.size(0) <= few_rows)
    by_kernels(linear, input, y);
  else
    by_blas(linear, input, y);
  if (linear.bias.defined()) y.add_(linear.bias);
  return y;
}

}  // namespace stackgate::model
