#include "services/datastore/lfs/batch.hpp"

#include <algorithm>
#include <map>

#include "services/kit/json/write.hpp"

namespace stackgate::datastore::lfs {

namespace {

std::unexpected<web::Failure> batch_refused(int status, std::string message) {
  return std::unexpected(web::Failure{.status = status, .message = std::move(message)});
}

Wanted read_wanted(const json::Value& item) {
  Wanted out;
  const json::Value* oid = item.find("oid");
  const json::Value* size = item.find("size");
  if (oid == nullptr || !oid->is_string()) {
    out.fault = "\"oid\" must be a string of 64 hex digits";
    return out;
  }
  out.oid = oid->string();
  if (!is_oid(out.oid)) {
    out.fault = "\"oid\" must be a SHA-256 in 64 lower-case hex digits";
  } else if (size == nullptr || !size->is_integer() || size->integer() < 0) {
    out.fault = "\"size\" must be a whole number of bytes, 0 or more";
  } else {
    out.size = static_cast<std::uint64_t>(size->integer());
  }
  return out;
}

Decision refuse_file(const Wanted& file, int status, std::string message) {
  return {.file = file, .step = Step::refuse, .status = status, .message = std::move(message)};
}

Decision decide_download(const Wanted& file, const Known* known, bool direct) {
  if (known == nullptr || !known->linked) return refuse_file(file, 404, "the repository does not have this file");
  if (known->stat.size != file.size)
    return refuse_file(file, 422, "the file has " + std::to_string(known->stat.size) + " bytes");
  // What is not hashed yet will move, and a presigned address with it.
  const bool at_store = direct && known->stat.state == State::trusted;
  return {.file = file, .step = at_store ? Step::download_direct : Step::download, .stat = known->stat};
}

/// Room that the files of one batch share.
struct Room {
  const Limits& limits;
  Usage used;

  std::optional<std::string> take(std::uint64_t size) {
    const auto fits = [&](std::uint64_t limit, std::uint64_t in_use) {
      return limit == 0 || (in_use <= limit && size <= limit - in_use);
    };
    if (!fits(limits.repository, used.repository))
      return "the repository's quota for large files (" + std::to_string(limits.repository) +
             " bytes) does not hold it";
    if (!fits(limits.total, used.total)) return "the server's quota for large files is used up";
    used.repository += size;
    used.total += size;
    return {};
  }
};

Decision decide_upload(const BatchRequest& request, const Wanted& file, const Known* known, const Facts& facts,
                       Room& room) {
  // A file that only others have is treated like one that nobody has: the answer must not tell that it exists.
  if (known != nullptr && known->linked) {
    if (known->stat.size == file.size) return {.file = file, .step = Step::none};
    return refuse_file(file, 422, "the file has " + std::to_string(known->stat.size) + " bytes");
  }
  if (facts.limits.file != 0 && file.size > facts.limits.file)
    return refuse_file(file, 413, "this server takes files of at most " + std::to_string(facts.limits.file) + " bytes");
  if (auto full = room.take(file.size)) return refuse_file(file, 507, std::move(*full));
  Decision out{.file = file, .step = Step::upload};
  if (request.multipart && file.size >= facts.parts_from && file.size > 0) {
    out.step = Step::upload_parts;
  } else if (facts.direct && file.size <= facts.largest_put) {
    out.step = Step::upload_direct;
  }
  return out;
}

void write_action(json::Writer& w, std::string_view name, const std::optional<Link>& action) {
  if (!action) return;
  w.object(name, [&] {
    w.member("href", action->href);
    if (!action->header.empty()) {
      w.object("header", [&] {
        for (const auto& [key, value] : action->header) w.member(key, value);
      });
    }
    if (action->expires_in > 0) w.member("expires_in", action->expires_in);
  });
}

}  // namespace

std::string_view to_string(Operation operation) { return operation == Operation::upload ? "upload" : "download"; }

std::vector<std::string> BatchRequest::oids() const {
  std::vector<std::string> out;
  for (const Wanted& file : objects)
    if (file.fault.empty()) out.push_back(file.oid);
  return out;
}

std::expected<BatchRequest, web::Failure> parse_batch(const json::Value& body) {
  BatchRequest out;
  if (!body.is_object()) return batch_refused(422, "the body must be a JSON object");
  const json::Value* operation = body.find("operation");
  if (operation == nullptr || !operation->is_string())
    return batch_refused(422, "\"operation\" must be \"upload\" or \"download\"");
  if (operation->string() == "upload") {
    out.operation = Operation::upload;
  } else if (operation->string() != "download") {
    return batch_refused(422, "\"operation\" must be \"upload\" or \"download\"");
  }
  if (const json::Value* transfers = body.find("transfers"); transfers != nullptr && !transfers->is_null()) {
    if (!transfers->is_array()) return batch_refused(422, "\"transfers\" must be an array of strings");
    const auto has = [&](std::string_view word) {
      return std::ranges::any_of(transfers->items(), [&](const json::Value& t) { return t.string() == word; });
    };
    out.basic = transfers->items().empty() || has("basic");
    out.multipart = has("multipart");
    if (!out.basic && !out.multipart)
      return batch_refused(422, "no transfer in common: this server speaks \"basic\" and \"multipart\"");
  }
  if (const json::Value* hash = body.find("hash_algo"); hash != nullptr && !hash->is_null()) {
    out.hash_algo = hash->string();
    if (out.hash_algo != "sha256" && out.hash_algo != "sha_256")  // git-lfs and the Python client; the JavaScript one
      return batch_refused(409, "\"hash_algo\" must be \"sha256\"");
  }
  const json::Value* objects = body.find("objects");
  if (objects == nullptr || !objects->is_array()) return batch_refused(422, "\"objects\" must be an array");
  if (objects->items().size() > batch_objects)
    return batch_refused(413, "at most " + std::to_string(batch_objects) + " objects go into one batch");
  for (const json::Value& item : objects->items()) out.objects.push_back(read_wanted(item));
  return out;
}

Plan decide(const BatchRequest& request, const Facts& facts) {
  std::map<std::string_view, const Known*> known;
  for (const Known& file : facts.known) known.emplace(file.oid, &file);
  Room room{facts.limits, facts.usage};
  Plan out;
  for (const Wanted& file : request.objects) {
    if (!file.fault.empty()) {
      out.objects.push_back(refuse_file(file, 422, file.fault));
      continue;
    }
    const auto found = known.find(file.oid);
    const Known* entry = found == known.end() ? nullptr : found->second;
    out.objects.push_back(request.operation == Operation::download ? decide_download(file, entry, facts.direct)
                                                                   : decide_upload(request, file, entry, facts, room));
    if (out.objects.back().step == Step::upload_parts) out.transfer = "multipart";
  }
  if (!request.basic) out.transfer = "multipart";
  return out;
}

std::string render(const BatchRequest& request, const Plan& plan, std::span<const Actions> actions) {
  return json::object_text([&](json::Writer& w) {
    w.member("transfer", plan.transfer);
    w.array("objects", [&] {
      for (std::size_t i = 0; i < plan.objects.size(); ++i) {
        const Decision& decision = plan.objects[i];
        w.object([&] {
          w.member("oid", decision.file.oid);
          w.member("size", decision.file.size);
          if (decision.step == Step::refuse) {
            w.object("error", [&] {
              w.member("code", decision.status);
              w.member("message", decision.message);
            });
            return;
          }
          // The actions authenticate themselves: the client must not add its own credentials.
          w.member("authenticated", true);
          const Actions& todo = actions[i];
          if (!todo.upload && !todo.verify && !todo.download) return;
          w.object("actions", [&] {
            write_action(w, "download", todo.download);
            write_action(w, "upload", todo.upload);
            write_action(w, "verify", todo.verify);
          });
        });
      }
    });
    if (!request.hash_algo.empty()) w.member("hash_algo", request.hash_algo);
  });
}

}  // namespace stackgate::datastore::lfs
