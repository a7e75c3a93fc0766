// Archives survive the round trip, have exactly the documented bytes, and are read with type and shape
// checks.
#include "io_test.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

template <class T>
void expect_values(const TensorArchive& archive, const char* name, std::vector<Index> shape,
                   const std::vector<T>& values) {
  std::vector<T> out(values.size(), T(99));
  archive.copy(name, shape, std::span(out));
  assert_true(out == values);
}

void expect_small_archive(const TensorArchive& archive) {
  assert_int_equal(archive.tensors().size(), 6);
  assert_true(archive.metadata() == (Metadata{{"format", "bdl"}, {"note", "a \"quoted\" \xC3\xA9"}}));
  expect_values<double>(archive, "mean", {3}, {1.5, -2.0, 0.0});
  expect_values<std::int64_t>(archive, "step", {}, {-7});
  expect_values<float>(archive, "w", {1, 3}, {0.25F, 0.5F, -1.0F});
  expect_values<std::int32_t>(archive, "labels", {2}, {1, -1});
  expect_values<std::uint8_t>(archive, "flags", {3}, {0, 1, 255});
  expect_values<float>(archive, "none", {0, 4}, {});
}

void test_round_trip_in_memory(void**) {
  expect_small_archive(parse_archive(small_archive()));
}

void test_round_trip_through_a_file(void**) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.safetensors");
  const TensorArchive archive = parse_archive(small_archive());
  write_archive(path.c_str(), archive.metadata(), tensors_of(archive));
  const Bytes written = file_bytes(path);
  assert_true(written == serialize_archive(archive.metadata(), tensors_of(archive)));
  expect_small_archive(read_archive(path.c_str()));
  assert_int_equal(folder.entry_count(), 1);
}

void test_views_survive_a_move(void**) {
  TensorArchive archive = parse_archive(small_archive());
  const TensorArchive moved = std::move(archive);
  archive = parse_archive(archive_with_header("{}", 0));
  expect_small_archive(moved);
}

void test_empty_archive(void**) {
  const TensorArchive archive = parse_archive(serialize_archive({}, {}));
  assert_true(archive.metadata().empty());
  assert_true(archive.tensors().empty());
}

void test_golden_bytes(void**) {
  const std::array<double, 1> mean{1.0};
  const std::array<float, 1> w{2.0F};
  const std::array tensors{make_tensor<float>("w", {1, 1}, w), make_tensor<double>("mean", {}, mean)};
  const std::string header =
      R"({"__metadata__":{"a":"1","b":"\u000a\"\\","crc32c":"e0c3ebf7","crc32c.mean":"a642e961",)"
      R"("crc32c.w":"091c567b"},)"
      R"("mean":{"dtype":"F64","shape":[],"data_offsets":[0,8]},)"
      R"("w":{"dtype":"F32","shape":[1,1],"data_offsets":[8,12]}}   )";
  assert_int_equal(header.size(), 224);
  const std::string expected = std::string("\xE0\0\0\0\0\0\0\0", 8) + header +
                               std::string("\0\0\0\0\0\0\xF0\x3F", 8) + std::string("\0\0\0\x40", 4);
  assert_true(serialize_archive({{"b", "\n\"\\"}, {"a", "1"}}, tensors) == bytes_of(expected));
}

/// Written by the Python package safetensors 0.8.0: numpy.save_file({"i": int32 [1, -2], "x": float64
/// [[0.5]]}).
void test_file_of_the_python_package(void**) {
  const std::string header =
      R"({"__metadata__":{"made by":"numpy"},"x":{"dtype":"F64","shape":[1,1],"data_offsets":[0,8]},)"
      R"("i":{"dtype":"I32","shape":[2],"data_offsets":[8,16]}})";
  Bytes archive = archive_with_header(header + std::string((8 - header.size() % 8) % 8, ' '), 0);
  const Bytes data = bytes_of(std::string_view("\0\0\0\0\0\0\xE0\x3F\1\0\0\0\xFE\xFF\xFF\xFF", 16));
  archive.insert(archive.end(), data.begin(), data.end());
  const TensorArchive read = parse_archive(archive);
  expect_values<double>(read, "x", {1, 1}, {0.5});
  expect_values<std::int32_t>(read, "i", {2}, {1, -2});
  assert_string_equal(read.metadata().at("made by").c_str(), "numpy");
}

void test_every_tensor_is_aligned(void**) {
  Bytes bytes = small_archive();
  const std::byte* start = bytes.data();
  const TensorArchive archive = parse_archive(std::move(bytes));
  for (const auto& [name, tensor] : archive.tensors()) {
    assert_int_equal((tensor.bytes.data() - start) % static_cast<std::ptrdiff_t>(dtype_width(tensor.dtype)),
                     0);
  }
}

void test_unaligned_foreign_archive(void**) {
  const TensorArchive archive = parse_archive(archive_with_header(
      R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"F64","shape":[1],"data_offsets":[1,9]}})",
      9));
  expect_values<double>(archive, "b", {1}, {std::bit_cast<double>(std::uint64_t{0x0707070707070707})});
}

void test_text_is_preserved(void**) {
  std::string every_control;
  for (char c = 1; c < 0x20; ++c) every_control += c;
  const Metadata metadata{
      {"", ""}, {"control", every_control}, {"\xCE\xB8", "\xF0\x9D\x9C\x83 \x7F / \\ \""}};
  const std::array<float, 1> one{1.0F};
  const std::array tensors{make_tensor<float>("", {}, one), make_tensor<float>("\xCE\xBC \"\n\\", {1}, one)};
  const TensorArchive archive = parse_archive(serialize_archive(metadata, tensors));
  assert_true(archive.metadata() == metadata);
  expect_values<float>(archive, "", {}, {1.0F});
  expect_values<float>(archive, "\xCE\xBC \"\n\\", {1}, {1.0F});
}

void test_typed_access(void**) {
  const TensorArchive archive = parse_archive(small_archive());
  assert_true(archive.contains("mean"));
  assert_false(archive.contains("median"));
  std::vector<double> three(3), four(4);
  std::vector<float> floats(3);
  const auto expect = [&](const char* message, auto call) {
    expect_error(message, Status::ERROR_FORMAT, message, call);
  };
  expect("tensor 'median' is missing", [&] { archive.at("median"); });
  expect("tensor 'median' is missing", [&] { archive.copy("median", std::span(three)); });
  expect("tensor 'mean' has type F64, expected F32", [&] { archive.copy("mean", std::span(floats)); });
  expect("tensor 'mean' has 3 elements, expected 4", [&] { archive.copy("mean", std::span(four)); });
  expect("tensor 'w' has shape [1, 3], expected [3, 1]", [&] {
    archive.copy("w", {3, 1}, std::span(floats));
  });
  expect("tensor 'mean' has shape [3], expected []", [&] { archive.copy("mean", {}, std::span(three)); });
  archive.copy("mean", std::span(three));
  assert_true(three == (std::vector<double>{1.5, -2.0, 0.0}));
}

void test_unreadable_archives_are_not_written(void**) {
  const std::array<float, 2> two{1.0F, 2.0F};
  const Tensor good = make_tensor<float>("w", {2}, two);
  const auto expect = [&](const char* word, const Metadata& metadata, std::vector<Tensor> tensors) {
    expect_error(word, Status::ERROR_INVALID_ARGUMENT, word, [&] { serialize_archive(metadata, tensors); });
  };
  expect("duplicate key 'w'", {}, {good, good});
  expect("expected 12", {}, {make_tensor<float>("w", {3}, two)});
  expect("'shape'", {}, {make_tensor<float>("w", {-1}, two)});
  expect("more than 32", {}, {make_tensor<float>("w", std::vector<Index>(33, 1), std::span(two).first<1>())});
  expect("overflows", {}, {make_tensor<float>("w", {Index{1} << 62, 2}, two)});
  expect("UTF-8", {}, {make_tensor<float>("\xFF", {2}, two)});
  expect("UTF-8", {{"k", "\xC3"}}, {});
  expect("U+0000", {}, {make_tensor<float>(std::string("w\0", 2), {2}, two)});
  expect("U+0000", {{"k", std::string(1, '\0')}}, {});
  expect("U+0000", {{std::string(1, '\0'), "v"}}, {});
  expect("reserved", {}, {make_tensor<float>("__metadata__", {2}, two)});
  expect("reserved", {{"k", "v"}}, {make_tensor<float>("__metadata__", {2}, two)});
}

void test_header_above_the_limit_is_not_written(void**) {
  expect_error("limit", Status::ERROR_INVALID_ARGUMENT, "expected at most 100000000", [] {
    serialize_archive({{"k", std::string(100'000'000, 'v')}}, {});
  });
}

}  // namespace

int test_safetensors() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(test_round_trip_in_memory),
      cmocka_unit_test(test_round_trip_through_a_file),
      cmocka_unit_test(test_views_survive_a_move),
      cmocka_unit_test(test_empty_archive),
      cmocka_unit_test(test_golden_bytes),
      cmocka_unit_test(test_file_of_the_python_package),
      cmocka_unit_test(test_every_tensor_is_aligned),
      cmocka_unit_test(test_unaligned_foreign_archive),
      cmocka_unit_test(test_text_is_preserved),
      cmocka_unit_test(test_typed_access),
      cmocka_unit_test(test_unreadable_archives_are_not_written),
      cmocka_unit_test(test_header_above_the_limit_is_not_written),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
