// The smallest complete service: notes in a database, over HTTP. services/README.md walks through it.
#pragma once
#include "services/kit/service/service.hpp"

namespace stackgate::notes {

service::Service notes_service();

}  // namespace stackgate::notes
