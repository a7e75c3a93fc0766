#include "task.hpp"

#include <cmath>
#include <fstream>
#include <iterator>
#include <numeric>
#include <random>

#include "support/dataset.h"
#include "support/table.hpp"

namespace bong {
namespace {

/// Fisher and Yates; the same on every machine.
std::vector<int64_t> shuffled_rows(int64_t count, int64_t seed) {
  std::vector<int64_t> rows(static_cast<std::size_t>(count));
  std::iota(rows.begin(), rows.end(), 0);
  std::mt19937_64 engine(static_cast<uint64_t>(seed));
  for (std::size_t i = rows.size(); i > 1; --i) std::swap(rows[i - 1], rows[engine() % i]);
  return rows;
}

std::string read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) stop("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Digits first, first + stride, ... of an IDX pair; grey values in [0, 1].
Data read_digits(const std::string& path, std::size_t first, std::size_t stride, std::size_t count) {
  constexpr std::size_t pixels = 784, image_head = 16, label_head = 8;
  const std::string images = read_bytes(path + "-images"), labels = read_bytes(path + "-labels");
  const std::size_t last = first + stride * (count - 1);
  if (images.size() < image_head + pixels * (last + 1) || labels.size() <= label_head + last)
    stop(path + " is too short");
  Data data{{}, {}, pixels};
  std::vector<double> image(pixels);
  for (std::size_t i = first; i <= last; i += stride) {
    for (std::size_t p = 0; p < pixels; ++p)
      image[p] = static_cast<unsigned char>(images[image_head + i * pixels + p]) / 255.0;
    data.append(image.data(), labels[label_head + i]);
  }
  return data;
}

Task mnist(const std::string& folder) {
  const std::string train = folder + "/train", test = folder + "/t10k";
  return {"mnist",
          {{784, 20, 20, 10}, BDL_CATEGORICAL, 1, BDL_F32, "he"},
          read_digits(train, 0, 1, 10000),
          read_digits(train, 10000, 1, 1000),
          read_digits(test, 0, 10, 1000),
          false};
}

/// Standardised by the mean and standard deviation of the first 1,000 rows of the training part.
Task sarcos(const std::string& folder) {
  constexpr int64_t inputs = 21, test = 500, prefix = 1000;
  dataset all = dataset_read((folder + "/sarcos.csv").c_str());
  if (all.cols != 28 || all.rows < prefix + 2 * test) stop("sarcos.csv is not what it should be");
  const std::vector<int64_t> rows = shuffled_rows(all.rows, 0);
  const auto value = [&](int64_t i, int64_t j) {
    return all.values[rows[static_cast<std::size_t>(i)] * all.cols + j];
  };
  std::vector<double> mean(inputs + 1, 0), sd(inputs + 1, 0), row(inputs + 1);
  for (int64_t j = 0; j <= inputs; ++j) {
    const auto k = static_cast<std::size_t>(j);
    for (int64_t i = 0; i < prefix; ++i) mean[k] += value(i, j) / double{prefix};
    for (int64_t i = 0; i < prefix; ++i) sd[k] += std::pow(value(i, j) - mean[k], 2) / double{prefix};
    sd[k] = std::sqrt(sd[k]);
  }
  // The observation variance is a tenth of the targets', as in the paper.
  Task task{"sarcos", {{inputs, 20, 20, 1}, BDL_GAUSSIAN, 10, BDL_F64}, {}, {}, {}, true};
  task.stream.inputs = task.validation.inputs = task.test.inputs = inputs;
  for (int64_t i = 0; i < all.rows; ++i) {
    for (int64_t j = 0; j <= inputs; ++j) {
      const auto k = static_cast<std::size_t>(j);
      row[k] = (value(i, j) - mean[k]) / sd[k];
    }
    Data& part = i < all.rows - 2 * test ? task.stream : i < all.rows - test ? task.validation : task.test;
    part.append(row.data(), row[inputs]);
  }
  dataset_free(&all);
  return task;
}

}  // namespace

Task read_task(const std::string& folder, const std::string& name) {
  if (name == "mnist") return mnist(folder);
  if (name == "sarcos") return sarcos(folder);
  stop("no task " + name);
}

Data stream_of(const Task& task, int64_t seed, int64_t count) {
  if (count > task.stream.rows()) stop(task.name + " is shorter than that");
  std::vector<int64_t> rows = shuffled_rows(task.stream.rows(), seed);
  if (!task.shuffled) std::iota(rows.begin(), rows.end(), 0);
  Data data{{}, {}, task.stream.inputs};
  for (int64_t i = 0; i < count; ++i) {
    const int64_t row = rows[static_cast<std::size_t>(i)];
    data.append(task.stream.x.data() + row * data.inputs, task.stream.y[static_cast<std::size_t>(row)]);
  }
  return data;
}

}  // namespace bong
