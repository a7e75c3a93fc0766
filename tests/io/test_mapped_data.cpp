// Mapped files as data sets: what their headers say, and everything hostile refused.
#include "data/data_set.hpp"
#include "io/mapped_data.hpp"
#include "io/npy.hpp"
#include "io_test.hpp"
#include "npy_samples.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

/// 3 x 2: 1, 2; 3, 4; 5, 6.
template <class T>
Bytes numbers() {
  std::array<T, 6> values{};
  for (std::size_t i = 0; i < 6; ++i) values[i] = static_cast<T>(i + 1);
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

std::string written(const TemporaryFolder& folder, const char* name, const Bytes& bytes) {
  std::ofstream(folder.file(name), std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return folder.file(name);
}

/// Rows 2, 0, 1 of x are as in numbers(), and of y 1, 2, 3, 4, 5, 6 in one column or two.
void assert_numbers(DataSet& data) {
  assert_int_equal(data.rows(), 3);
  assert_int_equal(data.inputs(), 2);
  const std::vector<Index> rows{2, 0, 1};
  double x[6], y[6];
  data.fetch(ConstSpan<Index>(rows), {}, MatrixView<double>(x, 2, 3),
             data.targets() ? MatrixView<double>(y, data.targets(), 3) : MatrixView<double>());
  for (std::size_t j = 0; j < 3; ++j)
    for (std::size_t c = 0; c < 2; ++c) {
      assert_true(x[j * 2 + c] == static_cast<double>(2 * rows[j]) + static_cast<double>(c) + 1);
      if (data.targets() == 2) assert_true(y[j * 2 + c] == x[j * 2 + c]);
    }
}

/// One dimension is a column; images are rows.
void dimensions_become_columns(void**) {
  const Bytes column = npy_file(npy_header("<f4", "True", "(6,)"), numbers<float>()),
              images = npy_file(npy_header("<f4", "False", "(1, 3, 2, 1)"), numbers<float>());
  const FileArray a = view_npy(column), b = view_npy(images);
  assert_true(a.rows == 6 && a.cols == 1 && b.rows == 1 && b.cols == 6);
  for (Index i = 0; i < 6; ++i)
    assert_true(element(a, i, 0) == static_cast<double>(i) + 1 && element(b, 0, i) == element(a, i, 0));
}

void large_labels_keep_their_value(void**) {
  const std::array<std::int64_t, 2> labels{(std::int64_t{1} << 40) + 1, -1};
  const Bytes file = npy_file(npy_header("<i8", "False", "(2,)"), std::as_bytes(std::span(labels)));
  const FileArray y = view_npy(file);
  assert_true(element(y, 0, 0) == 1099511627777.0 && element(y, 1, 0) == -1);
}

struct Hostile {
  const char* header;
  const char* word;
};
const Hostile hostile[] = {
    {"", "not a dictionary"},
    {"[]", "not a dictionary"},
    {"{'descr': '<f8'", "not a dictionary"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), } x", "not a dictionary"},
    {"{'descr': '<f8', 'fortran_order': 0, 'shape': (3, 2), }", "not a dictionary"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': [3, 2], }", "not a dictionary"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (3 2), }", "not a dictionary"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (-3, 2), }", "not a dictionary"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2L), }", "not a dictionary"},
    {"{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (6,), }", "not a dictionary"},
    {"{'descr': '<f8', 'fortran_order': False}", "not a dictionary"},
    {"{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (6,)}", "twice"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (6,), 'more': 1}", "key 'more'"},
    {"{'descr': '|O', 'fortran_order': False, 'shape': (3, 2), }", "'|O'"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (3, 3), }",
     "48 bytes of data, the header expected 72"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (3, 1), }",
     "48 bytes of data, the header expected 24"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 2), }", "overflows"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (0, 4611686018427387904, 2), }", "overflows"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,), }", "above 2^63"},
    {"{'descr': '<f8', 'fortran_order': True, 'shape': (3, 2, 1), }", "3 dimensions in Fortran order"},
};

void hostile_headers_are_refused(void**) {
  for (const Hostile& h : hostile)
    expect_error(h.header, Status::ERROR_FORMAT, h.word,
                 [&] { view_npy(npy_file(h.header, numbers<double>())); });
  const std::string deep = npy_header("<f8", "False", "(1" + std::string(200, ',') + ")");
  expect_error("commas", Status::ERROR_FORMAT, "not a dictionary", [&] { view_npy(npy_file(deep, {})); });
  std::string many = "(";
  for (int k = 0; k < 33; ++k) many += "1, ";
  expect_error("rank", Status::ERROR_FORMAT, "more than 32",
               [&] { view_npy(npy_file(npy_header("<f8", "False", many + ")"), {})); });
  expect_error("scalar", Status::ERROR_FORMAT, "single number",
               [&] { view_npy(npy_file(npy_header("<f8", "False", "()"), Bytes(8))); });
}

/// Cut anywhere, and with any byte of the header changed, a file is refused or read within its bounds.
void damaged_files_are_refused(void**) {
  const Bytes file = npy_file(npy_header("<f8", "False", "(3, 2)"), numbers<double>());
  for (std::size_t size = 0; size < file.size(); ++size)
    expect_error("cut", Status::ERROR_FORMAT, "", [&] { view_npy(std::span(file).first(size)); });
  for (std::size_t place = 0; place < 80; ++place)
    for (const int change : {1, 0x20, 0x80}) {
      Bytes damaged = file;
      damaged[place] ^= static_cast<std::byte>(change);
      try {
        const FileArray x = view_npy(damaged);
        assert_true(x.rows * x.cols <= 6 * 8);
      } catch (const Error& error) {
        assert_int_equal(error.status(), Status::ERROR_FORMAT);
      }
    }
}

void files_that_do_not_fit_are_refused(void**) {
  const TemporaryFolder folder;
  const Bytes six = numbers<double>();
  const std::string x = written(folder, "x.npy", npy_file(npy_header("<f8", "False", "(3, 2)"), six)),
                    y = written(folder, "y.npy", npy_file(npy_header("<f8", "False", "(6,)"), six)),
                    none = written(folder, "none.npy", npy_file(npy_header("<f8", "False", "(0, 2)"), {})),
                    empty = written(folder, "empty.npy", {});
  expect_error("rows", Status::ERROR_SHAPE, "y has 6 rows, expected 3",
               [&] { map_npy(x.c_str(), y.c_str()); });
  expect_error("no rows", Status::ERROR_SHAPE, "at least one", [&] { map_npy(none.c_str(), nullptr); });
  expect_error("empty", Status::ERROR_FORMAT, "empty.npy: not a .npy file",
               [&] { map_npy(empty.c_str(), nullptr); });
  expect_error("missing", Status::ERROR_FILE, "cannot open", [&] { map_npy("/nowhere", nullptr); });
  expect_error("folder", Status::ERROR_FILE, "a directory", [&] { map_npy(folder.path().c_str(), nullptr); });
}

/// A file that has become shorter, which would end the process, is an error, unless it is shortened while it
/// is read.
void files_that_become_shorter_are_noticed(void**) {
  const TemporaryFolder folder;
  const std::string path =
      written(folder, "x.npy", npy_file(npy_header("<f8", "False", "(3, 2)"), numbers<double>()));
  const auto data = map_npy(path.c_str(), nullptr);
  assert_numbers(*data);
  std::filesystem::resize_file(path, 100);
  expect_error("shorter", Status::ERROR_FILE, "became shorter", [&] { assert_numbers(*data); });
}

void tensors_are_read_by_name(void**) {
  const TemporaryFolder folder;
  const Bytes x = numbers<double>(), y = numbers<std::int64_t>();
  const std::array tensors{Tensor{"x", DType::F64, {3, 2}, x}, Tensor{"y", DType::I64, {3, 2}, y},
                           Tensor{"long", DType::I64, {6}, y}};
  const std::string path = folder.file("data.safetensors");
  write_archive(path.c_str(), {}, tensors);
  assert_numbers(*map_safetensors(path.c_str(), "x", "y"));
  assert_numbers(*map_safetensors(path.c_str(), "y", nullptr));
  expect_error("name", Status::ERROR_FORMAT, "data.safetensors: there is no tensor 'z'",
               [&] { map_safetensors(path.c_str(), "x", "z"); });
  expect_error("rows", Status::ERROR_SHAPE, "y has 6 rows",
               [&] { map_safetensors(path.c_str(), "x", "long"); });
  const std::string hostile_path = written(folder, "hostile", archive_with_header("{\"x\":{}}", 8));
  expect_error("hostile", Status::ERROR_FORMAT,
               "hostile: ", [&] { map_safetensors(hostile_path.c_str(), "x", nullptr); });
}

}  // namespace

int test_mapped_data() {
  const CMUnitTest tests[] = {cmocka_unit_test(dimensions_become_columns),
                              cmocka_unit_test(large_labels_keep_their_value),
                              cmocka_unit_test(hostile_headers_are_refused),
                              cmocka_unit_test(damaged_files_are_refused),
                              cmocka_unit_test(files_that_do_not_fit_are_refused),
                              cmocka_unit_test(files_that_become_shorter_are_noticed),
                              cmocka_unit_test(tensors_are_read_by_name)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
