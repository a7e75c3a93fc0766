// Posteriors of every family together with their dense mean, precision and covariance.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "posterior/blocks/blocks.hpp"
#include "posterior/diagonal/diagonal_moment.hpp"
#include "posterior/full/full.hpp"
#include "posterior/full/full_moment.hpp"
#include "posterior/kronecker/kronecker.hpp"
#include "posterior/low_rank/low_rank.hpp"
#include "posterior/low_rank_moment/low_rank_moment.hpp"
#include "support/dense.hpp"

namespace bdl::testing {

template <class T>
struct Belief {
  std::string name;
  std::unique_ptr<Posterior<T>> q;
  Dense mean, precision, covariance;
};

/// The parameter that is the weight of column c and output o; the last column may be the bias.
inline Index parameter_of(const MatrixShape& shape, Index o, Index c) {
  return c < shape.inputs ? o * shape.inputs + c : shape.outputs * shape.inputs + o;
}

/// sum over pairs of eigenvectors of a number times the outer product of their Kronecker product.
template <class Number>
Dense sum_over_pairs(const MatrixShape& shape, const Dense& outputs, const Dense& inputs, Number&& number) {
  Dense sum(shape.parameters(), shape.parameters());
  for (Index i = 0; i < outputs.cols; ++i)
    for (Index j = 0; j < inputs.cols; ++j) {
      Dense pair(shape.parameters(), 1);
      for (Index o = 0; o < outputs.rows; ++o)
        for (Index c = 0; c < inputs.rows; ++c)
          pair(parameter_of(shape, o, c), 0) = outputs(o, i) * inputs(c, j);
      sum = sum + number(j, i) * (pair * transposed(pair));
    }
  return sum;
}

/// The precision that a posterior holds, by its own numbers.
template <class T>
Dense dense_precision(const Posterior<T>& q) {
  if (const auto* blocks = dynamic_cast<const BlocksPosterior<T>*>(&q)) {
    Dense out(q.dimension(), q.dimension());
    for (Index k = 0; k < blocks->block_count(); ++k) {
      const Dense own = dense_precision(blocks->member(k));
      for (Index j = 0; j < own.cols; ++j)
        for (Index i = 0; i < own.rows; ++i) out(blocks->offset(k) + i, blocks->offset(k) + j) = own(i, j);
    }
    return out;
  }
  if (const auto* full = dynamic_cast<const FullPosterior<T>*>(&q)) return dense_of(full->precision());
  if (const auto* moment = dynamic_cast<const FullMomentPosterior<T>*>(&q))
    return inverse_of(dense_of(moment->covariance()));
  if (const auto* moment = dynamic_cast<const DiagonalMomentPosterior<T>*>(&q))
    return inverse_of(diagonal_matrix(column_of(moment->variance())));
  if (const auto* moment = dynamic_cast<const LowRankMomentPosterior<T>*>(&q)) {
    const Dense w = dense_of(moment->w());
    return inverse_of(w * transposed(w) + diagonal_matrix(column_of(moment->s())));
  }
  if (const auto* block = dynamic_cast<const KroneckerPosterior<T>*>(&q))
    return sum_over_pairs(block->shape(), dense_of(block->output_vectors()), dense_of(block->input_vectors()),
                          [&](Index j, Index i) { return static_cast<double>(block->precision()(j, i)); });
  const auto& low_rank = dynamic_cast<const LowRankPosterior<T>&>(q);
  const Dense u = dense_of(low_rank.u());
  return u * transposed(u) + diagonal_matrix(column_of(low_rank.d()));
}

/// F (D x D and the normals of factors) such that draws are mu + F times standard normals.
template <class T>
Dense root_of(const Posterior<T>& q) {
  const Index d = q.dimension(), more = q.factor_normals();
  Dense unit = beside(identity(d), Dense(d, more));
  std::vector<T> values(unit.values.begin(), unit.values.end()),
      coefficients(static_cast<std::size_t>(more * (d + more)));
  for (Index k = 0; k < more; ++k) coefficients[static_cast<std::size_t>(k + (d + k) * more)] = 1;
  Scratch scratch;
  const MatrixView<T> f(values.data(), d, d + more);
  q.color({}, f, ConstMatrixView<T>(coefficients.data(), more, d + more), scratch);
  return dense_of(f);
}

template <class T>
Belief<T> belief_of(std::string name, std::unique_ptr<Posterior<T>> q, const Dense& mean) {
  for (Index i = 0; i < mean.rows; ++i) q->mean()[static_cast<std::size_t>(i)] = static_cast<T>(mean(i, 0));
  const Dense precision = dense_precision(*q), held = column_of(std::as_const(*q).mean());
  return {std::move(name), std::move(q), held, precision, inverse_of(precision)};
}

template <class T>
std::unique_ptr<LowRankPosterior<T>> low_rank_of(const Dense& u, const Dense& d) {
  auto q = std::make_unique<LowRankPosterior<T>>(u.rows, u.cols);
  std::vector<T> factor(u.values.size()), diagonal(d.values.size());
  std::transform(u.values.begin(), u.values.end(), factor.begin(),
                 [](double v) { return static_cast<T>(v); });
  std::transform(d.values.begin(), d.values.end(), diagonal.begin(),
                 [](double v) { return static_cast<T>(v); });
  q->set_precision({factor.data(), u.rows, u.cols}, diagonal);
  return q;
}

template <class T>
std::unique_ptr<LowRankMomentPosterior<T>> low_rank_moment_of(const Dense& w, const Dense& s) {
  auto q = std::make_unique<LowRankMomentPosterior<T>>(w.rows, w.cols);
  const std::vector<T> factor(w.values.begin(), w.values.end()), diagonal(s.values.begin(), s.values.end());
  q->set_covariance({factor.data(), w.rows, w.cols}, diagonal);
  return q;
}

template <class T>
std::unique_ptr<FullPosterior<T>> full_of(const Dense& precision) {
  auto q = std::make_unique<FullPosterior<T>>(precision.rows);
  q->set_precision({precision.values.data(), precision.rows, precision.rows});
  return q;
}

template <class T>
std::unique_ptr<FullMomentPosterior<T>> full_moment_of(const Dense& covariance) {
  auto q = std::make_unique<FullMomentPosterior<T>>(covariance.rows);
  q->set_covariance({covariance.values.data(), covariance.rows, covariance.rows});
  return q;
}

/// Random orthogonal matrices and precisions.
template <class T>
std::unique_ptr<KroneckerPosterior<T>> kronecker_of(const MatrixShape& shape, Random& random) {
  auto q = std::make_unique<KroneckerPosterior<T>>(shape);
  const auto fill = [](const Dense& from, MatrixView<T> to) {
    std::transform(from.values.begin(), from.values.end(), to.data,
                   [](double v) { return static_cast<T>(v); });
  };
  const auto vectors = [&](Index size) {
    const Dense root = random.normal(size, size);
    return eigen_of(root * transposed(root)).vectors;
  };
  fill(vectors(shape.outputs), q->output_vectors());
  fill(vectors(shape.columns()), q->input_vectors());
  fill(random.uniform(shape.columns(), shape.outputs, 0.5, 3), q->precision());
  q->finish();
  return q;
}

/// Returns a matrix with this number of parameters, as square as possible, with a bias if there is room for
/// one.
inline MatrixShape matrix_of(Index dimension) {
  Index outputs = 1;
  for (Index o = 2; o * o <= dimension; ++o)
    if (dimension % o == 0) outputs = o;
  const Index columns = dimension / outputs;
  return columns > 1 ? MatrixShape{outputs, columns - 1, true} : MatrixShape{outputs, columns, false};
}

/// Blocks of all families that there is room for.
template <class T>
std::unique_ptr<BlocksPosterior<T>> blocks_of(Index dimension, Random& random) {
  std::vector<std::unique_ptr<Posterior<T>>> members;
  const auto positive = [&](Index size) {
    const Dense root = random.normal(size, size);
    return root * transposed(root) + identity(size);
  };
  const Index share = dimension / 4;
  if (share > 0) {
    members.push_back(full_moment_of<T>(positive(share)));
    members.push_back(low_rank_of<T>(random.normal(share, 1), random.uniform(share, 1, 0.5, 3)));
    members.push_back(low_rank_moment_of<T>(random.normal(share, 2), random.uniform(share, 1, 0.5, 3)));
  }
  members.push_back(full_of<T>(positive(dimension - 3 * share)));
  return std::make_unique<BlocksPosterior<T>>(Family::layerwise_full, std::move(members));
}

/// Every family, ranks 0 to D, deficient and zero factors, all of one dimension.
template <class T>
std::vector<Belief<T>> beliefs(Index dimension, std::uint64_t seed) {
  Random random(seed);
  std::vector<Belief<T>> out;
  const auto d = [&] { return random.uniform(dimension, 1, 0.5, 3); };
  const auto mean = [&] { return random.normal(dimension, 1); };
  const auto add = [&](const char* name, const Dense& u) {
    out.push_back(belief_of<T>(name, low_rank_of<T>(u, d()), mean()));
  };
  const Dense column = random.normal(dimension, 1);
  add("diagonal", Dense(dimension, 0));
  add("rank 3", random.normal(dimension, std::min<Index>(3, dimension)));
  add("zero factor", Dense(dimension, std::min<Index>(2, dimension)));
  add("deficient factor", beside(column, 2.0 * column));
  add("rank D", random.normal(dimension, dimension));
  const Dense root = random.normal(dimension, dimension);
  out.push_back(belief_of<T>("full", full_of<T>(root * transposed(root) + identity(dimension)), mean()));
  const Dense other = random.normal(dimension, dimension);
  out.push_back(belief_of<T>("full moment",
                             full_moment_of<T>(other * transposed(other) + identity(dimension)), mean()));
  const auto add_moment = [&](const char* name, const Dense& w) {
    out.push_back(belief_of<T>(name, low_rank_moment_of<T>(w, d()), mean()));
  };
  add_moment("moment, rank 0", Dense(dimension, 0));
  add_moment("moment, rank 2", random.normal(dimension, 2));
  add_moment("moment, zero factor", Dense(dimension, 2));
  add_moment("moment, equal columns", beside(column, column));
  add_moment("moment, rank D + 3", random.normal(dimension, dimension + 3));
  for (const MatrixShape& shape : {matrix_of(dimension), MatrixShape{dimension, 1, false}}) {
    std::vector<std::unique_ptr<Posterior<T>>> members;
    members.push_back(kronecker_of<T>(shape, random));
    auto q = std::make_unique<BlocksPosterior<T>>(Family::kronecker, std::move(members));
    out.push_back(belief_of<T>("Kronecker", std::move(q), mean()));
  }
  out.push_back(belief_of<T>("blocks", blocks_of<T>(dimension, random), mean()));
  return out;
}

}  // namespace bdl::testing
