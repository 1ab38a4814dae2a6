// learn_cases DIR: the loss of the examples in DIR/learn.json under the LoRA in DIR/lora.bin, and its gradient, by the
// trainer; writes DIR/learn.bin. See graph/gradients.py.
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "services/kit/json/parse.hpp"
#include "services/model/loading/load.hpp"
#include "services/trainer/learn/learner.hpp"

namespace {

using namespace stackgate;
using namespace stackgate::trainer;

std::string file_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

[[noreturn]] void die(const std::string& problem) {
  fmt::print(stderr, "{}\n", problem);
  std::exit(1);
}

std::vector<Example> read_examples(const json::Value& list) {
  std::vector<Example> out;
  for (const json::Value& each : list.items()) {
    Example& example = out.emplace_back();
    for (const json::Value& token : each.find("tokens")->items())
      example.ids.push_back(static_cast<std::uint32_t>(token.integer()));
    for (const json::Value& range : each.find("trained")->items())
      example.trained.push_back({static_cast<std::uint32_t>(range.items()[0].integer()),
                                 static_cast<std::uint32_t>(range.items()[1].integer())});
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) die("usage: learn_cases DIR");
  const std::string directory = argv[1], text = file_text(directory + "/learn.json");
  const model::DirectoryRead read = model::load_directory(directory);
  for (const auto& finding : read.findings) die(finding.problem);
  const auto weights = model::Weights::map(directory, read.model);
  json::Document cases;
  if (!json::parse(text, cases)) die("learn.json cannot be read");
  LearnerSettings settings{.threads = 1, .positions = 64};
  settings.lora.rank = static_cast<std::uint32_t>(cases.root.find("rank")->integer());
  settings.lora.scale = cases.root.find("scale")->number();
  for (std::size_t i = 0; i < model::module_names.size(); ++i)
    settings.lora.modules.push_back(static_cast<model::Module>(i));
  auto learner = Learner::open(read.model, *weights, settings);
  if (!learner) die(learner.error());
  const std::string values = file_text(directory + "/lora.bin");
  if (values.size() != (*learner)->values().size_bytes()) die("lora.bin is of another size");
  std::memcpy((*learner)->values().data(), values.data(), values.size());
  const std::vector<Example> examples = read_examples(*cases.root.find("examples"));
  std::vector<LearnedExample> pass;
  for (const Example& each : examples) pass.push_back({.ids = each.ids, .trained = each.trained});
  const auto sum = (*learner)->learn(pass, 1);
  if (!sum) die(sum.error());
  std::ofstream out(directory + "/learn.bin", std::ios::binary);
  out.write(reinterpret_cast<const char*>(&*sum), sizeof *sum);
  out.write(reinterpret_cast<const char*>((*learner)->gradients().data()),
            static_cast<std::streamsize>((*learner)->gradients().size_bytes()));
  return 0;
}
