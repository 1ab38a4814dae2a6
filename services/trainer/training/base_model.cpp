#include "services/trainer/training/base_model.hpp"

#include <cstring>

#include <fmt/format.h>

#include "services/kit/base/fnv.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/files/file.hpp"
#include "services/kit/files/mapped_file.hpp"
#include "services/kit/log/log.hpp"
#include "services/model/loading/load.hpp"

namespace stackgate::trainer {
Result<void> judge(const validate::Findings& findings) {
  Failure failure{Ending::wrong_input, {}};
  for (const validate::Finding& each : findings)
    if (each.severity == validate::Severity::error)
      failure.faults.push_back({.message = fmt::format("{}: {}; {}", each.path, each.problem, each.fix)});
    else
      log::warning(each.problem, {{"place", each.path}, {"cure", each.fix}});
  if (!failure.faults.empty()) return std::unexpected(std::move(failure));
  return {};
}

Result<BaseModel> load_base_model(const std::string& directory, const std::string& chat_template) {
  model::DirectoryRead read = model::load_directory(directory);
  TRY(judge(read.findings));
  if (!chat_template.empty()) {
    auto source = files::read_file(chat_template, model::largest_chat_template);
    if (!source)
      return wrong_input(
          fmt::format("--chat-template {} cannot be read: {}", chat_template, std::strerror(source.error())));
    read.model.templates = {{"default", std::move(*source)}};
  }
  auto weights = model::Weights::map(directory, read.model);
  if (!weights) return wrong_input(fmt::format("{}: {}", weights.error().path, weights.error().problem));
  auto templates = model::ChatTemplates::compile(read.model.templates, read.model.special_tokens);
  // A template that cannot be used harms only who needs it.
  for (const validate::Finding& each : templates.findings)
    log::warning(each.problem, {{"place", each.path}, {"cure", each.fix}});
  auto tokenizer = std::make_shared<const tokenizer::Tokenizer>(std::move(read.model.tokenizer));
  return BaseModel{std::move(read.model), std::move(*weights), std::move(templates.templates), std::move(tokenizer)};
}

std::uint64_t mark_of(const BaseModel& base) {
  constexpr std::size_t looked_at = 256;
  std::uint64_t mark = fnv1a("");
  for (const auto& [name, stored] : base.model.tensors) {
    const auto bytes = base.weights.bytes(stored);
    mark = fnv1a(name, mark);
    mark = fnv1a({reinterpret_cast<const char*>(bytes.data()), std::min(looked_at, bytes.size())}, mark);
  }
  return mark;
}

Result<Dataset> read_data(const BaseModel& base, std::span<const std::string> files, std::size_t most) {
  Tokens tokens(base.tokenizer, text_frame(base.model, *base.tokenizer));
  DatasetReader reader(tokens, base.templates, most);
  for (const std::string& name : files) {
    const auto file = files::MappedFile::open(name);
    if (!file) return wrong_input(fmt::format("{} cannot be read: {}", name, std::strerror(file.error())));
    file->will_need();
    reader.add_file(name, {reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size()});
  }
  Dataset out = reader.finish();
  if (out.fault_count == 0) return out;
  Failure failure{Ending::wrong_input, {}};
  for (const DataFault& each : out.faults)
    failure.faults.push_back({.message = each.problem, .file = each.file, .line = each.line});
  if (out.fault_count > out.faults.size())
    failure.faults.push_back({.message = fmt::format("{} more lines are wrong", out.fault_count - out.faults.size())});
  return std::unexpected(std::move(failure));
}

}  // namespace stackgate::trainer
