#include "services/datastore/git/protocol.hpp"

#include <gtest/gtest.h>

#include "services/datastore/git/pkt_line.hpp"

namespace stackgate::datastore::git {
namespace {

const std::string one(40, '1'), two(40, '2'), zero(40, '0');

std::string pkts(const std::vector<std::string>& lines) {
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

TEST(ProtocolVersions, AreTheHighestThatIsAsked) {
  EXPECT_EQ(protocol_version(""), 0);
  EXPECT_EQ(protocol_version("version=2"), 2);
  EXPECT_EQ(protocol_version("version=1:foo=bar"), 1);
  EXPECT_EQ(protocol_version("version=1:version=2"), 2);
  EXPECT_EQ(protocol_version("version=3"), 0);
  EXPECT_EQ(protocol_version("version=22"), 0);
}

TEST(LsRefsRequests, AreReadWholeOrLeftToGit) {
  LsRefs out;
  EXPECT_EQ(parse_ls_refs(pkts({"command=ls-refs\n", "agent=x", "object-format=sha1", "0001", "peel\n", "symrefs\n",
                                "unborn\n", "ref-prefix refs/heads/\n", "ref-prefix HEAD", "0000"}),
                          out),
            RequestKind::ls_refs);
  EXPECT_TRUE(out.peel && out.symrefs && out.unborn);
  EXPECT_EQ(out.prefixes, (std::vector<std::string>{"refs/heads/", "HEAD"}));
  for (const auto& lines : std::vector<std::vector<std::string>>{{"command=fetch", "0000"},
                                                                 {"command=ls-refs", "object-format=sha256", "0000"},
                                                                 {"0000"},
                                                                 {"0001"},
                                                                 {"command=ls-refs", "0001", "strange", "0000"},
                                                                 {"command=ls-refs", "0000", "0000"},
                                                                 {"command=ls-refs", "0001", "0001"}}) {
    LsRefs other;
    EXPECT_EQ(parse_ls_refs(pkts(lines), other), RequestKind::other) << lines[0];
  }
  EXPECT_EQ(parse_ls_refs(pkts({"command=ls-refs", "0001", "peel"}), out), RequestKind::incomplete);
  EXPECT_EQ(parse_ls_refs("nonsense", out), RequestKind::other);
}

TEST(LsRefsAnswers, ShowWhatPrefixesAskFor) {
  const RefList list{ShownRef{"HEAD", one, {}, "refs/heads/main"},
                     {},
                     {{"refs/heads/a", one}, {"refs/heads/main", one}, {"refs/tags/v", two, one}}};
  const auto ask = [&](std::vector<std::string> prefixes) {
    std::string out, text = answer_ls_refs({.peel = true, .symrefs = true, .prefixes = std::move(prefixes)}, list);
    std::string_view rest = text;
    for (Pkt line = next_pkt(rest); line.kind == Pkt::Kind::data; line = next_pkt(rest))
      out += std::string(line.payload.substr(41));
    return out;
  };
  EXPECT_EQ(ask({}),
            "HEAD symref-target:refs/heads/main\nrefs/heads/a\nrefs/heads/main\nrefs/tags/v peeled:" + one + "\n");
  EXPECT_EQ(ask({"refs/tags/"}), "refs/tags/v peeled:" + one + "\n");
  EXPECT_EQ(ask({"refs/heads/m", "refs/heads/main", "HE"}), "HEAD symref-target:refs/heads/main\nrefs/heads/main\n");
  EXPECT_EQ(ask({"refs/heads/b", "refs/tags/w"}), "");
  EXPECT_EQ(ask({"refs/heads/b", ""}).size(), ask({}).size());
}

TEST(Pushes, AreReadUpToTheFlush) {
  std::vector<PushCommand> out;
  EXPECT_EQ(parse_push("0000", out), PushHead::whole);
  EXPECT_TRUE(out.empty());
  const std::string caps = std::string("\0 report-status side-band-64k", 29);
  EXPECT_EQ(parse_push(pkts({zero + " " + one + " refs/heads/a" + caps, one + " " + zero + " refs/heads/b\n", "0000"}) +
                           "PACK",
                       out),
            PushHead::whole);
  ASSERT_EQ(out.size(), 2U);
  EXPECT_EQ(out[0].reference, "refs/heads/a");
  EXPECT_EQ(out[1].after, zero);
  for (const std::string& text : {std::string("PACK"), pkts({"x"}), pkts({zero + " " + one + "refs/heads/a"}),
                                  pkts({"push-cert"}), std::string("0001")})
    EXPECT_EQ(parse_push(text, out), PushHead::bad) << text;
  EXPECT_EQ(parse_push(pkts({zero + " " + one + " refs/heads/a"}), out), PushHead::incomplete);
  EXPECT_EQ(parse_push("", out), PushHead::incomplete);
}

}  // namespace
}  // namespace stackgate::datastore::git
