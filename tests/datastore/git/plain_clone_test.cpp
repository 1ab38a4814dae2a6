#include "services/datastore/git/plain_clone.hpp"

#include <gtest/gtest.h>

#include "services/datastore/git/child.hpp"
#include "services/datastore/git/pkt_line.hpp"
#include "services/datastore/git/references.hpp"
#include "tests/datastore/git/real_git_support.hpp"

namespace stackgate::datastore::git::test {
namespace {

const std::string one(40, '1'), two(40, '2');

std::string request_of(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) {
    if (line == "0000" || line == "0001") {
      out += line;
    } else {
      append_pkt(out, line);
    }
  }
  return out;
}

/// What bands 1 and 3 carry; fails on anything that is no section "packfile" with a flush behind it.
std::pair<std::string, std::string> bands_of(std::string_view answer) {
  std::pair<std::string, std::string> out;
  EXPECT_EQ(next_pkt(answer).payload, "packfile\n");
  for (;;) {
    const Pkt line = next_pkt(answer);
    if (line.kind == Pkt::Kind::flush) break;
    if (line.kind != Pkt::Kind::data || line.payload.empty()) {
      ADD_FAILURE() << "no band";
      break;
    }
    (line.payload[0] == 1 ? out.first : out.second) += line.payload.substr(1);
  }
  EXPECT_TRUE(answer.empty());
  return out;
}

TEST(PlainClones, AreReadAsGitAsksForThem) {
  const auto clone = parse_plain_clone(
      request_of({"command=fetch", "agent=git/2.39.5", "object-format=sha1", "0001", "thin-pack", "no-progress",
                  "include-tag", "ofs-delta", "want " + one + "\n", "want " + two + "\n", "done\n", "0000"}));
  ASSERT_TRUE(clone);
  EXPECT_TRUE(clone->thin && clone->offsets && clone->tags);
  EXPECT_EQ(clone->wants, (std::vector<Oid>{one, two}));
  EXPECT_EQ(pack_revisions(*clone), one + "\n" + two + "\n--not\n\n");
  const auto bare =
      parse_plain_clone(request_of({"command=fetch", "0001", "no-progress", "want " + one, "done", "0000"}));
  ASSERT_TRUE(bare);
  EXPECT_EQ(pack_arguments("/r", *bare),
            (std::vector<std::string>{"--git-dir=/r", "pack-objects", "--revs", "--stdout"}));
}

TEST(PlainClones, LeaveWhateverElseIsAskedToGit) {
  const std::string want = "want " + one;
  for (const auto& lines : std::vector<std::vector<std::string>>{
           {"command=ls-refs", "0001", "no-progress", want, "done", "0000"},
           {"command=fetch", "0001", want, "done", "0000"},                                     // with progress
           {"command=fetch", "0001", "no-progress", want, "0000"},                              // negotiates
           {"command=fetch", "0001", "no-progress", "done", "0000"},                            // wants nothing
           {"command=fetch", "0001", "no-progress", want, "have " + two, "done", "0000"},       //
           {"command=fetch", "0001", "no-progress", want, "deepen 1", "done", "0000"},          //
           {"command=fetch", "0001", "no-progress", want, "shallow " + two, "done", "0000"},    //
           {"command=fetch", "0001", "no-progress", want, "filter blob:none", "done", "0000"},  //
           {"command=fetch", "0001", "no-progress", want, "sideband-all", "done", "0000"},      //
           {"command=fetch", "0001", "no-progress", "want-ref refs/heads/x", "done", "0000"},   //
           {"command=fetch", "0001", "no-progress", "want --all", "done", "0000"},              // an option, to git
           {"command=fetch", "0001", "no-progress", want + "\n--all", "done", "0000"},          //
           {"command=fetch", "object-format=sha256", "0001", "no-progress", want, "done", "0000"},
           {"command=fetch", "session-id=x", "0001", "no-progress", want, "done", "0000"},
           {"command=fetch", "no-progress", want, "done", "0000"},
           {"command=fetch", "0001", "no-progress", want, "done", "0000", "0000"},
           {"command=fetch", "0001", "no-progress", want, "done"},
           {"0000"},
           {}})
    EXPECT_FALSE(parse_plain_clone(request_of(lines))) << request_of(lines);
}

TEST(PackSections, CarryEveryByteInLinesThatGitTakes) {
  const std::string pack(200'000, 'x');
  PackSection section;
  std::string answer;
  section.add(answer, {});
  for (const std::size_t size : {1UZ, 65'515UZ, 65'516UZ, 68'968UZ})
    section.add(answer, std::string_view(pack).substr(0, size));
  PackSection::end(answer, true);
  const auto [good, bad] = bands_of(answer);
  EXPECT_TRUE(good == pack) << good.size();
  EXPECT_EQ(bad, "");
}

TEST(PackSections, SayWhenThePackIsNotWhole) {
  PackSection section;
  std::string answer;
  section.add(answer, "PACK");
  PackSection::end(answer, false);
  EXPECT_TRUE(bands_of(answer).second.contains("could not be finished"));
}

TEST(PlainClones, GiveGitAPackWithAllThatTheReferencesReach) {
  const Fresh from, to;
  commit_files(from.path, {{"a", "one"}, {"b/c", std::string(100'000, 'y')}});
  const Oid main = commit_files(from.path, {{"a", "two"}});
  shell_git(from.path, "-c user.name=a -c user.email=a@example.org tag -a -m v v1 main");
  const Oid tag = shell_git(from.path, "rev-parse v1").substr(0, 40);
  const PlainClone clone{.wants = {main}, .thin = true, .offsets = true, .tags = true};
  std::string answer;
  PackSection section;
  const auto pack = run_git({.arguments = pack_arguments(from.path, clone)}, pack_revisions(clone));
  ASSERT_TRUE(pack) << pack.error().message;
  section.add(answer, *pack);
  PackSection::end(answer, true);
  ASSERT_TRUE(
      run_git({.arguments = {"--git-dir=" + to.path, "index-pack", "--stdin", "--strict"}}, bands_of(answer).first));
  EXPECT_EQ(shell_git(to.path, "rev-list --objects --count " + tag),
            shell_git(from.path, "rev-list --objects --count v1"));
}

TEST(PlainClones, FailForWhatIsNotThere) {
  const Fresh from;
  const PlainClone clone{.wants = {one}};
  EXPECT_FALSE(run_git({.arguments = pack_arguments(from.path, clone)}, pack_revisions(clone)));
}

TEST(Tips, AreWhatReferencesNameNow) {
  const Fresh from;
  const Oid old = commit_files(from.path, {{"a", "one"}}), now = commit_files(from.path, {{"a", "two"}});
  References references;
  EXPECT_TRUE(references.are_tips(from.path, {now}).value());
  EXPECT_TRUE(references.are_tips(from.path, {}).value());
  EXPECT_FALSE(references.are_tips(from.path, {now, old}).value());
  EXPECT_FALSE(references.are_tips(from.path, {one}).value());
  commit_files(from.path, {{"a", "three"}});
  EXPECT_FALSE(references.are_tips(from.path, {now}).value());
}

}  // namespace
}  // namespace stackgate::datastore::git::test
