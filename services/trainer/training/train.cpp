#include "services/trainer/training/train.hpp"

#include <chrono>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "services/kit/base/fnv.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/base/version.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/log/log.hpp"
#include "services/kit/telemetry/work.hpp"
#include "services/trainer/config/schedule.hpp"
#include "services/trainer/data/random.hpp"
#include "services/trainer/parameters/parameters.hpp"
#include "services/trainer/training/adapter_output.hpp"
#include "services/trainer/training/base_model.hpp"
#include "services/trainer/training/machine.hpp"
#include "services/trainer/training/memory.hpp"
#include "services/trainer/training/optimization.hpp"
#include "services/trainer/training/peers.hpp"

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
  Run(const TrainSettings& settings, const Backend& backend, Report& report, const std::function<bool()>& stop,
      const FailPoint& fail_point)
      : settings_(settings),
        parameters_(settings.parameters),
        backend_(backend),
        report_(report),
        stop_(stop),
        fail_point_(fail_point),
        part_(settings.output + ".part"),
        archive_(settings.output + ".tar.gz"),
        base_name_(settings.base_model_name.empty()
                       ? std::filesystem::weakly_canonical(settings.model).filename().string()
                       : settings.base_model_name) {}

  Result<Ending> run() {
    if (std::filesystem::exists(settings_.output)) return already_there();
    std::optional<telemetry::Part> load(std::in_place, report_.work(), "load");
    BaseModel base = TRY(load_base_model(settings_.model, settings_.chat_template));
    TRY(read(base));
    TRY(open(base));
    TRY(begin());
    load.reset();
    while (state_.step < steps_.total) {
      if (!epoch_ || state_.step % steps_.per_epoch == 0) begin_epoch();
      if (auto done = one_step(); !done) return given_up(std::move(done.error()));
      if (early_) break;
      if (stop_asked_ && state_.step < steps_.total) {
        TRY(checkpoint());
        log::info("stopped", {{"step", state_.step}, {"go_on_with", "--resume"}});
        return Ending::stopped;
      }
    }
    epoch_.reset();
    return finish();
  }

  std::uint64_t steps() const { return state_.step; }

 private:
  void begin_epoch() {
    epoch_.reset();
    epoch_.emplace(report_.work(), "epoch",
                   telemetry::Attributes{{"epoch", static_cast<std::int64_t>(state_.step / steps_.per_epoch)}});
  }

  Result<Ending> already_there() {
    if (!settings_.resume || !std::filesystem::exists(archive_))
      return wrong_input(fmt::format("{} is there already: name another --output, or remove it", settings_.output));
    const std::string sum = TRY(as_result(sha256_of(archive_)));
    if (settings_.group.rank == 0) TRY(as_result(remove_all(part_)));
    log::info("the adapter is complete already", {{"output", settings_.output}});
    report_.done({.path = settings_.output, .archive = archive_, .sha256 = sum});
    return Ending::done;
  }

  /// When another process is lost, what was learned so far is not.
  std::unexpected<Failure> given_up(Failure failure) {
    if (failure.ending == Ending::stopped && state_.step > kept_step_)
      if (const auto done = checkpoint(); !done) failure.faults.push_back(done.error().faults.front());
    return std::unexpected(std::move(failure));
  }

  Result<void> read(const BaseModel& base) {
    length_ = std::min(parameters_.max_seq_length.value_or(usual_length), base.model.context);
    if (parameters_.max_seq_length.value_or(0) > length_)
      log::warning("max_seq_length is beyond the model's context", {{"context", length_}});
    data_ = TRY(read_data(base, settings_.train, length_));
    if (!settings_.validation.empty()) validation_ = TRY(read_data(base, settings_.validation, length_));
    if (parameters_.validation_split > 0) TRY(split_validation());
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

  Result<void> split_validation() {
    if (!settings_.validation.empty())
      return wrong_input("validation_split is given beside files of validation: leave out one of them");
    if (data_.examples.size() < 2)
      return wrong_input("validation_split: there is one example, and nothing to keep back for validation");
    validation_ = split_off(data_, parameters_.validation_split, parameters_.seed);
    log::info("examples are kept back for validation",
              {{"validation", validation_.examples.size()}, {"training", data_.examples.size()}});
    return {};
  }

  Result<void> open(const BaseModel& base) {
    const LearnerSettings how{
        .threads = parameters_.threads.value_or(std::max(1U, free_cores() / settings_.processes_of_machine)),
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
    TRY(meet());
    learner_ = TRY(as_result(backend_.open_learner(base.model, base.weights, how)));
    draw_lora(learner_->parameters(), learner_->values(), parameters_.seed);
    optimization_ = std::make_unique<Optimization>(*learner_, parameters_, data_.examples, length_, steps_.per_epoch,
                                                   steps_.total, *group_);
    config_ = adapter_config(parameters_, base_name_);
    return {};
  }

  Result<void> check_memory(const BaseModel& base, const LearnerSettings& how) const {
    MemoryOf of{.base_parameters = base_parameters_};
    for (const Parameter& each : lora_parameters(base.model.config, how.lora)) of.trained_parameters += each.count;
    for (const Dataset* data : {&data_, &validation_})
      for (const Example& each : data->examples) of.longest = std::max<std::uint64_t>(of.longest, each.ids.size());
    of.pass_tokens = most_tokens_of_pass(parameters_, of.longest);
    const auto estimate = estimate_memory(base.model.config, of, parameters_.gradient_checkpointing);
    if (const auto fault = fault_of_memory(estimate, memory_limit())) return wrong_input(*fault);
    return {};
  }

  Result<void> meet() {
    if (settings_.group.size == 1) {
      group_ = std::make_unique<Alone>();
      return {};
    }
    auto group = backend_.open_group(settings_.group);
    if (!group) return lost(group.error());
    group_ = std::move(*group);
    log::info("all processes are there", {{"rank", group_->rank()}, {"processes", group_->size()}});
    return {};
  }

  bool writes() const { return group_->rank() == 0; }

  /// All ranks begin where rank 0 does.
  Result<void> begin() {
    const Result<void> own = writes() ? find_beginning() : Result<void>{};
    const std::string state = TRY(text_of_first(*group_, own && writes() ? write_state(state_) : ""));
    TRY(own);
    if (!writes()) TRY(begin_as(state));
    for (const std::span<float> each :
         {learner_->values(), std::span(optimization_->moments().first), std::span(optimization_->moments().second)})
      TRY(with_peers(group_->broadcast(std::as_writable_bytes(each))));
    report_.start({.parameters = base_parameters_,
                   .trainable_parameters = learner_->values().size(),
                   .examples = data_.examples.size(),
                   .tokens = data_.tokens,
                   .max_steps = steps_.total,
                   .num_epochs = static_cast<double>(steps_.total) / static_cast<double>(steps_.per_epoch),
                   .cut = data_.cut,
                   .skipped = data_.skipped,
                   .resumed_step = state_.step},
                  RunFacts{.parameters = named_values(parameters_),
                           .dataset = fmt::format("{}", fmt::join(settings_.train, ",")),
                           .base_model = base_name_,
                           .id_file = part_ + "/mlflow-run"});
    began_ = logged_ = Clock::now();
    first_step_ = kept_step_ = state_.step;
    earlier_seconds_ = state_.seconds;
    return {};
  }

  Result<void> begin_as(const std::string& state) {
    if (state.empty()) return wrong_input("rank 0 does not begin: see its log");
    const auto read = read_state(state);
    if (!read) return failed(fmt::format("what rank 0 says cannot be read: {}", read.error()));
    if (read->fingerprint != state_.fingerprint)
      return wrong_input("the configuration, the data or the model is not that of rank 0");
    state_ = *read;
    return {};
  }

  /// From the newest checkpoint, or from the beginning, without what an earlier run left.
  Result<void> find_beginning() {
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
    return as_result(make_directory(part_));
  }

  Result<void> one_step() {
    const StepOutcome step = TRY(optimization_->step(state_.step, stop_));
    ++state_.step;
    stop_asked_ = step.stop;
    state_.loss_sum += step.loss_sum;
    state_.trained_tokens += step.trained_tokens;
    state_.tokens += step.tokens;
    state_.seconds = earlier_seconds_ + seconds_since(began_);
    interval_.loss_sum += step.loss_sum;
    interval_.trained_tokens += step.trained_tokens;
    interval_.tokens += step.tokens;
    if (state_.step % parameters_.log_every_n_steps == 0 || state_.step == steps_.total) report_step(step);
    const bool last = state_.step == steps_.total;
    if (!validation_.examples.empty() &&
        (last || state_.step % parameters_.val_check_interval.value_or(steps_.per_epoch) == 0))
      TRY(validate());
    fail_point_("step");
    if (!last && state_.step % parameters_.checkpoint_interval == 0) TRY(checkpoint());
    return {};
  }

  void report_step(const StepOutcome& step) {
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
    const telemetry::Part part(report_.work(), "validation");
    state_.val_loss = TRY(optimization_->loss(validation_.examples));
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
    kept_step_ = state_.step;
    if (!writes()) return {};
    const telemetry::Part part(report_.work(), "checkpoint");
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

  /// All are done when rank 0 is.
  Result<Ending> finish() {
    const Result<Ending> own = writes() ? write() : Result<Ending>{Ending::done};
    const std::string word = TRY(text_of_first(*group_, own ? "written" : ""));
    if (!own) return own;
    if (word.empty()) return failed("rank 0 could not write the adapter: see its log");
    return Ending::done;
  }

  /// Written whole beside, then moved; checkpoints go last, so that a kill in between costs nothing.
  Result<Ending> write() {
    const telemetry::Part part(report_.work(), "write");
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
  const model::Hyperparameters& parameters_;
  const Backend& backend_;
  Report& report_;
  const std::function<bool()>& stop_;
  const FailPoint& fail_point_;
  const std::string part_, archive_, base_name_;

  std::uint32_t length_ = 0;
  Dataset data_, validation_;
  Steps steps_;
  std::unique_ptr<Group> group_;
  std::unique_ptr<Learner> learner_;
  std::unique_ptr<Optimization> optimization_;
  std::uint64_t base_parameters_ = 0;
  std::string config_;
  TrainingState state_;
  StepOutcome interval_;  // since the last line
  Clock::time_point began_, logged_;
  std::uint64_t first_step_ = 0, kept_step_ = 0;  // kept: in the newest checkpoint
  double earlier_seconds_ = 0;
  std::optional<telemetry::Part> epoch_;
  bool early_ = false, stop_asked_ = false;
};

}  // namespace train_detail

Result<Ending> train(const TrainSettings& settings, const Backend& backend, Report& report,
                     const std::function<bool()>& stop, const FailPoint& fail_point) {
  telemetry::Part whole(report.work(), "train",
                        {{"model", settings.model},
                         {"dataset", settings.train},
                         {"rank", static_cast<std::int64_t>(settings.group.rank)},
                         {"processes", static_cast<std::int64_t>(settings.group.size)}});
  train_detail::Run run(settings, backend, report, stop, fail_point);
  Result<Ending> ending = run.run();
  whole.set("steps", static_cast<std::int64_t>(run.steps()));
  if (!ending) whole.fail(ending.error().faults.front().message);
  return ending;
}

}  // namespace stackgate::trainer
