// A model's directory from the disk: files of bounded size that lie in it, through the checks of
// services/model/directory.
#pragma once
#include <string>

#include "services/model/directory/model_directory.hpp"

namespace stackgate::model {

/// The model, and all that is wrong with its files at once. Reads the small files and the headers of the safetensors
/// files; no weights. A file may be a link, as long as it leads to a place inside the directory.
DirectoryRead load_directory(const std::string& directory);

}  // namespace stackgate::model
