// Every advertisement and every ls-refs answer, byte by byte beside git's own.
#include "services/datastore/git/references.hpp"

#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "services/datastore/git/child.hpp"
#include "services/datastore/git/pkt_line.hpp"
#include "services/datastore/git/scan_references.hpp"
#include "tests/datastore/git/real_git_support.hpp"

namespace stackgate::datastore::git::test {
namespace {

std::string by_git(const std::string& path, Service service, int version) {
  const std::string name = service == Service::upload_pack ? "upload-pack" : "receive-pack";
  auto out = run_git({.arguments = {name, "--http-backend-info-refs", path},
                      .environment = {"GIT_PROTOCOL=version=" + std::to_string(version)}},
                     {});
  if (!out) throw std::runtime_error(out.error().message);
  return (version == 2 && service == Service::upload_pack ? "" : service_line(service)) + *out;
}

std::string request_text(const LsRefs& request) {
  std::string out;
  append_pkt(out, "command=ls-refs\n");
  append_pkt(out, "object-format=sha1");
  out += pkt_delimiter;
  if (request.peel) append_pkt(out, "peel\n");
  if (request.symrefs) append_pkt(out, "symrefs\n");
  if (request.unborn) append_pkt(out, "unborn\n");
  for (const std::string& prefix : request.prefixes) append_pkt(out, "ref-prefix " + prefix + "\n");
  return out + std::string(pkt_flush);
}

std::string ls_by_git(const std::string& path, const LsRefs& request) {
  auto out = run_git({.arguments = {"upload-pack", "--stateless-rpc", path}, .environment = {"GIT_PROTOCOL=version=2"}},
                     request_text(request));
  if (!out) throw std::runtime_error(out.error().message);
  return *out;
}

/// `in_process`: whether we must have answered without git, once capabilities are learnt.
void same_as_git(References& references, const std::string& path, bool in_process = true) {
  for (const Service service : {Service::upload_pack, Service::receive_pack})
    for (const int version : {0, 2, 1}) {
      const auto ours = references.info_refs(path, service, version);
      ASSERT_TRUE(ours) << ours.error().message;
      EXPECT_EQ(**ours, by_git(path, service, version)) << to_string(service) << " " << version;
    }
  FactsById facts;
  const auto scan = scan_references(path, facts);
  ASSERT_TRUE(scan);
  EXPECT_EQ(!scan->unusual, in_process);
  for (const LsRefs& request : std::vector<LsRefs>{{},
                                                   {true, true, true, {}},
                                                   {true, false, false, {"refs/tags/"}},
                                                   {false, true, false, {"HEAD", "refs/heads/"}},
                                                   {true, true, true, {"refs/heads/main", "refs/heads/ma", "HEAD"}},
                                                   {false, false, true, {"HEAD"}},
                                                   {true, true, false, {"refs/heads/zz", "x"}}}) {
    const auto ours = references.ls_refs(path, request);
    ASSERT_TRUE(ours);
    if (*ours) {
      EXPECT_EQ(**ours, ls_by_git(path, request));
    }
    EXPECT_EQ(ours->has_value(), in_process);
  }
}

/// Learns the capabilities, so that what follows is answered here.
struct Taught {
  References references;
  Fresh teacher;
  Taught() {
    commit_files(teacher.path, {{"a", "1"}});
    for (const Service service : {Service::upload_pack, Service::receive_pack})
      (void)references.info_refs(teacher.path, service, 0);
  }
};

TEST(References, OfAnEmptyRepository) {
  Taught taught;
  const Fresh fresh("trunk");
  same_as_git(taught.references, fresh.path);
}

TEST(References, OfOneBranch) {
  Taught taught;
  same_as_git(taught.references, taught.teacher.path);
}

TEST(References, WithHeadUnbornBesideOtherBranches) {
  Taught taught;
  const Fresh fresh("trunk");
  commit_files(fresh.path, {{"a", "1"}});
  same_as_git(taught.references, fresh.path);
}

TEST(References, WithHeadDetached) {
  Taught taught;
  const Fresh fresh;
  commit_files(fresh.path, {{"a", "1"}});
  shell_git(fresh.path, "update-ref --no-deref HEAD main");
  same_as_git(taught.references, fresh.path);
}

TEST(References, WithTagsOfAllKindsLooseAndPacked) {
  Taught taught;
  const Fresh fresh;
  commit_files(fresh.path, {{"a", "1"}});
  shell("cd '" + fresh.path +
        "' && git tag light && git tag -a -m x annotated && git tag -a -m y nested annotated && git tag tree "
        "main^{tree} && git tag blob main:a && "
        "git tag -a -m z blobtag main:a");
  same_as_git(taught.references, fresh.path);
  shell_git(fresh.path, "pack-refs --all");
  same_as_git(taught.references, fresh.path);
  shell("cd '" + fresh.path +
        "' && git tag -a -m w late && git update-ref -d refs/tags/nested && git branch other && git tag -f -a -m q "
        "annotated >/dev/null");
  same_as_git(taught.references, fresh.path);
}

TEST(References, WithSymbolicOnes) {
  Taught taught;
  const Fresh fresh;
  commit_files(fresh.path, {{"a", "1"}});
  shell("cd '" + fresh.path +
        "' && git tag -a -m x v1 && git symbolic-ref refs/heads/alias refs/heads/main && git symbolic-ref "
        "refs/heads/twice refs/heads/alias && "
        "git symbolic-ref refs/tags/latest refs/tags/v1 && git symbolic-ref HEAD refs/heads/alias");
  same_as_git(taught.references, fresh.path);
  shell_git(fresh.path, "pack-refs --all");
  same_as_git(taught.references, fresh.path);
}

TEST(References, WithOtherFoldersAndOddNames) {
  Taught taught;
  const Fresh fresh;
  commit_files(fresh.path, {{"a", "1"}});
  shell("cd '" + fresh.path +
        "' && for r in refs/notes/x refs/pull/1/head refs/heads/a-b refs/heads/a/b refs/heads/a.b refs/heads/é "
        "refs/x/y 'refs/heads/a%b' refs/stash; "
        "do git update-ref \"$r\" main; done; mkdir -p refs/heads/empty/dirs; touch refs/heads/x.lock");
  same_as_git(taught.references, fresh.path);
}

TEST(References, TenThousandOfThem) {
  Taught taught;
  const Fresh fresh;
  commit_files(fresh.path, {{"a", "1"}});
  shell("cd '" + fresh.path +
        "' && t=$(git rev-parse main) && i=0; while [ $i -lt 10000 ]; do echo \"create refs/heads/b$((i % 97))/$i "
        "$t\"; i=$((i+1)); done | git update-ref --stdin && "
        "git pack-refs --all && git tag -a -m x v1 && git branch loose");
  same_as_git(taught.references, fresh.path);
}

TEST(References, ThatAreBrokenAreLeftToGit) {
  Taught taught;
  const Fresh fresh;
  commit_files(fresh.path, {{"a", "1"}});
  shell("cd '" + fresh.path + "' && echo 1111111111111111111111111111111111111111 > refs/heads/gone");
  same_as_git(taught.references, fresh.path, false);
  shell("cd '" + fresh.path + "' && rm refs/heads/gone && echo junk > refs/heads/junk");
  same_as_git(taught.references, fresh.path, false);
  shell("cd '" + fresh.path + "' && rm refs/heads/junk && git symbolic-ref refs/heads/dangling refs/heads/none");
  same_as_git(taught.references, fresh.path, false);
}

TEST(References, ThatOthersMoveAreNeverStale) {
  Taught taught;
  const Fresh fresh;
  commit_files(fresh.path, {{"a", "0"}});
  const auto wait = [] { std::this_thread::sleep_for(std::chrono::milliseconds(2100)); };
  same_as_git(taught.references, fresh.path);
  wait();
  same_as_git(taught.references, fresh.path);  // remembered from here on
  const std::vector<std::string> changes = {
      "update-ref refs/heads/new main",
      "pack-refs --all",
      "update-ref -d refs/heads/new",
      "symbolic-ref HEAD refs/heads/x",
      "update-ref refs/a/b/c main",
      "symbolic-ref HEAD refs/heads/main",
      "tag -a -m x v1",
      "pack-refs --all",
      "update-ref refs/heads/main $(git -C '" + fresh.path + "' commit-tree -m y main^{tree})"};
  for (const std::string& each : changes) {
    shell_git(fresh.path, each);
    same_as_git(taught.references, fresh.path);
  }
  wait();
  same_as_git(taught.references, fresh.path);
  for (int i = 0; i < 50; ++i) {
    const Oid tip = commit_files(fresh.path, {{"a", std::to_string(i) + "x"}});
    EXPECT_NE((*taught.references.info_refs(fresh.path, Service::upload_pack, 0))->find(tip), std::string::npos);
  }
}

TEST(References, OfNothingAreBroken) {
  References references;
  EXPECT_EQ(references.info_refs("/nonexistent", Service::upload_pack, 0).error().fault, Fault::broken);
  EXPECT_EQ(references.ls_refs("/nonexistent", {}).error().fault, Fault::broken);
}

TEST(References, KeepTheirMemoryBounded) {
  References references(20'000);
  for (int i = 0; i < 20; ++i) {
    const Fresh fresh;
    commit_files(fresh.path, {{"a", "1"}});
    ASSERT_TRUE(references.info_refs(fresh.path, Service::upload_pack, 0));
  }
}

}  // namespace
}  // namespace stackgate::datastore::git::test
