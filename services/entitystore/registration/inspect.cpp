#include "services/entitystore/registration/inspect.hpp"

#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "services/kit/crypto/digest.hpp"

namespace stackgate::entitystore {
namespace inspect_detail {

class Unpacker final : public archive::Sink {
 public:
  Unpacker(const Spool& spool, std::string_view id, const InspectLimits& limits, Inspected& out)
      : spool_(spool), id_(id), limits_(limits), out_(out) {}

  std::expected<void, std::string> begin(const archive::Entry& entry) override {
    Inspected::File file;
    file.stored.path = entry.name;
    file.stored.size = entry.size;
    const bool weights = peft::may_be(entry.name, peft::weights_name);
    const bool pickle = peft::may_be(entry.name, peft::pickle_name);
    file.stored.large = entry.size > 0 && (weights || pickle || entry.size > limits_.large_bytes ||
                                           held_ + entry.size > limits_.held_bytes);
    if (file.stored.large) {
      file.unpacked = spool_.file(id_, out_.files.size());
      file_ = files::File(::open(file.unpacked.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
      if (!file_) return stop(storage_error("cannot unpack the upload", errno));
    } else {
      held_ += entry.size;
    }
    if (weights && !out_.weights) {
      out_.weights.emplace(entry.size);
      feeding_ = true;
    }
    hash_ = crypto::Sha256Stream();
    out_.files.push_back(std::move(file));
    return {};
  }

  std::expected<void, std::string> data(std::string_view bytes) override {
    hash_.add(bytes);
    if (feeding_) out_.weights->feed(bytes);
    if (!file_)
      out_.files.back().content += bytes;
    else if (auto done = write_all(file_.fd(), bytes); !done)
      return stop(std::move(done.error()));
    return {};
  }

  std::expected<void, std::string> end() override {
    Inspected::File& file = out_.files.back();
    file.stored.sha256 = crypto::to_hex(hash_.finish());
    if (feeding_) out_.weights->finish();
    feeding_ = false;
    file_.close();
    return {};
  }

 private:
  std::unexpected<std::string> stop(ServiceError why) {
    out_.failed = std::move(why);
    return std::unexpected(out_.failed->message);
  }

  const Spool& spool_;
  std::string_view id_;
  const InspectLimits& limits_;
  Inspected& out_;
  crypto::Sha256Stream hash_;
  std::uint64_t held_ = 0;
  files::File file_;  // that is being unpacked
  bool feeding_ = false;
};

}  // namespace inspect_detail

void append_findings(validate::Findings& to, const validate::Findings& from) {
  to.insert(to.end(), from.begin(), from.end());
}

Inspected inspect(archive::Source source, const Spool& spool, std::string_view id, const InspectLimits& limits) {
  Inspected out;
  archive::Outcome outcome;
  {
    inspect_detail::Unpacker unpacker(spool, id, limits, out);
    outcome = archive::read_tar_gz(std::move(source), unpacker, limits.tar);
  }
  if (outcome.failed && !out.failed) out.failed = ServiceError{ServiceFault::broken, std::move(*outcome.failed)};
  out.findings = std::move(outcome.findings);
  const bool whole = out.findings.empty();
  out.layout = peft::read_layout(outcome.files, reserved_names);
  // A broken archive lacks files because it is broken: that is said already.
  if (whole) append_findings(out.findings, out.layout.findings);
  for (const std::string& name : outcome.litter)
    out.findings.push_back({.rule = "adapter-archive-litter",
                            .severity = validate::Severity::warning,
                            .path = fmt::format("adapter[{}]", name),
                            .problem = "is not stored beside the archive",
                            .fix = "pack only the adapter's files"});
  std::erase_if(out.files, [&](const Inspected::File& file) { return file.stored.sha256.empty(); });
  for (Inspected::File& file : out.files) {
    if (file.stored.path.starts_with(out.layout.folder)) file.stored.path.erase(0, out.layout.folder.size());
    if (file.stored.path == peft::config_name && !file.stored.large) out.config = file.content;
  }
  return out;
}

validate::Findings judge(const Inspected& inspected, Metadata& metadata, const std::optional<peft::ModelShape>& shape,
                         const peft::ServingLimits& serving) {
  validate::Findings out = inspected.findings;
  Record& record = metadata.record;
  if (inspected.layout.has_config && !inspected.config)
    peft::add(out, "adapter-config-json", "adapter[adapter_config.json]", "is too large to be one",
              "write it again with PEFT");
  if (!inspected.config) return out;
  const peft::ConfigRead config = peft::read_config(*inspected.config, serving);
  append_findings(out, config.findings);
  append_findings(out, peft::check_claims({.base_model = record.base_model,
                                           .rank = metadata.rank,
                                           .alpha = metadata.alpha,
                                           .dropout = metadata.dropout,
                                           .target_modules = metadata.target_modules},
                                          config.config));
  peft::Tensors tensors;
  if (inspected.weights) {
    append_findings(out, inspected.weights->findings());
    if (inspected.weights->findings().empty() || !inspected.weights->header().tensors.empty())
      tensors = peft::check_tensors(inspected.weights->header(), config.config);
    append_findings(out, tensors.findings);
    if (shape) append_findings(out, peft::check_dimensions(tensors, *shape));
  }
  record.lora = {.rank = config.config.rank,
                 .alpha = config.config.alpha,
                 .dropout = config.config.dropout,
                 .target_modules = peft::target_names(config.config, tensors)};
  return out;
}

}  // namespace stackgate::entitystore
