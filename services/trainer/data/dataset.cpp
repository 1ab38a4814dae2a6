#include "services/trainer/data/dataset.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "services/trainer/data/order.hpp"
#include "services/trainer/data/random.hpp"
#include "services/trainer/data/turns.hpp"

namespace stackgate::trainer {

std::string to_text(const DataFault& fault) {
  return fault.line == 0 ? fmt::format("{}: {}", fault.file, fault.problem)
                         : fmt::format("{}:{}: {}", fault.file, fault.line, fault.problem);
}

Dataset split_off(Dataset& from, double share, std::uint64_t seed) {
  constexpr std::uint64_t of_no_epoch = UINT64_MAX;
  const auto count = static_cast<std::uint32_t>(from.examples.size());
  const auto wanted = static_cast<std::uint32_t>(std::lround(share * count));
  std::vector<bool> goes(count);
  const auto order = permutation(seed, of_no_epoch, count);
  for (std::uint32_t i = 0; i < std::clamp(wanted, 1U, count - 1); ++i) goes[order[i]] = true;
  Dataset out;
  std::vector<Example> stay;
  for (std::uint32_t i = 0; i < count; ++i) {
    Example& each = from.examples[i];
    if (goes[i]) {
      out.tokens += each.ids.size();
      out.trained_tokens += each.trained_tokens();
    }
    (goes[i] ? out.examples : stay).push_back(std::move(each));
  }
  from.examples = std::move(stay);
  from.tokens -= out.tokens;
  from.trained_tokens -= out.trained_tokens;
  return out;
}

void DatasetReader::fault(const std::string& file, std::uint64_t line, std::string problem) {
  if (++out_.fault_count <= most_data_faults) out_.faults.push_back({file, line, std::move(problem)});
}

void DatasetReader::digest(const Example& example) {
  std::uint64_t sum = mixed(out_.digest ^ example.ids.size());
  for (const std::uint32_t id : example.ids) sum = mixed(sum ^ id);
  for (const TokenRange& each : example.trained) sum = key_of(sum, each.begin, each.end);
  out_.digest = sum;
}

std::optional<std::string> DatasetReader::add_line(std::string_view text,
                                                   std::optional<model::TrainingLineKind>& kind) {
  const auto line = model::read_training_line(text, document_);
  if (!line) return line.error();
  if (kind.value_or(line->kind) != line->kind)
    return fmt::format("has {}, the lines before it {}: a file holds one kind", to_string(line->kind),
                       to_string(*kind));
  kind = line->kind;
  std::vector<Segment> segments;
  if (line->kind == model::TrainingLineKind::completion) {
    segments = {{std::string(line->prompt), false}, {std::string(line->completion), true}};
  } else {
    auto turns = turns_of(templates_, line->messages, line->tools, tokens_.frame().end_texts);
    if (!turns) return turns.error();
    segments = std::move(turns->segments);
    out_.last_only += turns->last_only ? 1 : 0;
  }
  auto example = tokens_.encode(segments, line->kind == model::TrainingLineKind::completion);
  if (!example) return example.error();
  if (example->trained.empty()) return "nothing of it is to be learned: its answers make no tokens";
  if (cut(*example, most_)) {
    ++out_.cut;
    if (example->trained.empty()) return ++out_.skipped, std::nullopt;
  }
  digest(*example);
  out_.tokens += example->ids.size();
  out_.trained_tokens += example->trained_tokens();
  out_.examples.push_back(std::move(*example));
  return std::nullopt;
}

void DatasetReader::add_file(const std::string& name, std::string_view text) {
  last_file_ = name;
  std::optional<model::TrainingLineKind> kind;
  std::uint64_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    if (auto problem = add_line(line, kind)) fault(name, number, std::move(*problem));
  }
}

Dataset DatasetReader::finish() {
  const std::uint64_t read = out_.examples.size() + out_.skipped;
  if (out_.fault_count == 0 && read == 0) fault(last_file_, 0, "holds no examples");
  if (out_.fault_count == 0 && out_.skipped * 2 > read)
    fault(last_file_, 0,
          fmt::format("{} of {} examples have nothing to learn within {} tokens: raise max_seq_length", out_.skipped,
                      read, most_));
  return std::move(out_);
}

}  // namespace stackgate::trainer
