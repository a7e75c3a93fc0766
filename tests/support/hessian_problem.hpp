// A network with parameters and data, its gradient in plain loops, and its Hessian by differences of that.
#pragma once

#include "curvature/hessian.hpp"
#include "model/network.hpp"
#include "support/likelihoods.hpp"
#include "support/naive_network.hpp"

// Last: it includes cmocka.h.
#include "support/verify.hpp"

namespace bdl::testing {

struct HessianProblem {
  Likelihood likelihood;
  NaiveNetwork naive;
  Dense thetas, x, y;

  HessianProblem(const Likelihood& density, const std::vector<Index>& hidden, bdl_activation activation,
                 bool bias, Index examples, Index samples = 1)
      : likelihood(density), naive{{2}, activation, bias}, y(density.targets(), 0) {
    naive.sizes.insert(naive.sizes.end(), hidden.begin(), hidden.end());
    naive.sizes.push_back(density.outputs());
    Random random(static_cast<std::uint64_t>(naive.parameters() + density.kind() + 100 * activation));
    thetas = rounded<float>(random.normal(naive.parameters(), samples, 0.7));
    x = rounded<float>(random.normal(2, examples));
    for (Index i = 0; i < examples; ++i) y = beside(y, rounded<float>(random_targets(likelihood, random)));
  }
  Index dimension() const { return naive.parameters(); }
  template <class T>
  Network<T> network() const {
    return Network<T>(naive.sizes, naive.activation, naive.bias, likelihood);
  }

  /// sum_i -d log p(y_i | x_i, theta) / d theta.
  Dense gradient(const Dense& theta) const {
    Dense out(dimension(), 1);
    for (Index i = 0; i < x.cols; ++i) {
      const Dense input = columns_of(x, i, 1), target = columns_of(y, i, 1);
      Dense seed(likelihood.outputs(), 1);
      likelihood.gradient(naive.outputs(theta, input).values.data(), target.values.data(),
                          seed.values.data());
      out = out + naive.row(theta, input, seed);
    }
    return out;
  }
  /// Central differences of step h: H v up to h^2 times fourth derivatives and 1e-16 / h.
  Dense product(const Dense& theta, const Dense& v, double h = 1e-5) const {
    return 1 / (2 * h) * (gradient(theta + h * v) - gradient(theta - h * v));
  }
  /// Summed over the samples.
  Dense hessian() const {
    Dense out(dimension(), 0), total(dimension(), dimension());
    for (Index s = 0; s < thetas.cols; ++s) {
      out.cols = 0;
      out.values.clear();
      for (Index p = 0; p < dimension(); ++p)
        out = beside(out, product(columns_of(thetas, s, 1), columns_of(identity(dimension()), p, 1)));
      total = total + out;
    }
    return total;
  }
};

inline constexpr bdl_activation all_activations[] = {BDL_IDENTITY, BDL_RELU,     BDL_LEAKY_RELU,
                                                     BDL_ELU,      BDL_GELU,     BDL_TANH,
                                                     BDL_SIGMOID,  BDL_SOFTPLUS, BDL_SWISH};

/// check(problem) for every activation and likelihood, depths 0 to 2, with and without bias.
template <class Check>
void for_each_hessian_problem(Check check, Index samples = 1) {
  for (const Likelihood& likelihood : all_likelihoods())
    for (const bdl_activation activation : all_activations)
      for (const bool bias : {true, false})
        for (const auto& hidden : std::vector<std::vector<Index>>{{}, {3}, {3, 2}}) {
          if (hidden.empty() && activation != BDL_TANH) continue;  // there is nothing to activate
          check(HessianProblem(likelihood, hidden, activation, bias, 3, samples));
        }
}

template <class T>
Dense symmetric_of(const HessianProblem& problem, HessianEstimator<T>& estimator, double scale) {
  const Index dimension = problem.dimension();
  Padded<double> out(Dense(dimension, dimension, 7), 2);
  const Padded<T> thetas(problem.thetas), x(problem.x), y(problem.y);
  estimator.dense(thetas.get(), x.get(), y.get(), scale, out.view());
  Dense lower = out.dense();
  for (Index j = 0; j < dimension; ++j)
    for (Index i = 0; i < j; ++i) {
      assert_true(lower(i, j) == 7);  // the upper triangle is not touched
      lower(i, j) = lower(j, i);
    }
  return lower;
}

template <class T>
Dense products_of(const HessianProblem& problem, HessianEstimator<T>& estimator, double scale,
                  const Dense& v) {
  const Padded<T> thetas(problem.thetas, 1), x(problem.x), y(problem.y), vectors(v, 3);
  Padded<T> out(poison(v.rows, v.cols), 2);
  estimator.products(thetas.get(), x.get(), y.get(), scale, vectors.get(), out.view());
  return out.dense();
}

template <class T>
Dense diagonal_of(const HessianProblem& problem, HessianEstimator<T>& estimator, double scale) {
  const Padded<T> thetas(problem.thetas), x(problem.x), y(problem.y);
  Padded<T> out(poison(problem.dimension(), 1));
  estimator.diagonal(thetas.get(), x.get(), y.get(), scale, out.column());
  return out.dense();
}

template <class T>
Dense probed_diagonal(const HessianProblem& problem, HessianEstimator<T>& estimator, double scale,
                      const Dense& probes) {
  const Padded<T> thetas(problem.thetas), x(problem.x), y(problem.y), z(probes, 1);
  Padded<T> out(poison(problem.dimension(), 1));
  estimator.diagonal_by_probes(thetas.get(), x.get(), y.get(), scale, z.get(), out.column());
  return out.dense();
}

}  // namespace bdl::testing
