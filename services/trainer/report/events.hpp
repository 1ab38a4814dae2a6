// What a run tells while it works: one JSON object for each event. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stackgate::trainer {

struct Started {
  std::uint64_t parameters = 0, trainable_parameters = 0, examples = 0, tokens = 0, max_steps = 0;
  double num_epochs = 0;
  std::uint64_t cut = 0, skipped = 0;  // examples that were too long
  std::uint64_t resumed_step = 0;      // 0: from the beginning
};
struct Stepped {
  std::uint64_t step = 0, max_steps = 0;
  double epoch = 0, loss = 0, learning_rate = 0, grad_norm = 0, tokens_per_second = 0;
  std::uint64_t memory = 0;  // resident bytes
  double eta_seconds = 0;
};
struct Finished {
  std::optional<double> train_loss{}, val_loss{};
  std::string path, archive, sha256;  // of the archive
};
struct Failed {
  std::string message, file{};
  std::uint64_t line = 0;
};

// Without a line's end. `job`: "job_id", left out when empty.
std::string event_text(const Started& event, std::string_view job);
std::string event_text(const Stepped& event, std::string_view job);
std::string event_text(const Finished& event, std::string_view job);
std::string event_text(const Failed& event, std::string_view job);
std::string validation_text(std::uint64_t step, double loss, std::string_view job);
std::string checkpoint_text(std::uint64_t step, std::string_view path, std::string_view job);

/// "[####....]  40 %  step 4 of 10  loss 1.2345  1,234 tokens/s  0:12 left", `columns` wide at most.
std::string bar(const Stepped& event, std::size_t columns);

}  // namespace stackgate::trainer
