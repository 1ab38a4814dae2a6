// What is said of a repository that another database's records speak of.
#pragma once
#include <string>
#include <string_view>

#include "services/kit/web/answer.hpp"

namespace stackgate::entitystore::registrar_detail {

/// 409. `other`: the database that the repository is marked with, empty without a mark.
web::Failure not_ours(std::string_view repository, std::string_view other);

}  // namespace stackgate::entitystore::registrar_detail
