#include "services/evaluator/runs/searched.hpp"

#include <filesystem>
#include <thread>

#include <fmt/format.h>

#include "services/evaluator/runs/stage.hpp"
#include "services/kit/base/try.hpp"

namespace stackgate::evaluator {

std::expected<void, std::string> Searched::open() {
  const Framework framework = context_.request.framework;
  if (framework != Framework::retriever && framework != Framework::rag) return {};
  // It was read before, so that a fault here means that its files are others now.
  const auto plan = retrieval_plan(context_.request, task_.name(), data_);
  if (context_.journal.stopping()) return std::unexpected("");
  context_.journal.waits("");
  if (!plan) return std::unexpected(plan.error().empty() ? "" : validate::to_line(plan.error().front()));
  if (plan->passages.empty()) return {};
  return open(*plan);
}

std::expected<void, std::string> Searched::open(const RetrievalPlan& plan) {
  Stage stage(context_, "index", {{"evaluation.task", task_.name()}});
  stage.set("evaluation.passages", static_cast<std::int64_t>(plan.passages.size()));
  RunJournal& journal = context_.journal;
  const Endpoint* embeddings = answerers_.embeddings();
  if (embeddings == nullptr) return std::unexpected("documents are found by their embeddings: write \"embeddings\"");
  RetrieverOptions options = context_.options.retrieval;
  options.index = context_.request.retrieval.index;
  options.embedding.parallelism = context_.request.requests.parallelism;
  options.embedding.patience = context_.options.answer_patience;
  options.embedding.pause = context_.options.pause;
  options.uses = [&](const std::string& collection) -> std::expected<void, NoAnswer> {
    if (journal.insist("collection", [&] { return journal.records().use_collection(journal.id(), collection); }))
      return {};
    return std::unexpected(NoAnswer{NoAnswer::Kind::stopped, "stopped"});
  };
  std::error_code error;
  std::filesystem::create_directories(options.directory, error);
  if (error) return std::unexpected(fmt::format("cannot make {}: {}", options.directory, error.message()));

  std::uint64_t reported = 0;
  const RetrieverProgress progress{
      .embedded =
          [&](std::uint64_t embedded, std::uint64_t passages) {
            // A tenth at a time, as what was embedded before is there at once.
            if (embedded < passages && embedded < reported + std::max<std::uint64_t>(passages / 10, 1)) return;
            reported = embedded;
            journal.note(fmt::format("task {}: {} of {} passages embedded", task_.name(), embedded, passages));
          },
      .stop = [&] { return journal.stopping(); }};
  const auto until = std::chrono::steady_clock::now() + context_.options.patience;
  for (;;) {
    auto opened = Retriever::open(plan, *embeddings, options, progress);
    if (journal.stopping()) return std::unexpected("");
    if (opened) {
      retriever_ = std::move(*opened);
      all_.at(static_cast<std::size_t>(Whom::retriever)) = answerers_.counted(Whom::retriever, retriever_->answerer());
      journal.waits("");
      return {};
    }
    if (opened.error().kind != NoAnswer::Kind::away || std::chrono::steady_clock::now() > until)
      return std::unexpected(std::move(opened.error().message));
    journal.waits(fmt::format("waits to index its documents: {}", opened.error().message));
    for (const auto next = std::chrono::steady_clock::now() + context_.options.pause;
         std::chrono::steady_clock::now() < next && !journal.stopping();)
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

}  // namespace stackgate::evaluator
