// The calls, by the files that answer them.
#pragma once
#include "services/entitystore/api/api.hpp"
#include "services/kit/web/answer.hpp"

namespace stackgate::entitystore {

// list.cpp
web::Answer list_adapters(const Api& api, web::Call& call);
// upload.cpp
web::Answer upload_adapter(const Api& api, web::Call& call);
// adapter.cpp
web::Answer get_adapter(const Api& api, web::Call& call);
web::Answer patch_adapter(const Api& api, web::Call& call);
web::Answer delete_adapter(const Api& api, web::Call& call);
web::Answer get_versions(const Api& api, web::Call& call);
web::Answer get_provenance(const Api& api, web::Call& call);
web::Answer get_access_log(const Api& api, web::Call& call);
// download.cpp
web::Answer get_archive(const Api& api, web::Call& call);
// models.cpp
web::Answer list_models(const Api& api, web::Call& call);
web::Answer get_model(const Api& api, web::Call& call);
// entities.cpp: namespaces, projects, datasets
web::Answer create_entity(const Api& api, web::Call& call, std::string_view kind);
web::Answer list_entities(const Api& api, web::Call& call, std::string_view kind);
web::Answer get_entity(const Api& api, web::Call& call, std::string_view kind);
web::Answer patch_entity(const Api& api, web::Call& call, std::string_view kind);
web::Answer delete_entity(const Api& api, web::Call& call, std::string_view kind);

}  // namespace stackgate::entitystore
