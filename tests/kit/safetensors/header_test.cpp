#include "services/kit/safetensors/header.hpp"

#include <gmock/gmock.h>

namespace stackgate::safetensors {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Case {
  const char* says;
  std::string text;
  std::optional<std::uint64_t> data;
  const char* tensor;   // of the first fault
  const char* problem;  // a part of it
};

class WrongHeaders : public testing::TestWithParam<Case> {};

TEST_P(WrongHeaders, AreToldBy) {
  const Header header = read_header(GetParam().text, GetParam().data);
  ASSERT_THAT(header.faults, testing::Not(IsEmpty()));
  EXPECT_EQ(header.faults[0].tensor, GetParam().tensor);
  EXPECT_THAT(header.faults[0].problem, HasSubstr(GetParam().problem));
  EXPECT_NE(header.faults[0].fix, "");
}

INSTANTIATE_TEST_SUITE_P(
    Table, WrongHeaders,
    testing::Values(
        Case{"NoJson", "{\"a\":", {}, "", "no JSON"}, Case{"NoObject", "[]", {}, "", "array instead of"},
        Case{"DuplicateName", R"({"a":{},"a":{}})", {}, "", "duplicate key"},
        Case{"TensorIsText", R"({"a":"b"})", {}, "a", "string instead of"},
        Case{"NoDtype", R"({"a":{"shape":[],"data_offsets":[0,0]}})", {}, "a", "no dtype"},
        Case{"UnknownDtype", R"({"a":{"dtype":"Q4","shape":[1],"data_offsets":[0,1]}})", {}, "a", "dtype \"Q4\""},
        Case{"UnknownField", R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"x":1}})", {}, "a", "\"x\""},
        Case{"NegativeShape", R"({"a":{"dtype":"U8","shape":[-1],"data_offsets":[0,1]}})", {}, "a", "no whole number"},
        Case{"FractionInShape", R"({"a":{"dtype":"U8","shape":[1.5],"data_offsets":[0,1]}})", {}, "a", "no whole"},
        Case{"OneOffset", R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0]}})", {}, "a", "two numbers"},
        Case{"Backwards", R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[8,4]}})", {}, "a", "backwards"},
        Case{"ProductOverflows",
             R"({"a":{"dtype":"U8","shape":[4294967296,4294967296,2],"data_offsets":[0,0]}})",
             {},
             "a",
             "does not fit 64 bits"},
        Case{"BitsOverflow",
             R"({"a":{"dtype":"U8","shape":[4611686018427387904],"data_offsets":[0,0]}})",
             {},
             "a",
             "does not fit 64 bits"},
        Case{"HalfAByte", R"({"a":{"dtype":"F4","shape":[3],"data_offsets":[0,1]}})", {}, "a", "no whole bytes"},
        Case{"SizeLies", R"({"a":{"dtype":"F16","shape":[2,2],"data_offsets":[0,4]}})", {}, "a", "takes 8 bytes"},
        Case{
            "Overlap",
            R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}})",
            {},
            "b",
            "overlaps with \"a\""},
        Case{
            "Gap",
            R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[4],"data_offsets":[6,10]}})",
            {},
            "b",
            "2 bytes behind"},
        Case{
            "GapBeforeTheFirst", R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[1,5]}})", {}, "a", "1 bytes behind"},
        Case{"BeyondTheFile", R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", 3, "a", "only 3 bytes"},
        Case{"TextBehind", R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", 5, "", "1 bytes follow"},
        Case{"MetadataIsNoText", R"({"__metadata__":{"format":1}})", {}, "__metadata__", "\"format\" is no text"},
        Case{"MetadataIsNoObject", R"({"__metadata__":[]})", {}, "__metadata__", "object of texts"}),
    [](const auto& each) { return std::string(each.param.says); });

TEST(SafetensorsHeader, GivesTensorsInTheOrderOfTheirBytesAndMetadata) {
  const Header header =
      read_header(R"({"__metadata__":{"format":"pt"},"b":{"dtype":"F16","shape":[2,3],"data_offsets":[4,16]},)"
                  R"("a":{"dtype":"F32","shape":[],"data_offsets":[0,4]}})",
                  16);
  EXPECT_THAT(header.faults, IsEmpty());
  ASSERT_EQ(header.tensors.size(), 2U);
  EXPECT_EQ(header.tensors[0].name, "a");
  EXPECT_THAT(header.tensors[1].shape, ElementsAre(2, 3));
  EXPECT_EQ(header.data_bytes, 16U);
  EXPECT_THAT(header.metadata, ElementsAre(testing::Pair("format", "pt")));
}

TEST(SafetensorsHeader, TellsEveryFaultUpToTheLimit) {
  std::string text = "{";
  for (int i = 0; i < 10; ++i) text += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":1";
  EXPECT_EQ(read_header(text + "}", {}).faults.size(), 10U);
  EXPECT_EQ(read_header(text + "}", {}, 3).faults.size(), 3U);
}

TEST(SafetensorsHeader, MayHoldNoTensorAndTensorsWithoutBytes) {
  EXPECT_THAT(read_header("{}", 0).faults, IsEmpty());
  EXPECT_THAT(read_header(R"({"a":{"dtype":"F32","shape":[0,7],"data_offsets":[0,0]}})", 0).faults, IsEmpty());
}

TEST(SafetensorsHeader, ReadsTheLengthLittleEndianAndRefusesAbsurdOnes) {
  using namespace std::string_view_literals;
  EXPECT_EQ(header_length("\x02\x01\0\0\0\0\0\0more"sv).value(), 258U);
  EXPECT_FALSE(header_length("\x02\x01"sv));
  EXPECT_FALSE(header_length("\0\0\0\0\0\0\0\0"sv));
  EXPECT_FALSE(header_length("\xff\xff\xff\xff\xff\xff\xff\x7f"sv));
}

TEST(ReadFile, FindsWhereTheValuesBegin) {
  std::vector<Tensor> tensors{{"a", "U8", {3}}};
  const std::string file = write_header(tensors).value() + "xyz";
  const auto [header, data_at] = read_file(file);
  EXPECT_THAT(header.faults, IsEmpty());
  ASSERT_EQ(header.tensors.size(), 1U);
  EXPECT_EQ(file.substr(data_at + header.tensors[0].begin, 3), "xyz");
}

TEST(ReadFile, HasOneFaultForAFileThatIsCutShort) {
  std::vector<Tensor> tensors{{"a", "U8", {3}}};
  const std::string file = write_header(tensors).value() + "xyz";
  for (std::size_t length = 0; length < file.size(); ++length) {
    const auto [header, data_at] = read_file(std::string_view(file).substr(0, length));
    ASSERT_EQ(header.faults.size(), 1U) << length;
    EXPECT_NE(header.faults[0].fix, "") << length;
    EXPECT_EQ(data_at == 0, length < 8 + header_length(file).value()) << length;
  }
}

TEST(WriteHeader, IsReadAgainAndItsTensorsLieSideBySide) {
  std::vector<Tensor> tensors{
      {"b", "F16", {2, 3}}, {"z", "F32", {4}}, {"a", "F16", {1}}, {"none", "U8", {0}}, {"s", "F32", {}}};
  const auto written = write_header(tensors, {{"format", "pt"}});
  ASSERT_TRUE(written) << written.error();
  const auto length = header_length(*written);
  ASSERT_TRUE(length);
  EXPECT_EQ(*length, written->size() - 8);
  EXPECT_EQ(written->size() % 8, 0U);
  const Header header = read_header(std::string_view(*written).substr(8), 16 + 4 + 12 + 2);
  EXPECT_THAT(header.faults, IsEmpty());
  EXPECT_THAT(header.metadata, ElementsAre(testing::Pair("format", "pt")));
  std::string order;
  for (const Tensor& tensor : tensors) order += tensor.name + " " + std::to_string(tensor.begin) + " ";
  EXPECT_EQ(order, "s 0 z 4 a 20 b 22 none 34 ");
  EXPECT_EQ(header.data_bytes, 34U);
}

TEST(WriteHeader, WhatCannotBeReadIsNotWritten) {
  const auto error_of = [](std::vector<Tensor> tensors) {
    const auto written = write_header(tensors);
    return written ? "written" : written.error();
  };
  EXPECT_THAT(error_of({{"a", "F16", {1}}, {"a", "F32", {1}}}), HasSubstr("twice"));
  EXPECT_THAT(error_of({{"__metadata__", "F16", {1}}}), HasSubstr("metadata"));
  EXPECT_THAT(error_of({{"a", "Q4", {1}}}), HasSubstr("unknown dtype"));
  EXPECT_THAT(error_of({{"a", "F4", {3}}}), HasSubstr("whole number of bytes"));
  EXPECT_THAT(error_of({{"a", "U8", {1ULL << 63U, 4}}}), HasSubstr("whole number of bytes"));
}

}  // namespace
}  // namespace stackgate::safetensors
