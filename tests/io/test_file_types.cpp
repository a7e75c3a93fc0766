// Numbers of every type in files, in every byte order and layout and at every address, are those that were
// written.
#include <cmath>

#include "data/data_set.hpp"
#include "io/mapped_data.hpp"
#include "io_test.hpp"
#include "npy_samples.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr Index rows = 3, columns = 2;
constexpr std::size_t count = 6;

/// A type in files, with bytes of six numbers and their values.
struct Kind {
  const char* descr;  // "": not in .npy
  const char* name;
  std::array<Bytes, count> little_endian;
  std::array<double, count> values;
};

template <class Bits>
Kind kind_of_bits(const char* descr, const char* name, std::array<Bits, count> bits,
                  std::array<double, count> values) {
  Kind kind{descr, name, {}, values};
  for (std::size_t i = 0; i < count; ++i) {
    const auto bytes = std::as_bytes(std::span(&bits[i], 1));
    kind.little_endian[i].assign(bytes.begin(), bytes.end());
  }
  return kind;
}

template <class T>
Kind kind_of(const char* descr, const char* name, std::array<T, count> numbers) {
  std::array<double, count> values{};
  std::ranges::transform(numbers, values.begin(), [](T number) { return static_cast<double>(number); });
  return kind_of_bits<T>(descr, name, numbers, values);
}

template <class T>
Kind kind_of_integers(const char* descr, const char* name) {
  using Limits = std::numeric_limits<T>;
  return kind_of<T>(descr, name, {Limits::min(), Limits::max(), 0, 1, 2, 100});
}

const std::array kinds{
    kind_of<double>("f8", "F64", {1.5, -2, 0, 0.1, 1e30, -1e-30}),
    kind_of<float>("f4", "F32", {1.5F, -2, 0, 0.1F, 1e30F, -1e-30F}),
    kind_of_bits<std::uint16_t>("f2", "F16", {0x3c00, 0xc000, 0x8000, 0x3555, 0x7bff, 0x0001},
                                {1, -2, -0.0, 0.333251953125, 65504, 0x1p-24}),
    kind_of_bits<std::uint16_t>("", "BF16", {0x3f80, 0xc000, 0x8000, 0x3eab, 0x7f7f, 0x0080},
                                {1, -2, -0.0, 0.333984375, 0x1.fep127, 0x1p-126}),
    kind_of_integers<std::int64_t>("i8", "I64"),
    kind_of_integers<std::int32_t>("i4", "I32"),
    kind_of_integers<std::int16_t>("i2", "I16"),
    kind_of_integers<std::int8_t>("i1", "I8"),
    kind_of_integers<std::uint64_t>("u8", "U64"),
    kind_of_integers<std::uint32_t>("u4", "U32"),
    kind_of_integers<std::uint16_t>("u2", "U16"),
    kind_of_integers<std::uint8_t>("u1", "U8"),
    kind_of<bool>("b1", "BOOL", {true, false, false, true, true, false})};

/// The numbers of 3 x 2, one behind the other as a file has them.
Bytes data_of(const Kind& kind, bool is_swapped, bool is_fortran) {
  Bytes data;
  for (std::size_t place = 0; place < count; ++place) {
    const std::size_t i = is_fortran ? place % rows * columns + place / rows : place;
    Bytes number = kind.little_endian[i];
    if (is_swapped) std::ranges::reverse(number);
    data.insert(data.end(), number.begin(), number.end());
  }
  return data;
}

/// Rows 2, 0, 1 and rows 1, 2 of x and y, as they are or standardised.
template <class T>
void check_values(DataSet& data, const Kind& kind) {
  const std::vector<Index> list{2, 0, 1};
  const ColumnMoments moments{{0.25, -3}, {2, 0.5}};
  for (const RowNumbers& numbers : {RowNumbers(ConstSpan<Index>(list)), RowNumbers(1, 2)})
    for (const bool is_scaled : {false, true}) {
      const Standardization units = is_scaled ? Standardization(moments, moments) : Standardization();
      T x[count], y[count];
      data.fetch(numbers, units, MatrixView<T>(x, columns, numbers.count()),
                 MatrixView<T>(y, columns, numbers.count()));
      for (Index j = 0; j < numbers.count(); ++j)
        for (Index c = 0; c < columns; ++c) {
          const double value = kind.values[static_cast<std::size_t>(numbers[j] * columns + c)];
          const T expected = static_cast<T>(units.inputs().apply(c, value)), got = x[j * columns + c];
          if (got != expected || std::signbit(got) != std::signbit(expected) ||
              y[j * columns + c] != expected)
            fail_msg("%s: got %g, expected %g", kind.name, static_cast<double>(got),
                     static_cast<double>(expected));
        }
    }
}

void check_file(const Kind& kind, DataSet& data) {
  assert_true(data.rows() == rows && data.inputs() == columns && data.targets() == columns);
  check_values<double>(data, kind);
  check_values<float>(data, kind);
}

/// 12 types in two byte orders, two layouts, three versions of the format, from eight addresses.
void numbers_in_npy_are_those_that_were_written(void**) {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.npy");
  for (const Kind& kind : kinds)
    for (const bool is_swapped : {false, true})
      for (const bool is_fortran : {false, true})
        for (const int version : {1, 2, 3})
          for (std::size_t more = 0; more < 8 && *kind.descr; ++more) {
            const std::string descr = std::string(is_swapped ? ">" : "<") + kind.descr;
            const std::string header = npy_header(descr, is_fortran ? "True" : "False", "(3, 2)");
            put_file(path, npy_file(header, data_of(kind, is_swapped, is_fortran), version, more));
            check_file(kind, *map_npy(path.c_str(), path.c_str()));
          }
}

void bytes_have_no_order(void**) {
  for (const Kind& kind : kinds)
    if (kind.little_endian[0].size() == 1)
      view_npy(npy_file(npy_header(std::string("|") + kind.descr, "False", "(3, 2)"),
                        data_of(kind, false, false)));
}

void other_descriptions_are_refused(void**) {
  for (const char* const descr : {"", "<", "f8", "=f8", "|f8", "|i2", "<b2", "<f16", "<f3", "<c8", "<c16",
                                  "|S8", "<U2", "<M8[s]", "<m8", "|O", "<f8 ", "<F8", "bf2"})
    expect_error(descr, Status::ERROR_FORMAT, ("'" + std::string(descr) + "', expected numbers").c_str(),
                 [&] { view_npy(npy_file(npy_header(descr, "False", "(3, 2)"), Bytes(48))); });
}

/// A tensor of the header.
std::string tensor(const char* name, const char* type, const char* shape, std::size_t begin,
                   std::size_t end) {
  return "\"" + std::string(name) + R"(":{"dtype":")" + type + R"(","shape":)" + shape +
         R"(,"data_offsets":[)" + std::to_string(begin) + "," + std::to_string(end) + "]}";
}

/// Makes a file with "x" of this type after tensors of types that are not read, at any address.
Bytes archive_of(const Kind& kind, std::size_t more) {
  const Bytes data = data_of(kind, false, false);
  const std::string header = "{" + tensor("a", "F8_E4M3", "[3]", 0, 3) + "," +
                             tensor("b", "F4", "[2,5]", 3, 8) + "," + tensor("c", "C64", "[1]", 8, 16) + "," +
                             tensor("d", "BF16", "[2]", 16, 20) + "," +
                             tensor("x", kind.name, "[3,2]", 20, 20 + data.size()) + "}";
  Bytes archive = archive_with_header(header + std::string(more, ' '), 20);
  archive.insert(archive.end(), data.begin(), data.end());
  return archive;
}

/// 13 types from eight addresses.
void numbers_in_safetensors_are_those_that_were_written(void**) {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.safetensors");
  for (const Kind& kind : kinds)
    for (std::size_t more = 0; more < 8; ++more) {
      put_file(path, archive_of(kind, more));
      check_file(kind, *map_safetensors(path.c_str(), "x", "x"));
    }
}

void types_that_are_not_read_are_named(void**) {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.safetensors");
  put_file(path, archive_of(kinds[0], 0));
  expect_error("F8", Status::ERROR_FORMAT, "tensor 'a' has type 'F8_E4M3', expected F64",
               [&] { map_safetensors(path.c_str(), "a", nullptr); });
  expect_error("unknown", Status::ERROR_FORMAT, "tensor 'b' has type 'F4', expected F64",
               [&] { map_safetensors(path.c_str(), "x", "b"); });
  expect_error("checkpoint", Status::ERROR_FORMAT,
               "unknown dtype 'F8_E4M3', expected F64, F32, I64, I32 or U8",
               [&] { read_archive(path.c_str()); });
}

/// Sizes are compared where the type has one, and tensors have no holes between them whatever their types
/// are.
void layouts_of_types_that_are_not_read_are_checked(void**) {
  const std::string x = "," + tensor("x", "U8", "[1]", 8, 9) + "}";
  expect_error("F8", Status::ERROR_FORMAT, "span 8 bytes, dtype and shape expected 4",
               [&] { view_archive(archive_with_header("{" + tensor("a", "F8_E5M2", "[4]", 0, 8) + x, 9)); });
  expect_error("C64", Status::ERROR_FORMAT, "span 8 bytes, dtype and shape expected 16",
               [&] { view_archive(archive_with_header("{" + tensor("a", "C64", "[2]", 0, 8) + x, 9)); });
  expect_error("BF16", Status::ERROR_FORMAT, "span 8 bytes, dtype and shape expected 6",
               [&] { view_archive(archive_with_header("{" + tensor("a", "BF16", "[3]", 0, 8) + x, 9)); });
  expect_error("hole", Status::ERROR_FORMAT, "leaves a hole",
               [&] { view_archive(archive_with_header("{" + tensor("a", "F4", "[3]", 0, 7) + x, 9)); });
  expect_error("overlap", Status::ERROR_FORMAT, "overlaps",
               [&] { view_archive(archive_with_header("{" + tensor("a", "F4", "[3]", 0, 9) + x, 9)); });
  assert_int_equal(view_archive(archive_with_header("{" + tensor("a", "F4", "[3]", 0, 8) + x, 9)).size(), 2);
}

/// Every half-precision number, by the definition.
void halves_have_their_values(void**) {
  for (int bits = 0; bits < 65536; ++bits) {
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const double size = exponent == 0    ? std::ldexp(fraction, -24)
                        : exponent == 31 ? (fraction ? std::nan("") : HUGE_VAL)
                                         : std::ldexp(1024 + fraction, exponent - 25);
    const auto half = static_cast<std::uint16_t>(bits);
    double got = 0;
    element_type(DType::F16).read(std::as_bytes(std::span(&half, 1)).data(), 0, 1, false, &got);
    assert_true(std::isnan(size) ? std::isnan(got) : got == (bits >> 15 ? -size : size));
  }
}

/// Rows longer than what is converted at a time, in both layouts.
void long_rows_are_read(void**) {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.npy");
  constexpr Index inputs = 1300;
  std::vector<std::int16_t> values(2 * inputs);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int16_t>(7 * i - 3000);
  ColumnMoments moments;
  for (Index c = 0; c < inputs; ++c) {
    moments.mean.push_back(static_cast<double>(c));
    moments.scale.push_back(1 + static_cast<double>(c % 7));
  }
  const Standardization units(moments, {});
  for (const bool is_fortran : {false, true}) {
    put_file(path, npy_file(npy_header("<i2", is_fortran ? "True" : "False", "(2, 1300)"),
                            std::as_bytes(std::span(values))));
    std::vector<double> x(values.size());
    map_npy(path.c_str(), nullptr)
        ->fetch(RowNumbers(0, 2), units, MatrixView<double>(x.data(), inputs, 2), MatrixView<double>());
    for (Index i = 0; i < 2; ++i)
      for (Index c = 0; c < inputs; ++c) {
        const double value = values[static_cast<std::size_t>(is_fortran ? c * 2 + i : i * inputs + c)];
        assert_true(x[static_cast<std::size_t>(i * inputs + c)] == units.inputs().apply(c, value));
      }
  }
}

}  // namespace

int test_file_types() {
  const CMUnitTest tests[] = {cmocka_unit_test(numbers_in_npy_are_those_that_were_written),
                              cmocka_unit_test(bytes_have_no_order),
                              cmocka_unit_test(other_descriptions_are_refused),
                              cmocka_unit_test(numbers_in_safetensors_are_those_that_were_written),
                              cmocka_unit_test(types_that_are_not_read_are_named),
                              cmocka_unit_test(layouts_of_types_that_are_not_read_are_checked),
                              cmocka_unit_test(halves_have_their_values),
                              cmocka_unit_test(long_rows_are_read)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
