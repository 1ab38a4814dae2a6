#include "services/inference/schedule/scheduler.hpp"

#include <map>
#include <random>
#include <set>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stackgate::inference {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Planned {
  SequenceId id;
  std::size_t position, count;
  bool last;
  bool operator==(const Planned&) const = default;
};

std::vector<Planned> run(Scheduler& scheduler) {
  std::vector<Planned> out;
  for (const Piece& each : scheduler.plan()) out.push_back({each.id, each.position, each.tokens.size(), each.last});
  scheduler.done();
  return out;
}

std::vector<std::uint32_t> prompt(std::size_t length, std::uint32_t first = 0) {
  std::vector<std::uint32_t> out;
  for (std::size_t i = 0; i < length; ++i) out.push_back(first + static_cast<std::uint32_t>(i));
  return out;
}

NewSequence sequence(SequenceId id, std::size_t length, Beginning root) {
  return {
      .id = id, .tokens = prompt(length, static_cast<std::uint32_t>(id) * 1000), .longest = length + 50, .root = root};
}

class SchedulerTest : public ::testing::Test {
 protected:
  PagePool pool{64, 4};
  Beginning root = pool.root();
  Scheduler scheduler{{.sequences = 4, .step_tokens = 10, .waiting = 3}, pool};
};

TEST_F(SchedulerTest, computes_a_prompt_in_pieces_and_then_token_by_token) {
  scheduler.add(sequence(1, 14, root));
  EXPECT_THAT(run(scheduler), ElementsAre(Planned{1, 0, 10, false}));
  EXPECT_THAT(run(scheduler), ElementsAre(Planned{1, 10, 4, true}));
  EXPECT_THAT(run(scheduler), IsEmpty()) << "nobody has said what comes next";
  scheduler.append(1, 7);
  EXPECT_THAT(run(scheduler), ElementsAre(Planned{1, 14, 1, true}));
}

TEST_F(SchedulerTest, who_is_paused_is_not_computed) {
  scheduler.add(sequence(1, 2, root));
  run(scheduler);
  scheduler.append(1, 7);
  scheduler.pause(1, true);
  EXPECT_THAT(run(scheduler), IsEmpty());
  scheduler.add(sequence(2, 2, root));
  scheduler.pause(2, true);
  scheduler.pause(9, true);  // unknown
  EXPECT_THAT(run(scheduler), IsEmpty());
  EXPECT_EQ(scheduler.running() + scheduler.waiting(), 0U);
  scheduler.pause(1, false);
  scheduler.pause(1, false);  // a second time
  scheduler.pause(2, false);
  EXPECT_THAT(run(scheduler), ElementsAre(Planned{1, 0, 3, true}, Planned{2, 0, 2, true}));
}

TEST_F(SchedulerTest, who_is_paused_stops_nobody_and_finds_its_pages_again) {
  Scheduler narrow({.sequences = 1, .step_tokens = 10, .waiting = 1, .adapters = 1, .overtaken = 2}, pool);
  narrow.add(sequence(1, 9, root));
  run(narrow);
  narrow.append(1, 7);
  narrow.pause(1, true);
  EXPECT_EQ(narrow.add(sequence(2, 3, root)), Scheduler::Added::yes);
  EXPECT_THAT(run(narrow), ElementsAre(Planned{2, 0, 3, true}));
  narrow.pause(1, false);
  EXPECT_THAT(run(narrow), IsEmpty()) << "2 has the place now";
  narrow.remove(2);
  EXPECT_THAT(run(narrow), ElementsAre(Planned{1, 8, 2, true})) << "two pages were published";
  narrow.pause(1, true);
  narrow.remove(1);
  EXPECT_EQ(narrow.running() + narrow.waiting(), 0U);
  EXPECT_EQ(pool.available(), pool.pages());
}

TEST_F(SchedulerTest, adapters_without_a_place_let_others_pass_for_a_while) {
  Scheduler narrow({.sequences = 4, .step_tokens = 10, .waiting = 8, .adapters = 1, .overtaken = 2}, pool);
  const auto with = [&](SequenceId id, std::uint64_t adapter) {
    NewSequence out = sequence(id, 2, root);
    out.adapter = adapter;
    return out;
  };
  narrow.add(with(1, 5));
  narrow.add(with(2, 6));
  narrow.add(with(3, 5));
  EXPECT_THAT(run(narrow), ElementsAre(Planned{1, 0, 2, true}, Planned{3, 0, 2, true}));
  narrow.add(with(4, 0));
  EXPECT_THAT(run(narrow), ElementsAre(Planned{4, 0, 2, true}));
  narrow.add(with(5, 5));
  EXPECT_THAT(run(narrow), IsEmpty()) << "2 has been passed often enough";
  narrow.remove(1);
  EXPECT_THAT(run(narrow), IsEmpty());
  narrow.remove(3);
  EXPECT_THAT(run(narrow), ElementsAre(Planned{2, 0, 2, true})) << "and 5 needs the place that 2 has now";
  narrow.remove(2);
  EXPECT_THAT(run(narrow), ElementsAre(Planned{5, 0, 2, true}));
}

TEST_F(SchedulerTest, a_long_prompt_does_not_stop_those_that_are_being_continued) {
  scheduler.add(sequence(1, 2, root));
  run(scheduler);
  scheduler.append(1, 7);
  scheduler.add(sequence(2, 30, root));
  EXPECT_THAT(run(scheduler), ElementsAre(Planned{1, 2, 1, true}, Planned{2, 0, 9, false}));
  scheduler.append(1, 8);
  EXPECT_THAT(run(scheduler), ElementsAre(Planned{1, 3, 1, true}, Planned{2, 9, 9, false}));
}

TEST_F(SchedulerTest, the_prompt_that_came_first_goes_first_and_the_next_takes_what_is_left) {
  scheduler.add(sequence(1, 12, root));
  scheduler.add(sequence(2, 5, root));
  EXPECT_THAT(run(scheduler), ElementsAre(Planned{1, 0, 10, false}));
  EXPECT_THAT(run(scheduler), ElementsAre(Planned{1, 10, 2, true}, Planned{2, 0, 5, true}));
}

TEST_F(SchedulerTest, refuses_what_does_not_fit_and_what_nobody_can_wait_for) {
  EXPECT_EQ(scheduler.add({.id = 1, .tokens = prompt(4), .longest = 64 * 4 + 1, .root = root}),
            Scheduler::Added::too_long);
  for (SequenceId id = 1; id <= 3; ++id) EXPECT_EQ(scheduler.add(sequence(id, 3, root)), Scheduler::Added::yes);
  EXPECT_EQ(scheduler.add(sequence(4, 3, root)), Scheduler::Added::queue_is_full);
  run(scheduler);
  EXPECT_EQ(scheduler.running(), 3U);
  EXPECT_EQ(scheduler.add(sequence(4, 3, root)), Scheduler::Added::yes);
}

TEST_F(SchedulerTest, the_same_beginning_is_computed_once) {
  scheduler.add({.id = 1, .tokens = prompt(9), .longest = 20, .root = root});
  run(scheduler);
  scheduler.add({.id = 2, .tokens = prompt(10), .longest = 20, .root = root});
  scheduler.add({.id = 3, .tokens = prompt(10), .longest = 20, .root = root, .reuse = false});
  EXPECT_THAT(run(scheduler), ElementsAre(Planned{2, 8, 2, true}, Planned{3, 0, 8, false}));
  EXPECT_EQ(scheduler.reused_tokens(), 8U);
}

TEST_F(SchedulerTest, choices_of_one_prompt_wait_for_it_and_share_its_pages) {
  NewSequence second = sequence(1, 13, root);
  second.id = 2;
  second.after = 1;
  scheduler.add(sequence(1, 13, root));
  scheduler.add(second);
  EXPECT_THAT(run(scheduler), ElementsAre(Planned{1, 0, 10, false}));
  EXPECT_THAT(run(scheduler), ElementsAre(Planned{1, 10, 3, true}));
  EXPECT_THAT(run(scheduler), ElementsAre(Planned{2, 12, 1, true}));
}

TEST_F(SchedulerTest, choices_of_a_prompt_that_is_gone_begin_by_themselves) {
  NewSequence second = sequence(1, 5, root);
  second.id = 2;
  second.after = 1;
  scheduler.add(sequence(1, 5, root));
  scheduler.add(second);
  scheduler.remove(1);
  EXPECT_THAT(run(scheduler), ElementsAre(Planned{2, 0, 5, true}));
}

TEST(SchedulerPages, the_last_to_come_gives_way_and_begins_again_with_what_it_had_put_out) {
  PagePool pool(4, 2);
  Scheduler scheduler({.sequences = 4, .step_tokens = 16, .waiting = 4}, pool);
  const Beginning root = pool.root();
  scheduler.add({.id = 1, .tokens = prompt(3), .longest = 8, .root = root});
  run(scheduler);
  scheduler.add({.id = 2, .tokens = prompt(2, 50), .longest = 8, .root = root});
  scheduler.append(1, 90);
  EXPECT_THAT(run(scheduler), ElementsAre(Planned{1, 3, 1, true}, Planned{2, 0, 2, true}));
  scheduler.append(1, 91), scheduler.append(2, 92);
  EXPECT_THAT(run(scheduler), ElementsAre(Planned{1, 4, 1, true})) << "three and two pages are one too many";
  EXPECT_EQ(scheduler.preempted(), 1U);
  EXPECT_EQ(scheduler.waiting(), 1U);
  scheduler.remove(1);
  const std::vector<Piece> again = scheduler.plan();
  ASSERT_EQ(again.size(), 1U);
  EXPECT_TRUE(again[0].last);
  EXPECT_EQ(again[0].tokens.back(), 92U);
  scheduler.done();
}

/// What a page would hold: the root and all tokens up to its last position.
using History = std::vector<std::uint64_t>;

class Simulation {
 public:
  explicit Simulation(unsigned seed) : random_(seed) {}

  void run() {
    const Beginning roots[] = {pool_.root(), pool_.root(), pool_.root()};
    SequenceId next = 1;
    for (int step = 0; step < 400; ++step) {
      if (step < 300 && random_() % 2 == 0) {
        const std::size_t adapter = random_() % 3;
        add(next++, adapter, roots[adapter]);
      }
      if (random_() % 5 == 0) pause();
      if (!live_.empty() && random_() % 23 == 0) {
        scheduler_.remove(live_.begin()->first);
        live_.erase(live_.begin());
      }
      one_step();
      if (::testing::Test::HasFatalFailure()) return;
    }
    for (const SequenceId id : paused_) scheduler_.pause(id, false);
    paused_.clear();
    while (!live_.empty()) {
      const std::size_t before = put_out_;
      for (int i = 0; i < 10; ++i) one_step();
      ASSERT_GT(put_out_, before) << "it goes on";
    }
    EXPECT_EQ(pool_.available(), pool_.pages()) << "no page is lost";
    EXPECT_GT(scheduler_.preempted(), 0U);
    EXPECT_GT(scheduler_.reused_tokens(), 0U);
  }

 private:
  struct Live {
    Beginning root;
    std::vector<std::uint32_t> tokens;
    std::size_t longest;
  };

  /// Somebody, for a while.
  void pause() {
    for (const SequenceId id : paused_) scheduler_.pause(id, false);
    paused_.clear();
    for (const auto& [id, live] : live_)
      if (random_() % 4 == 0) {
        scheduler_.pause(id, true);
        paused_.insert(id);
      }
  }

  void add(SequenceId id, std::uint64_t adapter, Beginning root) {
    Live live{root, prompt(1 + random_() % 30, static_cast<std::uint32_t>(random_() % 2)), 0};
    live.longest = live.tokens.size() + 1 + random_() % 12;
    NewSequence given{.id = id,
                      .tokens = live.tokens,
                      .longest = live.longest,
                      .root = root,
                      .adapter = adapter,
                      .reuse = random_() % 4 != 0};
    if (scheduler_.add(std::move(given)) == Scheduler::Added::yes) live_[id] = std::move(live);
  }

  History history(const Live& live, std::size_t end) const {
    History out{live.root};
    out.insert(out.end(), live.tokens.begin(), live.tokens.begin() + static_cast<std::ptrdiff_t>(end));
    return out;
  }

  History& held(Page page, std::size_t position) { return held_[std::pair(page, position % 4)]; }

  void one_step() {
    const std::vector<Piece> pieces = scheduler_.plan();
    std::size_t tokens = 0;
    std::map<Page, SequenceId> written;
    std::vector<SequenceId> last;
    for (const Piece& piece : pieces) {
      const Live& live = live_.at(piece.id);
      ASSERT_FALSE(piece.tokens.empty());
      ASSERT_FALSE(paused_.contains(piece.id));
      tokens += piece.tokens.size();
      // What is before the piece was computed, and by a sequence with the same beginning.
      for (std::size_t position = 0; position < piece.position; ++position)
        ASSERT_EQ(held(piece.pages[position / 4], position), history(live, position + 1));
      for (std::size_t i = 0; i < piece.tokens.size(); ++i) {
        const std::size_t position = piece.position + i;
        ASSERT_EQ(piece.tokens[i], live.tokens[position]);
        const Page page = piece.pages[position / 4];
        ASSERT_EQ(written.try_emplace(page, piece.id).first->second, piece.id) << "two write to one page";
        held(page, position) = history(live, position + 1);
      }
      if (piece.last) last.push_back(piece.id);
    }
    ASSERT_LE(tokens, 12U);
    ASSERT_LE(pieces.size(), 5U);
    scheduler_.done();
    for (const SequenceId id : last) put_out(id);
  }

  void put_out(SequenceId id) {
    Live& live = live_.at(id);
    ++put_out_;
    if (live.tokens.size() == live.longest) {
      scheduler_.remove(id);
      live_.erase(id);
      return;
    }
    live.tokens.push_back(static_cast<std::uint32_t>(random_() % 2));
    scheduler_.append(id, live.tokens.back());
  }

  std::mt19937 random_;
  PagePool pool_{14, 4};
  Scheduler scheduler_{{.sequences = 5, .step_tokens = 12, .waiting = 8, .adapters = 1, .overtaken = 3}, pool_};
  std::set<SequenceId> paused_;
  std::map<SequenceId, Live> live_;
  std::map<std::pair<Page, std::size_t>, History> held_;
  std::size_t put_out_ = 0;
};

TEST(SchedulerSimulation, no_sequence_ever_reads_what_another_one_wrote_and_all_come_to_an_end) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    Simulation(seed).run();
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace stackgate::inference
