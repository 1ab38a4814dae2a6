// Everything the datastore is made of, put together from its options; what serve and the other commands work on.
#pragma once
#include <expected>
#include <memory>

#include "services/datastore/accounts/accounts.hpp"
#include "services/datastore/backend.hpp"
#include "services/datastore/lfs/large_files.hpp"
#include "services/datastore/options.hpp"
#include "services/datastore/own_secrets.hpp"
#include "services/datastore/repositories/repositories.hpp"
#include "services/kit/base/error.hpp"

namespace stackgate::datastore {

struct Assembly {
  Assembly(Options chosen, std::shared_ptr<sql::Database> opened_database,
           std::unique_ptr<objects::Store> opened_store);

  const Options options;
  const std::shared_ptr<sql::Database> database;
  const std::unique_ptr<objects::Store> store;
  Accounts accounts;
  Repositories repositories;
  lfs::LargeFiles large_files;
  Backend backend;
};

/// Makes the folders that are missing; the embedded database is migrated. A remote one need not be there yet.
std::expected<std::unique_ptr<Assembly>, Error> assemble(const settings::Values& values, Secrets secrets);

}  // namespace stackgate::datastore
