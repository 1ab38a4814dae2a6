// POST /v1/customizations: the body as values, every fault of it at once. Pure and thread-safe.
// Source: the specification's body; members beside it are those of NeMo's customization jobs.
#pragma once
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "services/customizer/catalogue/catalogue.hpp"
#include "services/kit/findings/finding.hpp"
#include "services/kit/json/value.hpp"
#include "services/model/hyperparameters/hyperparameters.hpp"

namespace stackgate::customizer {

struct DatasetChoice {
  std::string repository{};                                       // "<namespace>/<name>"
  std::string path{};                                             // of it: a file or a folder; empty: all of it
  std::string revision{};                                         // empty: main; a commit once it is stored
  std::vector<std::string> training_files{}, validation_files{};  // of the repository; chosen before it is stored
  bool is_chat = false;  // its lines are conversations: known when they are looked at, and not stored
};

struct CustomizationRequest {
  std::string name{}, description{};
  Target target{};          // as the catalogue has it when the customization is made: later changes do not touch it
  ConfigTemplate config{};  // likewise; without a name: none fits, and its values are our defaults
  DatasetChoice dataset{};
  model::Hyperparameters hyperparameters{};
  std::string output_model{};  // "<namespace>/<name>[@<version>]"; without a version it gets one of its time
  std::vector<std::string> tags{};
};

struct RequestRead {
  CustomizationRequest request{};  // to be used only when there are no errors
  validate::Findings findings{};   // warnings, too
};

/// The specification's body. Defaults and bounds are those of the catalogue.
RequestRead read_request(const json::Value& body, const Catalogue& catalogue);

/// The body of POST /v1/customization/jobs, as NeMo's clients send it; paths of findings are those of that body.
/// `name`: of a job without one.
RequestRead read_nemo_request(const json::Value& body, const Catalogue& catalogue, std::string_view name);

/// What is stored with a customization; it reads as the same again, whatever the catalogue holds by then.
std::string to_json(const CustomizationRequest& request);
/// Of what to_json wrote.
CustomizationRequest read_stored(std::string_view json);

/// Files of a dataset that are trained on and validated with. The error is a sentence: there are none, or a name that
/// lists of files cannot hold.
///
///   training/…, validation/…     JSON lines below these folders (of the path, if one is given)
///   a file                       that one
///   neither                      all JSON lines of the path's folder itself
std::expected<void, std::string> choose_files(DatasetChoice& dataset, const std::vector<std::string>& paths);

}  // namespace stackgate::customizer
