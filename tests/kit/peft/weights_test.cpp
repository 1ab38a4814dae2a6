#include "services/kit/peft/weights.hpp"

#include <gmock/gmock.h>

namespace stackgate::peft {
namespace {

using testing::IsEmpty;

std::string file_of(const std::string& header, const std::string& data) {
  std::string out(8, '\0');
  for (unsigned i = 0; i < 8; ++i) out[i] = static_cast<char>(header.size() >> (8 * i));
  return out + header + data;
}

Weights read(const std::string& file, std::size_t piece) {
  Weights weights(file.size());
  for (std::size_t at = 0; at < file.size(); at += piece) weights.feed(std::string_view(file).substr(at, piece));
  weights.finish();
  return weights;
}

const std::string two =
    R"({"a":{"dtype":"F16","shape":[3],"data_offsets":[0,6]},"b":{"dtype":"F32","shape":[2],"data_offsets":[6,14]}})";

TEST(Weights, AreReadInPiecesOfAnySize) {
  const std::string good = file_of(two, std::string(14, '\x01'));
  for (std::size_t piece = 1; piece <= good.size(); ++piece) {
    const Weights weights = read(good, piece);
    EXPECT_THAT(weights.findings(), IsEmpty()) << piece;
    EXPECT_EQ(weights.header().tensors.size(), 2U);
  }
}

TEST(Weights, TellNaNAndInfinityWhereverAPieceEnds) {
  std::string data(14, '\x01');
  data[4] = '\x00', data[5] = '\x7e';                                // a[2] = NaN
  data[10] = 0, data[11] = 0, data[12] = '\x80', data[13] = '\x7f';  // b[1] = +inf
  const std::string bad = file_of(two, data);
  for (std::size_t piece = 1; piece <= bad.size(); ++piece) {
    const Weights weights = read(bad, piece);
    ASSERT_EQ(weights.findings().size(), 2U) << piece;
    EXPECT_EQ(weights.findings()[0].path, "adapter[adapter_model.safetensors][a]");
    EXPECT_EQ(weights.findings()[1].rule, "adapter-weights-nan");
    EXPECT_EQ(weights.findings()[0].problem, "holds NaN or infinity at its byte 4") << piece;
    EXPECT_EQ(weights.findings()[1].problem, "holds NaN or infinity at its byte 4") << piece;
  }
}

TEST(Weights, TellAFileThatIsCutOrLies) {
  EXPECT_EQ(read("abc", 1).findings().size(), 1U);
  EXPECT_EQ(read(file_of(two, "").substr(0, 30), 7).findings().at(0).rule, "adapter-weights-header");
  EXPECT_EQ(read(std::string("\xff\xff\xff\xff\xff\xff\xff\xff", 8), 8).findings().size(), 1U);
  EXPECT_EQ(read("", 1).findings().size(), 1U);
  const Weights cut = read(file_of(two, std::string(13, '\x01')), 64);
  EXPECT_EQ(cut.header().faults.size(), 1U);
}

TEST(Weights, DoNotDivideByTypesSmallerThanAByte) {
  EXPECT_THAT(read(file_of(R"({"a":{"dtype":"F4","shape":[2],"data_offsets":[0,1]}})", "x"), 100).findings(),
              IsEmpty());
}

}  // namespace
}  // namespace stackgate::peft
