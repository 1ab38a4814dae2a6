#include "services/datastore/lfs/large_files.hpp"

#include <atomic>
#include <barrier>
#include <thread>
#include <utility>

#include <gmock/gmock.h>

#include "services/kit/web/answer.hpp"
#include "tests/datastore/lfs/files_support.hpp"

namespace stackgate::datastore::lfs {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

const auto keep_nothing = [](std::int64_t, const std::function<void(std::string_view)>&) -> Expected<void> {
  return {};
};

TEST_P(Files, ReceiveStoresAndLinksWhatMatches) {
  const std::string bytes(100'000, 'x'), oid = oid_of(bytes);
  ASSERT_TRUE(objects->receive(1, oid, bytes.size(), bytes_source(bytes)));
  EXPECT_THAT(keys(), ElementsAre("lfs/" + oid.substr(0, 2) + "/" + oid.substr(2, 2) + "/" + oid));
  const auto stat = objects->stat(1, oid);
  ASSERT_TRUE(stat && *stat);
  EXPECT_EQ((*stat)->size, bytes.size());
  EXPECT_EQ((*stat)->state, State::trusted);
  EXPECT_EQ(read(**stat), bytes);
  EXPECT_EQ(read(**stat, 99'990), std::string(10, 'x'));
}

TEST_P(Files, OtherRepositoriesDoNotSeeIt) {
  const std::string bytes = "secret", oid = oid_of(bytes);
  ASSERT_TRUE(objects->receive(1, oid, bytes.size(), bytes_source(bytes)));
  EXPECT_EQ(*objects->stat(2, oid), std::nullopt);
  EXPECT_FALSE(*objects->is_linked(2, oid));
  EXPECT_EQ(objects->confirm(2, oid, bytes.size()).error().fault, ServiceFault::missing)
      << "a repository cannot get a link by claiming that it uploaded";
}

TEST_P(Files, ReceiveLeavesNoTraceOfWrongBytes) {
  const std::string bytes(5000, 'x'), oid = oid_of(bytes);
  const struct {
    std::string sent;
    std::uint64_t size;
    std::string says;
  } cases[] = {
      {std::string(5000, 'y'), 5000, "have the SHA-256"},
      {std::string(4999, 'x'), 5000, "4999 bytes came"},
      {std::string(5001, 'x'), 5000, "more bytes came"},
      {bytes, 4999, "more bytes came"},
      {"", 5000, "0 bytes came"},
  };
  for (const auto& c : cases) {
    const auto done = objects->receive(1, oid, c.size, bytes_source(c.sent));
    ASSERT_FALSE(done) << c.says;
    EXPECT_EQ(done.error().fault, ServiceFault::invalid);
    EXPECT_THAT(done.error().message, HasSubstr(c.says));
    EXPECT_THAT(keys(), IsEmpty());
    EXPECT_FALSE(*objects->is_linked(1, oid));
  }
}

TEST_P(Files, ReceiveLeavesNoTraceOfABodyThatEndsEarly) {
  const std::string bytes(5000, 'x');
  int calls = 0;
  const auto done = objects->receive(1, oid_of(bytes), 5000, [&](std::span<char> space) {
    using Got = Expected<std::size_t>;
    if (++calls == 2)
      return Got(std::unexpect, ServiceError{.fault = ServiceFault::body, .message = "too slow", .status = 408});
    space[0] = 'x';
    return Got(1);
  });
  ASSERT_FALSE(done);
  EXPECT_EQ(web::status_of(done.error()), 408);
  EXPECT_THAT(keys(), IsEmpty());
}

TEST_P(Files, AFileThatIsHereIsNotLinkedWithoutItsBytes) {
  const std::string bytes = "secret", oid = oid_of(bytes);
  ASSERT_TRUE(objects->receive(1, oid, bytes.size(), bytes_source(bytes)));
  EXPECT_FALSE(objects->receive(2, oid, bytes.size(), bytes_source("guess!")));
  EXPECT_FALSE(*objects->is_linked(2, oid));
  EXPECT_TRUE(objects->receive(2, oid, bytes.size(), bytes_source(bytes)));
  EXPECT_TRUE(*objects->is_linked(2, oid));
  EXPECT_EQ(read(**objects->stat(1, oid)), bytes);
}

TEST_P(Files, TheSameFileMayComeSeveralTimesAtOnce) {
  const std::string bytes(300'000, 'z'), oid = oid_of(bytes);
  std::atomic<int> stored = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([&, i] {
        if (objects->receive(1 + i % 3, oid, bytes.size(), bytes_source(bytes))) ++stored;
      });
  }
  EXPECT_EQ(stored, 8);
  for (int i = 1; i <= 3; ++i) EXPECT_TRUE(*objects->is_linked(i, oid));
  EXPECT_EQ(keys().size(), 1U);
  EXPECT_TRUE(objects->fsck(true)->clean());
}

TEST_P(Files, TakesInBytesOfAnUnknownHash) {
  const std::string bytes(10'000, 'q');
  const auto taken = objects->take_in(1, 0, bytes_source(bytes));
  ASSERT_TRUE(taken) << taken.error().message;
  EXPECT_EQ(taken->oid, oid_of(bytes));
  EXPECT_TRUE(*objects->is_linked(1, taken->oid));
  EXPECT_EQ(keys().size(), 1U);
  EXPECT_EQ(objects->take_in(1, 9'999, bytes_source(bytes)).error().fault, ServiceFault::too_large);
}

TEST_P(Files, LooksUpABatchInOneGo) {
  std::vector<std::string> wanted;
  for (int i = 0; i < 100; ++i) {
    const std::string bytes = "file " + std::to_string(i);
    wanted.push_back(oid_of(bytes));
    if (i % 2 == 0) {
      ASSERT_TRUE(objects->receive(i % 4 == 0 ? 1 : 2, wanted.back(), bytes.size(), bytes_source(bytes)));
    }
  }
  const auto known = objects->look_up(1, wanted);
  ASSERT_TRUE(known) << known.error().message;
  EXPECT_EQ(known->size(), 50U);
  EXPECT_EQ(std::ranges::count_if(*known, &Known::linked), 25);
  EXPECT_TRUE(objects->look_up(1, {})->empty());
  const std::vector<std::string> odd = {"'; DROP TABLE lfs_objects; --", "\",\""};
  EXPECT_TRUE(objects->look_up(1, odd)->empty());
}

TEST_P(Files, LinksForWhoMayRead) {
  const std::string bytes = "shared", oid = oid_of(bytes);
  EXPECT_EQ(objects->link(2, oid).error().fault, ServiceFault::missing);
  ASSERT_TRUE(objects->receive(1, oid, bytes.size(), bytes_source(bytes)));
  EXPECT_THAT(*objects->holders(oid, 2), ElementsAre(1));
  ASSERT_TRUE(objects->link(2, oid));
  EXPECT_TRUE(*objects->is_linked(2, oid));
  ASSERT_TRUE(objects->unlink(2, oid));
  EXPECT_FALSE(*objects->is_linked(2, oid));
  EXPECT_TRUE(*objects->is_linked(1, oid));
}

TEST_P(Files, HoldsTheLimits) {
  LargeFiles limited(*database, *store, {.file = 100, .repository = 150, .total = 220});
  const auto send = [&](std::int64_t repository, char c, std::size_t size) {
    const std::string bytes(size, c);
    const auto done = limited.receive(repository, oid_of(bytes), size, bytes_source(bytes));
    return done ? 200 : web::status_of(done.error());
  };
  EXPECT_EQ(send(1, 'a', 101), 413);
  EXPECT_EQ(send(1, 'a', 100), 200);
  EXPECT_EQ(send(1, 'b', 51), 507);
  EXPECT_EQ(send(1, 'b', 50), 200);
  EXPECT_EQ(send(2, 'c', 71), 507);
  EXPECT_EQ(send(2, 'c', 70), 200);
  EXPECT_EQ(limited.usage(1)->repository, 150U);
  EXPECT_EQ(limited.usage(1)->total, 220U);
}

TEST_P(Files, WhatIsThereAlreadyIsNotCountedTwice) {
  LargeFiles limited(*database, *store, {.repository = 100});
  const std::string bytes(100, 'a'), oid = oid_of(bytes);
  put(incoming_key(1, oid), bytes);
  ASSERT_TRUE(limited.confirm(1, oid, bytes.size()));
  ASSERT_TRUE(limited.promote());
  EXPECT_EQ((*limited.stat(1, oid))->state, State::trusted);
  EXPECT_TRUE(limited.receive(1, oid, bytes.size(), bytes_source(bytes)));
  EXPECT_EQ(limited.receive(1, oid_of("b"), 1, bytes_source("b")).error().fault, ServiceFault::quota);
}

TEST_P(Files, AReaderThatLookedBeforeTheHashingFindsTheFileAfterIt) {
  const std::string bytes = "about to move", oid = oid_of(bytes);
  put(incoming_key(1, oid), bytes);
  ASSERT_TRUE(objects->confirm(1, oid, bytes.size()));
  const Stat before = **objects->stat(1, oid);
  ASSERT_TRUE(*objects->promote());
  EXPECT_EQ(read(before), bytes);
}

TEST_P(Files, ADirectUploadIsItsRepositorysUntilItIsHashed) {
  const std::string bytes = "straight to the store", oid = oid_of(bytes);
  EXPECT_EQ(objects->confirm(1, oid, bytes.size()).error().fault, ServiceFault::missing);
  put(incoming_key(1, oid), bytes);
  ASSERT_TRUE(objects->confirm(1, oid, bytes.size()));
  const auto stat = objects->stat(1, oid);
  ASSERT_TRUE(stat && *stat);
  EXPECT_EQ((*stat)->state, State::unverified);
  EXPECT_EQ(read(**stat), bytes);
  EXPECT_FALSE(*objects->is_linked(2, oid));
  EXPECT_TRUE(*objects->promote());
  EXPECT_EQ((*objects->stat(1, oid))->state, State::trusted);
  EXPECT_EQ(read(**objects->stat(1, oid)), bytes);
  EXPECT_THAT(keys(), ElementsAre(key_of(oid)));
  EXPECT_FALSE(*objects->promote()) << "nothing more waits";
}

TEST_P(Files, ADirectUploadOfWrongBytesIsDropped) {
  const std::string bytes = "what was promised", oid = oid_of(bytes);
  put(incoming_key(1, oid), "what arrived, then");
  EXPECT_EQ(objects->confirm(1, oid, bytes.size()).error().fault, ServiceFault::invalid) << "another size";
  EXPECT_THAT(keys(), IsEmpty());
  put(incoming_key(1, oid), "what_was_promised");
  ASSERT_TRUE(objects->confirm(1, oid, bytes.size()));
  EXPECT_TRUE(*objects->promote());
  EXPECT_FALSE(*objects->is_linked(1, oid));
  EXPECT_THAT(keys(), IsEmpty());
}

TEST_P(Files, WrongBytesNeverReplaceWhatOthersHave) {
  const std::string bytes = "the original", oid = oid_of(bytes);
  ASSERT_TRUE(objects->receive(1, oid, bytes.size(), bytes_source(bytes)));
  put(incoming_key(2, oid), "the_forgery!");
  ASSERT_TRUE(objects->confirm(2, oid, bytes.size()));
  EXPECT_EQ(read(**objects->stat(1, oid)), bytes);
  EXPECT_EQ(read(**objects->stat(2, oid)), "the_forgery!") << "its own unverified upload, not the original";
  EXPECT_TRUE(*objects->promote());
  EXPECT_FALSE(*objects->is_linked(2, oid));
  EXPECT_EQ(read(**objects->stat(1, oid)), bytes);
}

TEST_P(Files, CollectsWhatNoPointerNames) {
  const std::string kept = "kept", lost = "lost", both = "both";
  for (const auto& bytes : {kept, lost, both})
    ASSERT_TRUE(objects->receive(1, oid_of(bytes), bytes.size(), bytes_source(bytes)));
  ASSERT_TRUE(objects->link(2, oid_of(both)));
  const auto referenced = [&](std::int64_t repository,
                              const std::function<void(std::string_view)>& visit) -> Expected<void> {
    if (repository == 1) visit(oid_of(kept));
    if (repository == 2) visit(oid_of(both));
    return {};
  };
  const auto early = objects->collect(std::chrono::hours(1), referenced);
  ASSERT_TRUE(early) << early.error().message;
  EXPECT_EQ(early->unlinked + early->removed, 0U) << "too young";
  // A file linked again a moment ago survives the first round; its time is up in the second.
  const auto done = objects->collect(std::chrono::seconds(-1), referenced);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->unlinked, 2U);
  EXPECT_EQ(done->removed, 1U);
  EXPECT_EQ(done->bytes, lost.size());
  EXPECT_THAT(keys(), UnorderedElementsAre(key_of(oid_of(kept)), key_of(oid_of(both))));
  EXPECT_TRUE(*objects->is_linked(1, oid_of(kept)));
  EXPECT_TRUE(*objects->is_linked(2, oid_of(both)));
  EXPECT_TRUE(objects->fsck(true)->clean());
}

TEST_P(Files, WhatACommitIsAboutToNameIsNotCollected) {
  ASSERT_TRUE(objects->receive(1, oid_of("x"), 1, bytes_source("x")));
  for (const std::string table : {"lfs_links", "lfs_objects"})
    ASSERT_TRUE(database->run("UPDATE " + table + " SET touched_at = 1000"));
  ASSERT_TRUE(objects->confirm(1, oid_of("x"), 1));
  EXPECT_EQ(objects->collect(std::chrono::minutes(10), keep_nothing)->unlinked, 0U);
  EXPECT_TRUE(*objects->is_linked(1, oid_of("x")));
  ASSERT_TRUE(database->run("UPDATE lfs_links SET touched_at = 1000"));
  EXPECT_EQ(objects->collect(std::chrono::minutes(10), keep_nothing)->removed, 1U);
}

TEST_P(Files, ARepositoryThatCannotBeReadKeepsEverything) {
  ASSERT_TRUE(objects->receive(1, oid_of("x"), 1, bytes_source("x")));
  const auto unreadable = [](std::int64_t, const std::function<void(std::string_view)>&) -> Expected<void> {
    return std::unexpected(ServiceError{ServiceFault::missing, "the volume is away"});
  };
  ASSERT_TRUE(objects->collect(std::chrono::seconds(-1), unreadable));
  EXPECT_TRUE(*objects->is_linked(1, oid_of("x")));
}

TEST_P(Files, FilesOfADeletedRepositoryGo) {
  ASSERT_TRUE(objects->receive(1, oid_of("x"), 1, bytes_source("x")));
  ASSERT_TRUE(database->run("DELETE FROM repositories WHERE id = 1"));
  EXPECT_EQ(objects->collect(std::chrono::seconds(-1), keep_nothing)->removed, 1U);
  EXPECT_THAT(keys(), IsEmpty());
}

TEST_P(Files, OrphansInTheStoreGo) {
  put(key_of(oid_of("stored before a crash")), "stored before a crash");
  put("incoming/1/" + oid_of("never confirmed"), "never confirmed");
  put("incoming/1/" + oid_of("parts") + ".0123456789abcdef/00001", "part");
  EXPECT_EQ(objects->collect(std::chrono::hours(1), keep_nothing)->orphans, 0U);
  EXPECT_EQ(objects->collect(std::chrono::seconds(-1), keep_nothing)->orphans, 3U);
  EXPECT_THAT(keys(), IsEmpty());
}

TEST_P(Files, AnUploadWaitsUntilItsFileHasBeenRemovedAndStoresItAnew) {
  const std::string bytes = "going and coming", oid = oid_of(bytes);
  ASSERT_TRUE(objects->receive(1, oid, bytes.size(), bytes_source(bytes)));
  ASSERT_TRUE(objects->unlink(1, oid));
  // A collector in the middle of its three steps.
  ASSERT_TRUE(database->run("UPDATE lfs_objects SET state = 'deleting' WHERE oid = $1", {oid}));
  std::jthread collector([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    EXPECT_TRUE(store->remove(key_of(oid)));
    EXPECT_TRUE(database->run("DELETE FROM lfs_objects WHERE oid = $1", {oid}));
  });
  const auto again = objects->receive(2, oid, bytes.size(), bytes_source(bytes));
  // What it wrote was removed with the rest: it must not claim otherwise.
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().fault, ServiceFault::unavailable);
  EXPECT_FALSE(*objects->is_linked(2, oid));
  EXPECT_TRUE(objects->receive(2, oid, bytes.size(), bytes_source(bytes)));
  EXPECT_TRUE(objects->fsck(true)->clean());
}

TEST_P(Files, UploadsAndCollectionAtOnceLoseNothing) {
  std::jthread collector([&](const std::stop_token& stop) {
    while (!stop.stop_requested())
      EXPECT_TRUE(objects->collect(std::chrono::seconds(-1), [&](std::int64_t, const auto& visit) -> Expected<void> {
        for (int i = 0; i < 10; ++i) visit(oid_of("race " + std::to_string(i)));
        return {};
      }));
  });
  for (int round = 0; round < 30; ++round)
    for (int i = 0; i < 10; ++i) {
      const std::string bytes = "race " + std::to_string(i), oid = oid_of(bytes);
      const auto done = objects->receive(1, oid, bytes.size(), bytes_source(bytes));
      if (!done) {
        EXPECT_EQ(done.error().fault, ServiceFault::unavailable) << done.error().message;
        continue;
      }
      const auto stat = objects->stat(1, oid);
      ASSERT_TRUE(stat) << stat.error().message;
      ASSERT_TRUE(*stat) << "acknowledged and gone";
      EXPECT_EQ(read(**stat), bytes);
      if (round % 3 == 0) {
        EXPECT_TRUE(objects->unlink(1, oid));
      }
    }
}

TEST_P(Files, FsckTellsWhatIsWrong) {
  for (const std::string bytes : {"gone", "short", "rotten", "fine"})
    ASSERT_TRUE(objects->receive(1, oid_of(bytes), bytes.size(), bytes_source(bytes)));
  ASSERT_TRUE(store->remove(key_of(oid_of("gone"))));
  put(key_of(oid_of("short")), "shor");
  put(key_of(oid_of("rotten")), "rotTen");
  EXPECT_EQ(objects->fsck(false)->faults.size(), 2U);
  const auto all = objects->fsck(true);
  EXPECT_THAT(all->faults, UnorderedElementsAre(HasSubstr("not in the object store"), HasSubstr("has 4 bytes"),
                                                HasSubstr("hash to")));
  EXPECT_EQ(all->files, 4U);
}

TEST_P(Files, ABatchOfAHundredIsLookedUpInMilliseconds) {
  std::vector<std::string> wanted;
  for (int i = 0; i < 100; ++i) wanted.push_back(oid_of(std::to_string(i)));
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(objects->look_up(1, wanted));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(50 * 5));
}

TEST_P(Files, UploadsAtOnceDoNotPassALimitTogether) {
  for (const Limits limits : {Limits{.repository = 1000}, Limits{.total = 1000}}) {
    LargeFiles limited(*database, *store, limits);
    std::barrier<> all_admitted(6);
    std::atomic<int> stored = 0, refused = 0;
    {
      std::vector<std::jthread> senders;
      for (int i = 0; i < 6; ++i)
        senders.emplace_back([&, i] {
          const std::string bytes(400, static_cast<char>('a' + i));
          bool waited = false;
          const auto done =
              limited.receive(2, oid_of(bytes), bytes.size(), [&, source = bytes_source(bytes)](auto space) mutable {
                if (!std::exchange(waited, true)) all_admitted.arrive_and_wait();
                return source(space);
              });
          if (done)
            ++stored;
          else if (done.error().fault == ServiceFault::quota)
            ++refused;
          else
            ADD_FAILURE() << done.error().message;
        });
    }
    EXPECT_EQ(stored, 2);
    EXPECT_EQ(refused, 4);
    EXPECT_EQ(limited.usage(2)->repository, 800U);
    EXPECT_EQ(keys("lfs/").size(), 2U) << "of those that were refused no bytes stay";
    const std::string more(201, 'm');
    put(incoming_key(2, oid_of(more)), more);
    EXPECT_EQ(limited.confirm(2, oid_of(more), more.size()).error().fault, ServiceFault::quota);
    for (const char* statement :
         {"DELETE FROM lfs_links WHERE repository_id = 2", "DELETE FROM lfs_incoming WHERE repository_id = 2"})
      ASSERT_TRUE(database->run(statement));
    ASSERT_TRUE(limited.collect(std::chrono::seconds(-10), keep_nothing));
  }
}

INSTANTIATE_TEST_SUITE_P(On, Files, both_engines, engine_name);

}  // namespace
}  // namespace stackgate::datastore::lfs
