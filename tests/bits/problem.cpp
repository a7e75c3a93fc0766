#include "bits/problem.hpp"

#include <utility>

namespace bits {
namespace {

/// In (-1, 1), a function of its arguments by integers alone: the same on every machine.
double uniform(std::uint64_t stream, std::uint64_t index) {
  std::uint64_t z = (stream << 32 ^ index) + 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return static_cast<double>((z ^ (z >> 31)) >> 12) / static_cast<double>(std::uint64_t{1} << 51) - 1;
}

Table inputs_of(std::int64_t rows, std::int64_t cols) {
  Table x{rows, cols, {}};
  for (std::int64_t i = 0; i < rows * cols; ++i)
    x.values.push_back(uniform(1, static_cast<std::uint64_t>(i)));
  return x;
}

double target(bdl_likelihood likelihood, double f, double g) {
  switch (likelihood) {
    case BDL_BERNOULLI:
      return f > 0 ? 1 : 0;
    case BDL_CATEGORICAL:
      return f > 0.2 ? 2 : g > 0 ? 1 : 0;
    case BDL_POISSON:
      return static_cast<int>(2 * (f + 2));
    default:
      return f;
  }
}

/// Smooth functions of the first two inputs, with noise.
Table targets_of(bdl_likelihood likelihood, const Table& x, std::int64_t cols) {
  Table y{x.rows, cols, {}};
  for (std::int64_t i = 0; i < x.rows; ++i)
    for (std::int64_t j = 0; j < cols; ++j) {
      const double a = x.values[i * x.cols], b = x.values[i * x.cols + 1],
                   noise = 0.25 * uniform(2, static_cast<std::uint64_t>(i * cols + j)),
                   sign = j % 2 == 0 ? 1 : -1;
      y.values.push_back(target(likelihood, sign * 0.5 * a + a * b + noise, b + noise));
    }
  return y;
}

std::int64_t targets(bdl_likelihood likelihood, std::int64_t outputs) {
  return likelihood == BDL_CATEGORICAL ? 1 : likelihood == BDL_HETEROSCEDASTIC ? outputs / 2 : outputs;
}

Problem problem(const char* name, bdl_likelihood likelihood, bdl_activation activation,
                std::vector<std::int64_t> sizes, std::int64_t rows, bool standardize = false) {
  Table x = inputs_of(rows, sizes.front());
  Table y = targets_of(likelihood, x, targets(likelihood, sizes.back()));
  return {name, likelihood, activation, std::move(sizes), standardize, std::move(x), std::move(y), nullptr};
}

Problem user_problem() {
  Problem p = problem("user", BDL_GAUSSIAN, BDL_IDENTITY, {2, 1}, 40);
  p.sizes.clear();
  return p;
}

Problem image_problem() {
  Problem p = problem("images", BDL_CATEGORICAL, BDL_TANH, {50, 3}, 40);
  p.description =
      "input 2 5 5; conv 5 3 pad 1; relu; maxpool 2; conv 4 2 nobias; tanh; globalavgpool; dense 3";
  return p;
}

}  // namespace

std::vector<Problem> problems(Size size) {
  if (size == Size::small)
    return {problem("regression", BDL_GAUSSIAN, BDL_TANH, {3, 6, 1}, 40),
            problem("classes", BDL_CATEGORICAL, BDL_RELU, {3, 5, 4, 3}, 40),
            problem("logistic", BDL_BERNOULLI, BDL_IDENTITY, {4, 1}, 40)};
  if (size == Size::wide)
    return {problem("wide-regression", BDL_GAUSSIAN, BDL_TANH, {60, 300, 4}, 24),
            problem("wide-classes", BDL_CATEGORICAL, BDL_RELU, {60, 300, 4}, 24)};
  return {problem("standardized", BDL_GAUSSIAN, BDL_TANH, {3, 6, 2}, 40, true),
          problem("heteroscedastic", BDL_HETEROSCEDASTIC, BDL_TANH, {3, 6, 2}, 40, true),
          problem("student-t", BDL_STUDENT_T, BDL_TANH, {3, 6, 2}, 40, true),
          problem("poisson", BDL_POISSON, BDL_SOFTPLUS, {3, 6, 1}, 40),
          problem("bernoulli", BDL_BERNOULLI, BDL_GELU, {3, 6, 2}, 40, true),
          user_problem(),
          image_problem()};
}

}  // namespace bits
