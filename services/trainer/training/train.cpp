#include "services/trainer/training/train.hpp"

#include <chrono>
#include <filesystem>

#include <fmt/format.h>

#include "services/kit/base/fnv.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/base/version.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/log/log.hpp"
#include "services/trainer/config/schedule.hpp"
#include "services/trainer/data/random.hpp"
#include "services/trainer/training/adapter_output.hpp"
#include "services/trainer/training/base_model.hpp"
#include "services/trainer/training/machine.hpp"
#include "services/trainer/training/memory.hpp"
#include "services/trainer/training/optimization.hpp"

namespace stackgate::trainer {
namespace train_detail {

using Clock = std::chrono::steady_clock;
constexpr std::uint32_t usual_length = 1024;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

template <class T>
Result<T> as_result(std::expected<T, std::string> done) {
  if (!done) return failed(std::move(done.error()));
  if constexpr (std::is_void_v<T>)
    return {};
  else
    return std::move(*done);
}

class Run {
 public:
  Run(const TrainSettings& settings, Report& report, const std::function<bool()>& stop, const FailPoint& fail_point)
      : settings_(settings),
        parameters_(settings.parameters),
        report_(report),
        stop_(stop),
        fail_point_(fail_point),
        part_(settings.output + ".part"),
        archive_(settings.output + ".tar.gz") {}

  Result<Ending> run() {
    if (std::filesystem::exists(settings_.output)) return already_there();
    BaseModel base = TRY(load_base_model(settings_.model, settings_.chat_template));
    TRY(read(base));
    TRY(open(base));
    TRY(begin());
    while (state_.step < steps_.total) {
      TRY(one_step());
      if (early_) break;
      if (stop_() && state_.step < steps_.total) {
        TRY(checkpoint());
        log::info("stopped", {{"step", state_.step}, {"go_on_with", "--resume"}});
        return Ending::stopped;
      }
    }
    return finish();
  }

 private:
  Result<Ending> already_there() {
    if (!settings_.resume || !std::filesystem::exists(archive_))
      return wrong_input(fmt::format("{} is there already: name another --output, or remove it", settings_.output));
    const std::string sum = TRY(as_result(sha256_of(archive_)));
    TRY(as_result(remove_all(part_)));
    log::info("the adapter is complete already", {{"output", settings_.output}});
    report_.done({.path = settings_.output, .archive = archive_, .sha256 = sum});
    return Ending::done;
  }

  Result<void> read(const BaseModel& base) {
    length_ = std::min(parameters_.max_seq_length.value_or(usual_length), base.model.context);
    if (parameters_.max_seq_length.value_or(0) > length_)
      log::warning("max_seq_length is beyond the model's context", {{"context", length_}});
    data_ = TRY(read_data(base, settings_.train, length_));
    if (!settings_.validation.empty()) validation_ = TRY(read_data(base, settings_.validation, length_));
    steps_ = steps_of(parameters_, data_.examples.size());
    if (data_.cut != 0)
      log::warning("examples are too long",
                   {{"cut", data_.cut}, {"skipped", data_.skipped}, {"max_seq_length", length_}});
    if (data_.last_only != 0)
      log::warning(
          "of some conversations only the last turn is trained: the chat template writes earlier ones otherwise",
          {{"conversations", data_.last_only}});
    state_.fingerprint = key_of(fnv1a(canonical_text(parameters_)), data_.digest, validation_.digest, mark_of(base));
    return {};
  }

  Result<void> open(const BaseModel& base) {
    const LearnerSettings how{.threads = parameters_.threads.value_or(free_cores()),
                              .positions = length_,
                              .gradient_checkpointing = parameters_.gradient_checkpointing,
                              .everything = false,
                              .lora = {.rank = parameters_.lora_rank,
                                       .scale = lora_scale(parameters_),
                                       .dropout = parameters_.lora_dropout,
                                       .modules = parameters_.target_modules}};
    for (const auto& [name, stored] : base.model.tensors)
      base_parameters_ += stored.place.bytes / bytes_of(stored.place.dtype);
    TRY(check_memory(base, how));
    learner_ = TRY(as_result(Learner::open(base.model, base.weights, how)));
    draw_lora(learner_->parameters(), learner_->values(), parameters_.seed);
    optimization_ =
        std::make_unique<Optimization>(*learner_, parameters_, data_.examples, length_, steps_.per_epoch, steps_.total);
    config_ = adapter_config(parameters_, settings_.base_model_name.empty()
                                              ? std::filesystem::weakly_canonical(settings_.model).filename().string()
                                              : settings_.base_model_name);
    return {};
  }

  Result<void> check_memory(const BaseModel& base, const LearnerSettings& how) const {
    MemoryOf of{.base_parameters = base_parameters_};
    for (const Parameter& each : trained_parameters(base.model.config, how)) of.trained_parameters += each.count;
    for (const Dataset* data : {&data_, &validation_})
      for (const Example& each : data->examples) of.longest = std::max<std::uint64_t>(of.longest, each.ids.size());
    of.pass_tokens = most_tokens_of_pass(parameters_, of.longest);
    const auto estimate = estimate_memory(base.model.config, of, parameters_.gradient_checkpointing);
    if (const auto fault = fault_of_memory(estimate, memory_limit())) return wrong_input(*fault);
    return {};
  }

  /// From the newest checkpoint, or from the beginning, without what an earlier run left.
  Result<void> begin() {
    const auto newest = settings_.resume ? newest_checkpoint(part_) : std::nullopt;
    if (newest) {
      const auto state = load_checkpoint(*newest, state_.fingerprint, learner_->parameters(), learner_->values(),
                                         optimization_->moments());
      if (!state) return wrong_input(state.error());
      state_ = *state;
      log::info("going on", {{"checkpoint", *newest}});
    } else {
      TRY(as_result(remove_all(part_)));
    }
    TRY(as_result(make_directory(part_)));
    report_.start({.parameters = base_parameters_,
                   .trainable_parameters = learner_->values().size(),
                   .examples = data_.examples.size(),
                   .tokens = data_.tokens,
                   .max_steps = steps_.total,
                   .num_epochs = static_cast<double>(steps_.total) / static_cast<double>(steps_.per_epoch),
                   .cut = data_.cut,
                   .skipped = data_.skipped,
                   .resumed_step = state_.step});
    began_ = logged_ = Clock::now();
    first_step_ = state_.step;
    earlier_seconds_ = state_.seconds;
    return {};
  }

  Result<void> one_step() {
    const StepOutcome step = TRY(as_result(optimization_->step(state_.step)));
    ++state_.step;
    state_.loss_sum += step.loss_sum;
    state_.trained_tokens += step.trained_tokens;
    state_.tokens += step.tokens;
    state_.seconds = earlier_seconds_ + seconds_since(began_);
    interval_.loss_sum += step.loss_sum;
    interval_.trained_tokens += step.trained_tokens;
    interval_.tokens += step.tokens;
    if (state_.step % parameters_.log_every_n_steps == 0 || state_.step == steps_.total) tell(step);
    const bool last = state_.step == steps_.total;
    if (!validation_.examples.empty() &&
        (last || state_.step % parameters_.val_check_interval.value_or(steps_.per_epoch) == 0))
      TRY(validate());
    fail_point_("step");
    if (!last && state_.step % parameters_.checkpoint_interval == 0) TRY(checkpoint());
    return {};
  }

  void tell(const StepOutcome& step) {
    const double per_step = seconds_since(began_) / static_cast<double>(state_.step - first_step_);
    report_.step({.step = state_.step,
                  .max_steps = steps_.total,
                  .epoch = static_cast<double>(state_.step) / static_cast<double>(steps_.per_epoch),
                  .loss = interval_.loss_sum / static_cast<double>(interval_.trained_tokens),
                  .learning_rate = step.learning_rate,
                  .grad_norm = step.grad_norm,
                  .tokens_per_second = static_cast<double>(interval_.tokens) / std::max(1e-9, seconds_since(logged_)),
                  .memory = resident_bytes(),
                  .eta_seconds = per_step * static_cast<double>(steps_.total - state_.step)});
    interval_ = {};
    logged_ = Clock::now();
  }

  Result<void> validate() {
    state_.val_loss = TRY(as_result(optimization_->loss(validation_.examples)));
    report_.validation(state_.step, *state_.val_loss);
    const bool better = !state_.best_val_loss || *state_.val_loss < *state_.best_val_loss;
    if (better) state_.best_val_loss = state_.val_loss;
    state_.worse_validations = better ? 0 : state_.worse_validations + 1;
    early_ =
        parameters_.early_stopping_patience != 0 && state_.worse_validations >= parameters_.early_stopping_patience;
    if (early_) log::info("the validation loss does not get better: training ends early", {{"step", state_.step}});
    return {};
  }

  Result<void> checkpoint() {
    const std::string place = TRY(as_result(save_checkpoint(part_, state_, learner_->parameters(), learner_->values(),
                                                            optimization_->moments(), config_, fail_point_)));
    report_.checkpoint(state_.step, place);
    return {};
  }

  double train_loss() const {
    return state_.trained_tokens == 0 ? 0 : state_.loss_sum / static_cast<double>(state_.trained_tokens);
  }

  std::string training_json() const {
    return json::object_text([&](json::Writer& w) {
             w.member("train_loss", train_loss());
             if (state_.val_loss) w.member("val_loss", *state_.val_loss);
             w.member("steps", state_.step);
             w.member("tokens", state_.tokens);
             w.member("trained_tokens", state_.trained_tokens);
             w.member("examples", static_cast<std::uint64_t>(data_.examples.size()));
             w.member("seconds", state_.seconds);
             w.member("seed", parameters_.seed);
             w.member("stackgate_version", version);
           }) +
           "\n";
  }

  /// Written whole beside, then moved; checkpoints go last, so that a kill in between costs nothing.
  Result<Ending> finish() {
    const std::string whole = part_ + "/output";
    TRY(as_result(remove_all(whole)));
    TRY(as_result(make_directory(whole)));
    TRY(as_result(write_adapter(whole, config_, learner_->parameters(), learner_->values(), training_json())));
    fail_point_("output-written");
    const std::string sum = TRY(as_result(pack_adapter(whole, archive_)));
    fail_point_("archive-written");
    TRY(as_result(move_directory(whole, settings_.output)));
    fail_point_("output-moved");
    TRY(as_result(remove_all(part_)));
    report_.done({.train_loss = train_loss(),
                  .val_loss = state_.val_loss,
                  .path = settings_.output,
                  .archive = archive_,
                  .sha256 = sum});
    return Ending::done;
  }

  const TrainSettings& settings_;
  const Hyperparameters& parameters_;
  Report& report_;
  const std::function<bool()>& stop_;
  const FailPoint& fail_point_;
  const std::string part_, archive_;

  std::uint32_t length_ = 0;
  Dataset data_, validation_;
  Steps steps_;
  std::unique_ptr<Learner> learner_;
  std::unique_ptr<Optimization> optimization_;
  std::uint64_t base_parameters_ = 0;
  std::string config_;
  TrainingState state_;
  StepOutcome interval_;  // since the last line
  Clock::time_point began_, logged_;
  std::uint64_t first_step_ = 0;
  double earlier_seconds_ = 0;
  bool early_ = false;
};

}  // namespace train_detail

Result<Ending> train(const TrainSettings& settings, Report& report, const std::function<bool()>& stop,
                     const FailPoint& fail_point) {
  return train_detail::Run(settings, report, stop, fail_point).run();
}

}  // namespace stackgate::trainer
