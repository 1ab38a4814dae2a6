// One file being written or read for the directory store.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "services/kit/files/file.hpp"
#include "services/kit/objects/store.hpp"

namespace stackgate::objects {

/// `root` and `unfinished` are the store's and must outlive the upload.
Expected<std::unique_ptr<Upload>> start_file_upload(int root, int unfinished, const std::string& key,
                                                    std::optional<std::uint64_t> size);

Expected<std::unique_ptr<Download>> start_file_download(files::File file, std::uint64_t size, std::uint64_t offset,
                                                        std::string what);

}  // namespace stackgate::objects
