// Requests on their way to an engine, and their answers back.
#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "services/inference/upstream/state.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/log/log.hpp"
#include "services/kit/relay/relay.hpp"
#include "services/kit/web/deferred.hpp"
#include "services/kit/web/json.hpp"

namespace stackgate::inference::upstream {

/// Of a request at a replica, as long as it lasts.
class Stay final : public relay::Witness {
 public:
  Stay(std::shared_ptr<Upstream::Impl> impl, PassagePtr passage, std::shared_ptr<std::atomic<std::size_t>> in_flight)
      : impl_(std::move(impl)), passage_(std::move(passage)), in_flight_(std::move(in_flight)) {
    ++*in_flight_;
  }
  ~Stay() override {
    --*in_flight_;
    if (passes_ && !is_whole_) impl_->failed(*passage_);
  }
  /// The answer is the client's: it counts.
  void pass() { passes_ = true; }
  void first_piece() override {
    if (!passage_->counted.empty()) impl_->figures.first_token.observe(passage_->counted, seconds());
  }
  void whole() override {
    is_whole_ = true;
    if (passage_->counted.empty()) return;
    impl_->figures.succeeded(passage_->counted, {});
    impl_->figures.whole.observe(passage_->counted, seconds());
  }

 private:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - passage_->begun).count();
  }
  const std::shared_ptr<Upstream::Impl> impl_;
  const PassagePtr passage_;
  const std::shared_ptr<std::atomic<std::size_t>> in_flight_;
  bool passes_ = false, is_whole_ = false;
};

namespace {

constexpr std::size_t largest_error = 64U << 10U;
constexpr std::size_t most_parked = 1'000;
constexpr int seconds_again = 1;

/// An engine's words for what went wrong: OpenAI's form, vLLM's older one, FastAPI's.
std::string message_of(std::string_view body) {
  json::Document document;
  const auto root = json::parse(body, document, {.max_depth = 64});
  if (!root || !root->is_object()) return "the upstream gave no reason that can be read";
  for (const std::string_view text : {json::text(&*root, {"error", "message"}), json::text(&*root, {"message"}),
                                      json::text(&*root, {"detail"}), json::text(&*root, {"error"})})
    if (!text.empty()) return std::string(text);
  return json::to_json(*root).substr(0, 1'000);
}

/// Its status in our form.
void refuse(const Passage& passage, const http_client::Head& head, std::string_view text) {
  if (!passage.optional.empty() && lacks_path(head.status, text))
    return passage.client->answer(web::Failure{
        501, fmt::format("The upstream does not serve {}: it answered {}.", passage.optional, head.status)});
  web::Failure failure{.status = head.status, .message = message_of(text)};
  if (const auto again = head.header("retry-after")) failure.headers.emplace_back("Retry-After", *again);
  passage.client->answer(std::move(failure));
}

}  // namespace

/// An answer that is a refusal, while its words are read.
struct Refusal {
  PassagePtr passage;
  std::size_t replica;
  http_client::Answer answer;
  std::shared_ptr<Stay> stay;
  std::string text{};
};

web::Failure not_now(std::string message) {
  return {.status = 503, .message = std::move(message), .headers = {{"Retry-After", std::to_string(seconds_again)}}};
}

void Passage::opened(unsigned attempt, http_client::Opening opening) {
  {
    const std::scoped_lock lock(mutex_);
    if (attempt < attempt_) return;  // a later one is under way
    attempt_ = attempt;
    opening_ = opening;
  }
  if (gone_) opening.cancel();
}

void Passage::leave() {
  gone_ = true;
  std::optional<http_client::Opening> opening;
  {
    const std::scoped_lock lock(mutex_);
    opening = opening_;
  }
  if (opening) opening->cancel();
}

void Passage::end(const web::Failure& why) {
  client->answer(why);  // unless it has begun
  if (streams_) {
    (void)client->write("\n\n" + error_event(why));  // behind what may be half an event
    client->finish();
  }
  leave();
}

void OpenPassages::add(const PassagePtr& passage) {
  const std::scoped_lock lock(mutex_);
  all_[passage.get()] = passage;
}

void OpenPassages::remove(const Passage* passage) {
  const std::scoped_lock lock(mutex_);
  all_.erase(passage);
}

std::vector<PassagePtr> OpenPassages::all() const {
  std::vector<PassagePtr> out;
  const std::scoped_lock lock(mutex_);
  for (const auto& [raw, weak] : all_)
    if (auto passage = weak.lock()) out.push_back(std::move(passage));
  return out;
}

void Upstream::Impl::failed(const Passage& passage) const {
  if (!passage.counted.empty()) figures.failed(passage.counted);
}

void Upstream::Impl::answered(const PassagePtr& passage, std::size_t replica, std::shared_ptr<Stay> stay,
                              std::expected<http_client::Answer, http_client::NoAnswer> answer) {
  Attempt attempt{.made = passage->made};
  if (passage->is_gone()) {
    requests.at({"gone"}).add();
    failed(*passage);
    return passage->client->answer(not_now("the client has left"));
  }
  if (!answer) {
    attempt.connected = !answer.error().nothing_sent;
    if (!attempt.connected) {
      log::warning("an upstream took no request", {{"error", answer.error().message}});
      const std::scoped_lock lock(mutex);
      known[replica].healthy = false;  // until the next look
      known[replica].fault = "takes no connections";
    }
    if (repetition(attempt, known.size()) == Repeat::elsewhere) return dispatch(passage);
    requests.at({"no_answer"}).add();
    failed(*passage);
    if (!attempt.connected) return passage->client->answer(not_now("the upstream takes no connections; try again"));
    return relay::pass_back(passage->client, std::move(answer), std::move(stay));
  }
  if (answer->head().status >= 400)
    return refused(std::make_shared<Refusal>(Refusal{passage, replica, std::move(*answer), std::move(stay)}));
  requests.at({"answered"}).add();
  if (answer->head().header("content-type").value_or("").starts_with("text/event-stream")) passage->streams();
  stay->pass();
  relay::pass_back(passage->client, std::move(answer), std::move(stay));
}

void Upstream::Impl::refused(const std::shared_ptr<Refusal>& refusal) {
  refusal->answer.read([self = shared_from_this(), refusal](std::expected<std::string, Error> piece) {
    if (piece && !piece->empty() && refusal->text.size() < largest_error) {
      refusal->text += *piece;
      return self->refused(refusal);
    }
    const PassagePtr& passage = refusal->passage;
    const int status = refusal->answer.head().status;
    const bool forgotten = !passage->adapter.empty() && is_unknown_model(status, refusal->text);
    if (repetition({.forgotten = forgotten, .made = passage->made}, 1) == Repeat::after_sync) {
      refusal->stay.reset();
      {
        const std::scoped_lock lock(self->mutex);
        self->known[refusal->replica].has.erase(passage->adapter);
      }
      return self->park(passage);
    }
    self->requests.at({"refused"}).add();
    if (status >= 500) self->failed(*passage);
    refuse(*passage, refusal->answer.head(), refusal->text);
  });
}

std::vector<ReplicaFacts> Upstream::Impl::facts_of(const Passage& passage) const {
  std::vector<ReplicaFacts> out;
  for (std::size_t i = 0; i < known.size(); ++i) {
    const Known& each = known[i];
    const bool has = passage.adapter.empty()
                         ? passage.model.empty() ||
                               std::ranges::find(each.models, passage.model, &ListedModel::id) != each.models.end()
                         : each.has.contains(passage.adapter);
    const bool looked_again = !passage.looks_begun.empty() && each.looks_ended > passage.looks_begun[i];
    const bool is_doubted = passage.made > 0 && !passage.looks_begun.empty();  // an engine had forgotten it
    out.push_back({.healthy = each.healthy,
                   .has_adapter = has && (looked_again || !is_doubted),
                   .in_flight = *each.in_flight,
                   .looked_again = looked_again});
  }
  return out;
}

void Upstream::Impl::park(const PassagePtr& passage) {
  {
    const std::scoped_lock lock(mutex);
    if (!stopped && passage->looks_begun.empty() && parked.size() < most_parked) {
      for (const Known& each : known) passage->looks_begun.push_back(each.looks_begun);
      parked.push_back(passage);
      for (const Visitor& each : visitors) each.rounds->wake();
      return;
    }
  }
  requests.at({"not_loaded"}).add();
  failed(*passage);
  passage->client->answer(
      not_now(fmt::format("The adapter `{}` is on no upstream at present; the log tells why.", passage->adapter)));
}

void Upstream::Impl::send_parked() {
  std::vector<PassagePtr> done;
  {
    const std::scoped_lock lock(mutex);
    std::erase_if(parked, [&](const PassagePtr& each) {
      if (!each->is_gone() && waiting(facts_of(*each)) == Waiting::stay) return false;
      done.push_back(each);
      return true;
    });
  }
  for (const PassagePtr& each : done) dispatch(each);  // which refuses those that have waited in vain
}

void Upstream::Impl::dispatch(const PassagePtr& passage) {
  if (passage->is_gone()) return;
  std::optional<std::size_t> chosen;
  std::shared_ptr<Stay> stay;
  http_client::Request request = passage->request;
  std::optional<AdapterMember> member;
  bool somebody = false;
  {
    const std::scoped_lock lock(mutex);
    const auto facts = facts_of(*passage);
    somebody = std::ranges::any_of(facts, &ReplicaFacts::healthy);
    chosen = choose(facts, turn++);
    if (chosen) {
      Known& replica = known[*chosen];
      stay = std::make_shared<Stay>(shared_from_this(), passage, replica.in_flight);
      if (!authorization.empty()) request.headers.emplace_back("Authorization", authorization);
      if (kind == Kind::llama_server)
        member = by_number(passage->adapter.empty() ? -1 : replica.numbers[passage->adapter]);
      if (kind == Kind::sglang) member = by_name(passage->adapter);
    }
  }
  if (!chosen && (passage->adapter.empty() || !somebody)) {
    requests.at({"no_upstream"}).add();
    failed(*passage);
    return passage->client->answer(not_now("no upstream is ready; try again in a moment"));
  }
  if (!chosen) return park(passage);
  if (passage->model.empty()) {
    request.body = passage->body;
  } else {
    auto body = rewrite(passage->body, passage->model, member);
    if (!body) return passage->client->answer(web::Failure{400, "the body: " + body.error()});
    request.body = std::move(*body);
  }
  request.url = visitors[*chosen].replica.origin() + passage->path;
  const unsigned attempt = ++passage->made;
  passage->opened(attempt, client.open(std::move(request),
                                       [self = shared_from_this(), passage, at = *chosen, stay](
                                           std::expected<http_client::Answer, http_client::NoAnswer> answer) mutable {
                                         self->answered(passage, at, std::move(stay), std::move(answer));
                                       }));
}

}  // namespace stackgate::inference::upstream
