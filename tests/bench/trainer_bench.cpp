// What an optimizer step costs, beside a loop of the same mathematics in libtorch's own operations: tokens for each
// second of CPU, and memory. LoRA of rank 8 on all seven modules, one thread, each in a process of its own, in turns.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "services/model/loading/load.hpp"
#include "services/trainer/training/optimization.hpp"
#include "tests/bench/figure.hpp"
#include "tests/bench/model_directory.hpp"

namespace {

using namespace stackgate;

struct Load {
  bench::ModelSize size;
  std::int64_t examples, length;
  int steps;
  std::int64_t tokens() const { return examples * length; }
};
const Load tiny{{.hidden = 128, .intermediate = 352, .layers = 2, .heads = 4, .key_value_heads = 4}, 8, 128, 12};
const Load large{{.hidden = 1024, .intermediate = 2816, .layers = 12, .heads = 16, .key_value_heads = 16}, 2, 128, 2};

/// The same by libtorch's operations and nothing else: a batch of equal lengths, cross_entropy, AdamW for each tensor.
class Bare {
 public:
  explicit Bare(const Load& load) : load_(load) {
    const std::int64_t d = load.size.hidden, f = load.size.intermediate;
    const std::int64_t out[] = {d, d, d, d, f, f, d}, in[] = {d, d, d, d, d, d, f};
    for (std::uint32_t layer = 0; layer < load.size.layers; ++layer)
      for (int m = 0; m < 7; ++m) {
        weights_.push_back(at::rand({out[m], in[m]}).sub_(0.5).mul_(0.05));
        a_.push_back(parameter(at::rand({8, in[m]}).sub_(0.5).mul_(0.05)));
        b_.push_back(parameter(at::zeros({out[m], 8})));
      }
    embedding_ = at::rand({load.size.vocabulary, d}).sub_(0.5);
    head_ = at::rand({load.size.vocabulary, d}).sub_(0.5).mul_(0.05);
    const at::Tensor angles =
        at::arange(load.length, at::kFloat).view({load.length, 1}).mul(at::rand({1, d / load.size.heads / 2}));
    cosines_ = angles.cos().view({1, load.length, 1, -1});
    sines_ = angles.sin().view({1, load.length, 1, -1});
    mask_ = at::full({load.length, load.length}, -1e30, at::kFloat).triu_(1);
    ids_ = at::randint(0, load.size.vocabulary, {load.examples, load.length});
  }

  void step() {
    const at::Tensor logits = at::linear(forward(), head_).slice(1, 0, load_.length - 1);
    const at::Tensor loss = at::cross_entropy_loss(logits.reshape({-1, load_.size.vocabulary}),
                                                   ids_.slice(1, 1, load_.length).reshape({-1}));
    loss.backward();
    const at::NoGradGuard no_grad;
    double norm = 0;
    for (const auto* list : {&a_, &b_})
      for (const at::Tensor& each : *list) norm += each.grad().square().sum().item<double>();
    const double scale = std::min(1.0, 1 / (std::sqrt(norm) + 1e-6));
    std::size_t i = 0;
    first_.resize(a_.size() + b_.size()), second_.resize(first_.size());
    for (auto* list : {&a_, &b_})
      for (at::Tensor& each : *list) update(each, first_[i], second_[i], scale), ++i;
  }

 private:
  static at::Tensor parameter(at::Tensor values) { return values.set_requires_grad(true); }

  void update(at::Tensor& each, at::Tensor& m, at::Tensor& v, double scale) {
    const at::Tensor gradient = each.grad().mul_(scale);
    if (!m.defined()) m = at::zeros_like(gradient), v = at::zeros_like(gradient);
    m.mul_(0.9).add_(gradient, 0.1);
    v.mul_(0.999).addcmul_(gradient, gradient, 0.001);
    each.mul_(1 - 1e-6).addcdiv_(m, v.sqrt().add_(1e-8), -1e-4);
    each.mutable_grad() = at::Tensor();
  }

  static at::Tensor normed(const at::Tensor& x) { return x * (x.square().mean(-1, true) + 1e-6).rsqrt(); }
  at::Tensor rotated(const at::Tensor& x) const {
    const std::int64_t half = x.size(-1) / 2;
    const at::Tensor u = x.narrow(-1, 0, half), w = x.narrow(-1, half, half);
    return at::cat({u * cosines_ - w * sines_, w * cosines_ + u * sines_}, -1);
  }
  at::Tensor forward() const {
    const std::int64_t width = load_.size.hidden / load_.size.heads;
    at::Tensor x = at::embedding(embedding_, ids_);
    for (std::uint32_t layer = 0; layer < load_.size.layers; ++layer) {
      const auto linear = [&](std::size_t m, const at::Tensor& in) {
        const std::size_t i = layer * 7 + m;
        return at::linear(in, weights_[i]) + at::linear(at::linear(in, a_[i]), b_[i]) * 2.0;
      };
      const auto heads = [&](const at::Tensor& y) {
        return y.view({load_.examples, load_.length, load_.size.heads, width});
      };
      at::Tensor h = normed(x);
      const at::Tensor q = rotated(heads(linear(0, h))).transpose(1, 2),
                       k = rotated(heads(linear(1, h))).transpose(1, 2);
      const at::Tensor v = heads(linear(2, h)).transpose(1, 2);
      const at::Tensor scores = at::matmul(q, k.transpose(2, 3)) / std::sqrt(static_cast<double>(width)) + mask_;
      const at::Tensor mixed = at::matmul(scores.softmax(-1), v).transpose(1, 2);
      x = x + linear(3, mixed.reshape({load_.examples, load_.length, load_.size.hidden}));
      h = normed(x);
      x = x + linear(6, at::silu(linear(4, h)) * linear(5, h));
    }
    return normed(x);
  }

  const Load& load_;
  std::vector<at::Tensor> weights_, a_, b_, first_, second_;
  at::Tensor embedding_, head_, cosines_, sines_, mask_, ids_;
};

/// The trainer's own steps.
class Ours {
 public:
  Ours(const Load& load, const std::string& directory) : read_(model::load_directory(directory)) {
    weights_ = std::make_unique<model::Weights>(model::Weights::map(directory, read_.model).value());
    parameters_.batch_size = static_cast<std::uint32_t>(load.examples);
    const auto length = static_cast<std::uint32_t>(load.length);
    learner_ =
        trainer::Learner::open(
            read_.model, *weights_,
            {.threads = 1, .positions = length, .lora = {.rank = 8, .scale = 2, .modules = parameters_.target_modules}})
            .value();
    trainer::draw_lora(learner_->parameters(), learner_->values(), 1);
    for (std::uint32_t i = 0; i < load.examples; ++i) {
      trainer::Example& each = examples_.emplace_back();
      for (std::uint32_t n = 0; n < length; ++n) each.ids.push_back((i * 977 + n * 131) % load.size.vocabulary);
      each.trained = {{1, length}};
    }
    optimization_ = std::make_unique<trainer::Optimization>(*learner_, parameters_, examples_, length, 1, 1000, alone_);
  }
  void step() {
    if (!optimization_->step(next_++, [] { return false; })) std::abort();
  }

 private:
  model::DirectoryRead read_;
  std::unique_ptr<model::Weights> weights_;
  trainer::Hyperparameters parameters_;
  std::unique_ptr<trainer::Learner> learner_;
  std::vector<trainer::Example> examples_;
  trainer::Alone alone_;
  std::unique_ptr<trainer::Optimization> optimization_;
  std::uint64_t next_ = 0;
};

struct Measured {
  double tokens_per_second = 0, peak = 0;  // bytes
};

template <class Loop>
Measured measured(const Load& load, Loop& loop) {
  loop.step();
  Measured out;
  for (int i = 0; i < load.steps; ++i) {
    const double begin = bench::cpu_seconds();
    loop.step();
    out.tokens_per_second =
        std::max(out.tokens_per_second, static_cast<double>(load.tokens()) / (bench::cpu_seconds() - begin));
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  out.peak = static_cast<double>(usage.ru_maxrss) * 1024;
  return out;
}

void one_thread() {
  at::set_num_threads(1);
  using Set = void(int);
  if (auto* set = reinterpret_cast<Set*>(dlsym(RTLD_DEFAULT, "openblas_set_num_threads"))) set(1);
}

/// In a child: peaks are of processes.
Measured apart(const std::function<Measured()>& work) {
  int ends[2];
  if (pipe(ends) != 0) std::abort();
  const pid_t child = fork();
  if (child == 0) {
    one_thread();
    const Measured out = work();
    _exit(write(ends[1], &out, sizeof out) == sizeof out ? 0 : 1);
  }
  Measured out;
  if (read(ends[0], &out, sizeof out) != sizeof out) std::abort();
  close(ends[0]), close(ends[1]);
  waitpid(child, nullptr, 0);
  return out;
}

void figures(const std::string& name, const Load& load, double least, int rounds, const std::string& directory) {
  bench::write_model(directory, load.size);
  const double weights = static_cast<double>(std::filesystem::file_size(directory + "/model.safetensors"));
  Measured ours, bare;
  for (int i = 0; i < rounds; ++i) {
    const auto better = [](Measured a, Measured b) {
      return Measured{std::max(a.tokens_per_second, b.tokens_per_second), std::max(a.peak, b.peak)};
    };
    ours = better(ours, apart([&] {
                    Ours loop(load, directory);
                    return measured(load, loop);
                  }));
    bare = better(bare, apart([&] {
                    Bare loop(load);
                    return measured(load, loop);
                  }));
  }
  bench::print({name, ours.tokens_per_second / bare.tokens_per_second, "x bare loop", 0.9, true, bare.tokens_per_second,
                fmt::format("{:.0f} tokens/s", ours.tokens_per_second)});
  // Where the machine lets the bare loop reach it.
  bench::print({name + "_tokens", ours.tokens_per_second, "tokens/s", std::min(least, bare.tokens_per_second), true,
                bare.tokens_per_second, ""});
  bench::print({name + "_memory", (ours.peak - weights) / (bare.peak - weights), "x bare loop", 1.3, false,
                (bare.peak - weights) / 1e6,
                fmt::format("{:.0f} MB besides {:.0f} MB of weights", (ours.peak - weights) / 1e6, weights / 1e6)});
}

}  // namespace

int main() {
  const std::filesystem::path directory =
      std::filesystem::temp_directory_path() / fmt::format("trainer-bench-{}", getpid());
  figures("trainer_tiny", tiny, 4500, 3, (directory / "tiny").string());
  figures("trainer_150m", large, 59, 2, (directory / "large").string());
  std::filesystem::remove_all(directory);
  return bench::exit_status;
}
