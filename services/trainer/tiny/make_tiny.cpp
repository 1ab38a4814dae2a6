#include "services/trainer/tiny/make_tiny.hpp"

#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>

#include <fmt/format.h>

#include "services/kit/base/try.hpp"
#include "services/kit/files/mapped_file.hpp"
#include "services/trainer/checkpoint/tensors.hpp"
#include "services/trainer/data/random.hpp"
#include "services/trainer/parameters/parameters.hpp"
#include "services/trainer/training/adapter_output.hpp"
#include "services/trainer/training/base_model.hpp"
#include "services/trainer/training/machine.hpp"
#include "services/trainer/training/optimization.hpp"

namespace stackgate::trainer {
namespace make_tiny_detail {

constexpr std::size_t reserved = 256 + 3;  // bytes and special tokens

Result<void> checked(Done done) {
  if (!done) return failed(std::move(done.error()));
  return {};
}

Result<std::string> read_texts(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) {
    const auto file = files::MappedFile::open(name);
    if (!file) return wrong_input(fmt::format("{} cannot be read: {}", name, std::strerror(file.error())));
    out.append(reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size());
  }
  return out;
}

/// Norms are one; the rest is drawn with the usual deviation of 0.02, what is added to the stream with less.
void draw_weights(std::span<const Parameter> parameters, std::span<float> values, const TinySettings& settings) {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& each = parameters[i];
    const bool added = each.name.ends_with("o_proj.weight") || each.name.ends_with("down_proj.weight");
    const double bound = 0.02 * std::sqrt(3.0) / (added ? std::sqrt(2.0 * settings.shape.layers) : 1);
    const std::uint64_t key = key_of(settings.seed, 0x74696e79, i);
    for (std::size_t n = 0; n < each.count; ++n)
      values[each.offset + n] = each.shape.size() == 1 ? 1.0F : static_cast<float>(bound * (2 * uniform(key, n) - 1));
  }
}

Done write_weights(const std::string& directory, std::span<const Parameter> parameters, std::span<const float> values) {
  std::vector<NamedTensor> tensors;
  for (const Parameter& each : parameters) tensors.push_back({each.name, each.shape, each.of(values)});
  TRY(write_tensors(directory + "/weights.part", tensors));
  return move_file(directory + "/weights.part", directory + "/model.safetensors");
}

/// The text as windows that follow each other; each is learned whole.
std::expected<std::vector<Example>, std::string> windows_of(const BaseModel& base, std::string_view text,
                                                            std::uint32_t length) {
  tokenizer::Encoder encoder(base.tokenizer);
  std::vector<std::uint32_t> ids;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = std::min(text.size(), at + (1U << 20U));
    while (end < text.size() && text[end] != '\n') ++end;
    const auto some = encoder.encode(text.substr(at, end - at), {.add_special_tokens = false});
    if (!some) return std::unexpected(some.error().problem);
    ids.insert(ids.end(), some->begin(), some->end());
    at = end;
  }
  std::vector<Example> out;
  for (std::size_t at = 0; at + 1 < ids.size(); at += length) {
    const std::size_t end = std::min(ids.size(), at + length + 1);
    out.push_back(
        {.ids = {ids.begin() + static_cast<std::ptrdiff_t>(at), ids.begin() + static_cast<std::ptrdiff_t>(end)},
         .trained = {{1, static_cast<std::uint32_t>(end - at)}}});
  }
  return out;
}

Result<void> write_files(const std::string& part, const TinySettings& settings, std::string_view text) {
  const Pairs pairs = learn_pairs(text, settings.vocabulary > reserved ? settings.vocabulary - reserved : 0);
  TRY(checked(remove_all(part)));
  TRY(checked(make_directory(part)));
  const std::string config = tiny_config(settings.shape, pairs);
  TRY(checked(write_file(part + "/config.json", config)));
  TRY(checked(write_file(part + "/tokenizer.json", tiny_tokenizer(pairs))));
  TRY(checked(write_file(part + "/tokenizer_config.json", tiny_tokenizer_config())));
  const auto read = model::read_config(config);
  for (const auto& each : read.findings) return wrong_input(fmt::format("{}: {}", each.path, each.problem));
  const auto parameters = all_parameters(read.config);
  std::vector<float> values(parameters.back().offset + parameters.back().count);
  draw_weights(parameters, values, settings);
  return checked(write_weights(part, parameters, values));
}

/// The last step's loss; NaN when it was stopped.
Result<double> steps(const TinySettings& settings, Optimization& optimization, std::uint64_t per_epoch, Report& report,
                     const std::function<bool()>& stop) {
  double loss = 0;
  for (std::uint64_t i = 0; i < settings.steps; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    const StepOutcome step = TRY(optimization.step(i, stop));
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    loss = step.loss_sum / static_cast<double>(step.trained_tokens);
    report.step({.step = i + 1,
                 .max_steps = settings.steps,
                 .epoch = static_cast<double>(i + 1) / static_cast<double>(per_epoch),
                 .loss = loss,
                 .learning_rate = step.learning_rate,
                 .grad_norm = step.grad_norm,
                 .tokens_per_second = static_cast<double>(step.tokens) / seconds,
                 .memory = resident_bytes(),
                 .eta_seconds = seconds * static_cast<double>(settings.steps - i - 1)});
    if (step.stop) return std::numeric_limits<double>::quiet_NaN();
  }
  return loss;
}

Result<Ending> learn(const TinySettings& settings, const OpenLearner& open_learner, const std::string& part,
                     std::string_view text, Report& report, const std::function<bool()>& stop) {
  const BaseModel base = TRY(load_base_model(part, ""));
  const auto windows = windows_of(base, text, settings.window);
  if (!windows) return wrong_input(windows.error());
  if (windows->empty()) return wrong_input("the texts are empty");
  auto learner = open_learner(base.model, base.weights,
                              {.threads = settings.threads != 0 ? settings.threads : free_cores(),
                               .positions = settings.window + 1,
                               .everything = true});
  if (!learner) return failed(learner.error());
  model::Hyperparameters how;
  how.learning_rate = settings.learning_rate;
  how.warmup_ratio = 0.05;
  how.batch_size = settings.batch_size;
  how.seed = settings.seed;
  const std::uint64_t per_epoch = (windows->size() + how.batch_size - 1) / how.batch_size;
  Alone alone;
  Optimization optimization(**learner, how, *windows, settings.window + 1, per_epoch, settings.steps, alone);
  std::uint64_t tokens = 0;
  for (const Example& each : *windows) tokens += each.ids.size();
  const std::uint64_t all = (*learner)->values().size();
  report.start({.parameters = all,
                .trainable_parameters = all,
                .examples = windows->size(),
                .tokens = tokens,
                .max_steps = settings.steps,
                .num_epochs = static_cast<double>(settings.steps) / static_cast<double>(per_epoch)});
  const double loss = TRY(steps(settings, optimization, per_epoch, report, stop));
  if (std::isnan(loss)) return Ending::stopped;
  TRY(checked(write_weights(part, (*learner)->parameters(), (*learner)->values())));
  TRY(checked(move_directory(part, settings.output)));
  const auto sum = sha256_of(settings.output + "/model.safetensors");
  report.done({.train_loss = loss, .path = settings.output, .sha256 = sum.value_or("")});
  return Ending::done;
}

}  // namespace make_tiny_detail

Result<Ending> make_tiny(const TinySettings& settings, const OpenLearner& open_learner, Report& report,
                         const std::function<bool()>& stop) {
  using namespace make_tiny_detail;
  if (std::filesystem::exists(settings.output))
    return wrong_input(fmt::format("{} is there already: name another --output, or remove it", settings.output));
  const std::string text = TRY(read_texts(settings.texts)), part = settings.output + ".part";
  TRY(write_files(part, settings, text));
  return learn(settings, open_learner, part, text, report, stop);
}

}  // namespace stackgate::trainer
