#include "services/trainer/merge/merge.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "services/kit/base/try.hpp"
#include "services/kit/files/file.hpp"
#include "services/model/loading/adapter_weights.hpp"
#include "services/model/loading/floats.hpp"
#include "services/model/loading/load.hpp"
#include "services/trainer/checkpoint/durable.hpp"
#include "services/trainer/merge/narrow.hpp"
#include "services/trainer/training/base_model.hpp"

namespace stackgate::trainer {
namespace merge_detail {

/// The weight's bytes with the pair's product added, in the weight's type.
std::string merged(std::span<const std::byte> weight, model::Dtype type, const model::LowRank& pair) {
  const std::size_t out = pair.b.size() / pair.rank, in = pair.a.size() / pair.rank;
  std::vector<float> row(in), stored = model::floats_of(weight, type);
  std::string bytes(weight.size(), '\0');
  for (std::size_t o = 0; o < out; ++o) {
    std::ranges::fill(row, 0.0F);
    for (std::size_t r = 0; r < pair.rank; ++r) {
      const float factor = pair.b[r * out + o];
      const float* const a = pair.a.data() + r * in;
      for (std::size_t i = 0; i < in; ++i) row[i] += factor * a[i];
    }
    for (std::size_t i = 0; i < in; ++i) stored[o * in + i] += row[i];
  }
  for (std::size_t i = 0; i < stored.size(); ++i) {
    if (type == model::Dtype::f32) {
      std::memcpy(bytes.data() + i * sizeof(float), &stored[i], sizeof(float));
      continue;
    }
    const std::uint16_t narrow = type == model::Dtype::f16 ? half_of(stored[i]) : bfloat16_of(stored[i]);
    std::memcpy(bytes.data() + i * sizeof narrow, &narrow, sizeof narrow);
  }
  return bytes;
}

/// Which pair changes which tensor of the model.
std::map<std::string, const model::LowRank*> changes_of(const model::AdapterWeights& adapter) {
  std::map<std::string, const model::LowRank*> out;
  for (std::size_t layer = 0; layer < adapter.layers.size(); ++layer)
    for (std::size_t m = 0; m < model::module_names.size(); ++m)
      if (const model::LowRank& pair = adapter.layers[layer][m]; pair.rank != 0)
        out[fmt::format("model.layers.{}.{}.weight", layer, model::module_names[m])] = &pair;
  if (adapter.head.rank != 0) out["lm_head.weight"] = &adapter.head;
  return out;
}

class Merger {
 public:
  Merger(const MergeSettings& settings, const model::ModelDirectory& model, const model::AdapterWeights& adapter)
      : settings_(settings), model_(model), changes_(changes_of(adapter)) {}

  Done write(const std::string& part) const {
    TRY(remove_all(part));
    TRY(make_directory(part));
    std::error_code error;
    for (const auto& each : std::filesystem::directory_iterator(settings_.model, error)) {
      const std::string name = each.path().filename().string();
      if (std::ranges::find(model_.files, name) != model_.files.end() || !each.is_regular_file() ||
          each.path().extension() == ".bin")
        continue;
      std::filesystem::copy_file(each.path(), fmt::format("{}/{}", part, name), error);
      if (error) return std::unexpected(fmt::format("{} cannot be copied: {}", name, error.message()));
    }
    for (std::uint32_t i = 0; i < model_.files.size(); ++i) TRY(write_weights(part, i));
    return {};
  }

 private:
  /// The base's file, with other bytes where the adapter changes something.
  Done write_weights(const std::string& part, std::uint32_t index) const {
    const std::string &name = model_.files[index], path = part + "/" + name;
    const auto base = files::MappedFile::open(settings_.model + "/" + name);
    if (!base) return std::unexpected(fmt::format("{} cannot be read: {}", name, std::strerror(base.error())));
    std::map<std::uint64_t, std::pair<const model::StoredTensor*, const model::LowRank*>> changed;  // by offset
    for (const auto& [tensor, pair] : changes_)
      if (const auto& stored = model_.tensors.find(tensor)->second; stored.file == index)
        changed[stored.place.offset] = {&stored, pair};
    const files::File file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    std::uint64_t at = 0;
    const auto bytes = base->bytes();
    int failed = file ? 0 : errno;
    const auto keep = [&](std::uint64_t until) {
      const auto some = bytes.subspan(at, until - at);
      if (failed == 0) failed = files::write_all(file.fd(), {reinterpret_cast<const char*>(some.data()), some.size()});
      at = until;
    };
    for (const auto& [offset, change] : changed) {
      const model::TensorPlace& place = change.first->place;
      keep(offset);
      if (failed == 0)
        failed = files::write_all(file.fd(), merged(bytes.subspan(offset, place.bytes), place.dtype, *change.second));
      at = offset + place.bytes;
    }
    keep(bytes.size());
    if (failed == 0 && file && ::fsync(file.fd()) != 0) failed = errno;
    if (failed != 0) return std::unexpected(fmt::format("{} cannot be written: {}", path, std::strerror(failed)));
    return {};
  }

  const MergeSettings& settings_;
  const model::ModelDirectory& model_;
  const std::map<std::string, const model::LowRank*> changes_;
};

}  // namespace merge_detail

Result<Ending> merge(const MergeSettings& settings) {
  if (std::filesystem::exists(settings.output))
    return wrong_input(fmt::format("{} is there already: name another --output, or remove it", settings.output));
  const model::DirectoryRead base = model::load_directory(settings.model);
  TRY(judge(base.findings));
  const model::LoadedAdapter loaded =
      model::load_adapter(settings.adapter, base.model.config, {.max_rank = UINT32_MAX});
  TRY(judge(loaded.findings));
  const model::AdapterWeights adapter = model::adapter_weights(loaded, base.model.config);
  if (adapter.head.rank != 0 && base.model.config.tied_head)
    return wrong_input("the adapter changes lm_head, which is the embedding in this model: it cannot be merged");
  const std::string part = settings.output + ".part";
  if (const Done done = merge_detail::Merger(settings, base.model, adapter).write(part); !done)
    return failed(done.error());
  if (const Done done = move_directory(part, settings.output); !done) return failed(done.error());
  return Ending::done;
}

}  // namespace stackgate::trainer
