#include <algorithm>
#include <cmath>

#include "c_api/convert.hpp"
#include "c_api/handles.hpp"
#include "curvature/dense_rows.hpp"
#include "posterior/full.hpp"
#include "posterior/low_rank.hpp"

namespace bdl {
namespace {

/// A D x L matrix argument that is there: none may be given, nor one without columns at rank 0.
bool given_columns(const Array& low_rank, Index rank) {
  return given(low_rank) && !(rank == 0 && low_rank.cols == 0);
}

template <class T>
const LowRankPosterior<T>& as_low_rank(const Posterior<T>& q) {
  if (q.family() != Family::low_rank)
    fail(Status::ERROR_UNSUPPORTED, "the posterior is not of the low-rank family");
  return dynamic_cast<const LowRankPosterior<T>&>(q);
}

/// Fails unless the array is the mean of a posterior of this dimension.
template <class T>
void check_mean(const Array& mean, Index dimension) {
  check_shape(mean, 1, dimension, "mean");
  check_finite<T>(mean, "mean");
}

/// Replaces q by a finished successor: nothing has changed if building it failed.
template <class T>
void replace(Posterior<T>& q, Posterior<T>& successor, const Array& mean) {
  gather(mean, 0, MatrixView<T>(successor.mean().data(), q.dimension(), 1));
  successor.set_blank(false);
  q.swap(successor);
}

template <class T>
void set_low_rank(Posterior<T>& q, const Array& mean, const Array& low_rank, const Array& diagonal) {
  const Index dimension = q.dimension(), rank = as_low_rank(q).rank();
  check_mean<T>(mean, dimension);
  check_shape(diagonal, 1, dimension, "diagonal");
  check_positive<T>(diagonal, "diagonal");
  LowRankPosterior<T> successor(dimension, rank);
  const bool has_columns = given_columns(low_rank, rank);
  Buffer<T> u(has_columns ? dimension * rank : 0);
  if (has_columns) {
    check_shape(low_rank, dimension, rank, "low_rank");
    check_finite<T>(low_rank, "low_rank");
    Array columns = low_rank;  // one column of U per column of the core
    std::swap(columns.rows, columns.cols);
    std::swap(columns.row_stride, columns.col_stride);
    gather(columns, 0, u.matrix(dimension, rank));
  }
  successor.set_precision(u.matrix(dimension, has_columns ? rank : 0),
                          gathered<T>(diagonal).first(dimension));
  replace(q, successor, mean);
}

template <class T>
void set_full(Posterior<T>& q, const Array& mean, const Array& precision) {
  const Index dimension = q.dimension();
  if (q.family() != Family::full) fail(Status::ERROR_UNSUPPORTED, "the posterior is not of the full family");
  check_mean<T>(mean, dimension);
  check_shape(precision, dimension, dimension, "precision");
  check_finite(precision, "precision");
  for (Index i = 0; i < dimension; ++i)
    for (Index j = 0; j < i; ++j) {
      const double below = element(precision, i, j), above = element(precision, j, i);
      if (std::abs(below - above) >
          1e-5 * std::sqrt(std::abs(element(precision, i, i) * element(precision, j, j))))
        fail(Status::ERROR_INVALID_ARGUMENT, "precision is not symmetric at row %lld, column %lld",
             static_cast<long long>(i), static_cast<long long>(j));
    }
  FullPosterior<T> successor(dimension);
  successor.set_precision(gathered<double>(precision).matrix(dimension, dimension));
  replace<T>(q, successor, mean);
}

/// One step of spec/slang.md without momentum, from the caller's rows.
template <class T>
void update(Posterior<T>& q, const Array& rows, double scale, double learning_rate, double curvature_rate,
            const Array& prior_precision) {
  const Index dimension = q.dimension();
  check_shape(rows, -1, dimension, "rows");
  check_finite<T>(rows, "rows");
  const Buffer<T> prior = gathered_precision<T>(prior_precision, dimension, "prior_precision");
  DenseRows<T> b;
  gather(rows, 0, b.resize(dimension, rows.rows));
  Buffer<T> weights(rows.rows), step(dimension);
  const auto w = weights.first(rows.rows), direction = step.first(dimension);
  std::ranges::fill(w, static_cast<T>(scale));
  b.sum(w, direction);
  std::ranges::fill(w, static_cast<T>(scale * curvature_rate));
  UpdateWorkspace<T> workspace;
  const auto next = q.clone();
  ProjectionOptions exact;
  exact.method = dimension < q.rank() + rows.rows ? EigenMethod::outer : EigenMethod::gram;
  next->update(q, {&b, w, curvature_rate, prior.first(dimension), exact, {}}, workspace);
  for (std::size_t i = 0; i < direction.size(); ++i) direction[i] += prior.data()[i] * q.mean()[i];
  next->solve({direction.data(), dimension, 1}, workspace.scratch);
  for (std::size_t i = 0; i < direction.size(); ++i)
    next->mean()[i] -= static_cast<T>(learning_rate) * direction[i];
  if (!std::ranges::all_of(next->mean(), [](T value) { return std::isfinite(value); }))
    fail(Status::ERROR_DIVERGED, "the mean is not finite after the step");
  next->set_blank(false);
  q.swap(*next);
}

template <class T>
void draw(const Posterior<T>& q, uint64_t seed, Index first, const Array& samples) {
  PosteriorScratch<T> scratch;
  Buffer<T> theta(q.dimension());
  for (Index i = 0; i < samples.rows; ++i) {
    const auto column = theta.matrix(q.dimension(), 1);
    sample(q, {seed, Stream::user, 0, static_cast<std::uint32_t>(first + i)}, column, scratch);
    scatter<T>(column, samples, i);
  }
}

template <class T>
void read_vector(ConstSpan<T> values, const Array& out) {
  scatter<T>({values.data(), static_cast<Index>(values.size()), 1}, out);
}

void check_indices(const int64_t* indices, Index count, Index dimension, const char* name) {
  not_null(indices, name);
  check_range(count, 1, INT64_MAX, "an index count");
  for (Index k = 0; k < count; ++k) check_range(indices[k], 0, dimension - 1, name);
}

template <class Create>
void create(bdl_posterior** posterior, const bdl_dtype& dtype, Index dimension, Create&& make) {
  not_null(posterior, "posterior");
  check_range(dimension, 1, blas_limit, "dimension");
  with_dtype(dtype, [&](auto scalar) {
    using T = decltype(scalar);
    *posterior = new bdl_posterior{std::shared_ptr<Posterior<T>>(make(scalar))};
  });
}

}  // namespace
}  // namespace bdl

using namespace bdl;

bdl_status bdl_posterior_create_low_rank(bdl_dtype dtype, int64_t dimension, int64_t rank,
                                         bdl_posterior** posterior) {
  return guard("bdl_posterior_create_low_rank", [&] {
    create(posterior, dtype, dimension, [&](auto scalar) {
      check_range(rank, 0, dimension, "rank");
      return std::make_shared<LowRankPosterior<decltype(scalar)>>(dimension, rank);
    });
  });
}

bdl_status bdl_posterior_create_full(bdl_dtype dtype, int64_t dimension, bdl_posterior** posterior) {
  return guard("bdl_posterior_create_full", [&] {
    create(posterior, dtype, dimension,
           [&](auto scalar) { return std::make_shared<FullPosterior<decltype(scalar)>>(dimension); });
  });
}

bdl_status bdl_posterior_copy(const bdl_posterior* posterior, bdl_posterior** copy) {
  return guard("bdl_posterior_copy", [&] {
    not_null(copy, "copy");
    with(posterior, "posterior", [&](const auto& q) {
      using T = typename std::remove_cvref_t<decltype(q)>::Scalar;
      *copy = new bdl_posterior{std::shared_ptr<Posterior<T>>(q.clone())};
    });
  });
}

void bdl_posterior_free(bdl_posterior* posterior) {
  delete posterior;
}

int64_t bdl_posterior_dimension(const bdl_posterior* posterior) {
  return posterior ? std::visit([](const auto& q) { return q->dimension(); }, posterior->object) : 0;
}

int64_t bdl_posterior_rank(const bdl_posterior* posterior) {
  return posterior ? std::visit([](const auto& q) { return q->rank(); }, posterior->object) : 0;
}

bdl_status bdl_posterior_set_low_rank(bdl_posterior* posterior, bdl_matrix mean, bdl_matrix low_rank,
                                      bdl_matrix diagonal) {
  return guard("bdl_posterior_set_low_rank", [&] {
    with(posterior, "posterior", [&](auto& q) { set_low_rank(q, mean, low_rank, diagonal); });
  });
}

bdl_status bdl_posterior_set_full(bdl_posterior* posterior, bdl_matrix mean, bdl_matrix precision) {
  return guard("bdl_posterior_set_full",
               [&] { with(posterior, "posterior", [&](auto& q) { set_full(q, mean, precision); }); });
}

bdl_status bdl_posterior_mean(const bdl_posterior* posterior, bdl_matrix mean) {
  return guard("bdl_posterior_mean", [&] {
    with(posterior, "posterior", [&](const auto& q) {
      check_output(mean, 1, q.dimension(), "mean");
      read_vector(q.mean(), mean);
    });
  });
}

bdl_status bdl_posterior_low_rank(const bdl_posterior* posterior, bdl_matrix low_rank, bdl_matrix diagonal) {
  return guard("bdl_posterior_low_rank", [&] {
    with(posterior, "posterior", [&](const auto& q) {
      const auto& parts = as_low_rank(q);
      const bool has_columns = given_columns(low_rank, q.rank());
      if (has_columns) check_output(low_rank, q.dimension(), q.rank(), "low_rank");
      if (given(diagonal)) check_output(diagonal, 1, q.dimension(), "diagonal");
      Array columns = low_rank;
      std::swap(columns.rows, columns.cols);
      std::swap(columns.row_stride, columns.col_stride);
      if (has_columns) scatter(parts.u(), columns);
      if (given(diagonal)) read_vector(parts.d(), diagonal);
    });
  });
}

bdl_status bdl_posterior_precision_diagonal(const bdl_posterior* posterior, bdl_matrix diagonal) {
  return guard("bdl_posterior_precision_diagonal", [&] {
    with(posterior, "posterior", [&](const auto& q) {
      using T = typename std::remove_cvref_t<decltype(q)>::Scalar;
      check_output(diagonal, 1, q.dimension(), "diagonal");
      Buffer<T> values(q.dimension());
      q.precision_diagonal(values.first(q.dimension()));
      read_vector<T>(values.first(q.dimension()), diagonal);
    });
  });
}

bdl_status bdl_posterior_marginal_variance(const bdl_posterior* posterior, bdl_matrix variance) {
  return guard("bdl_posterior_marginal_variance", [&] {
    with(posterior, "posterior", [&](const auto& q) {
      using T = typename std::remove_cvref_t<decltype(q)>::Scalar;
      check_output(variance, 1, q.dimension(), "variance");
      Buffer<T> values(q.dimension());
      PosteriorScratch<T> scratch;
      q.marginal_variance(values.first(q.dimension()), scratch);
      read_vector<T>(values.first(q.dimension()), variance);
    });
  });
}

bdl_status bdl_posterior_covariance(const bdl_posterior* posterior, const int64_t* rows, int64_t row_count,
                                    const int64_t* cols, int64_t col_count, bdl_matrix covariance) {
  return guard("bdl_posterior_covariance", [&] {
    with(posterior, "posterior", [&](const auto& q) {
      using T = typename std::remove_cvref_t<decltype(q)>::Scalar;
      check_indices(rows, row_count, q.dimension(), "rows");
      check_indices(cols, col_count, q.dimension(), "cols");
      check_output(covariance, row_count, col_count, "covariance");
      Buffer<double> block(row_count * col_count);
      PosteriorScratch<T> scratch;
      // One row of the array per column of the core: the block is computed transposed.
      covariance_block<T>(q, {cols, static_cast<std::size_t>(col_count)},
                          {rows, static_cast<std::size_t>(row_count)}, block.matrix(col_count, row_count),
                          scratch);
      scatter<double>(block.matrix(col_count, row_count), covariance);
    });
  });
}

bdl_status bdl_posterior_solve(const bdl_posterior* posterior, bdl_matrix vectors, bdl_matrix solution) {
  return guard("bdl_posterior_solve", [&] {
    with(posterior, "posterior", [&](const auto& q) {
      using T = typename std::remove_cvref_t<decltype(q)>::Scalar;
      check_shape(vectors, -1, q.dimension(), "vectors");
      check_finite<T>(vectors, "vectors");
      check_output(solution, vectors.rows, q.dimension(), "solution");
      Buffer<T> x = gathered<T>(vectors);
      PosteriorScratch<T> scratch;
      q.solve(x.matrix(q.dimension(), vectors.rows), scratch);
      scatter<T>(x.matrix(q.dimension(), vectors.rows), solution);
    });
  });
}

bdl_status bdl_posterior_sample(const bdl_posterior* posterior, uint64_t seed, int64_t first,
                                bdl_matrix samples) {
  return guard("bdl_posterior_sample", [&] {
    with(posterior, "posterior", [&](const auto& q) {
      check_output(samples, -1, q.dimension(), "samples");
      check_range(first, 0, INT64_C(0xffffffff), "first");
      check_range(samples.rows, 1, INT64_C(0x100000000) - first, "the number of samples");
      draw(q, seed, first, samples);
    });
  });
}

bdl_status bdl_posterior_log_density(const bdl_posterior* posterior, bdl_matrix parameters,
                                     bdl_matrix log_density) {
  return guard("bdl_posterior_log_density", [&] {
    with(posterior, "posterior", [&](const auto& q) {
      using T = typename std::remove_cvref_t<decltype(q)>::Scalar;
      check_shape(parameters, -1, q.dimension(), "parameters");
      check_finite<T>(parameters, "parameters");
      check_output(log_density, parameters.rows, 1, "log_density");
      const Buffer<T> thetas = gathered<T>(parameters);
      Buffer<double> values(parameters.rows);
      PosteriorScratch<T> scratch;
      for (Index i = 0; i < parameters.rows; ++i)
        values.data()[i] =
            bdl::log_density(q, thetas.matrix(q.dimension(), parameters.rows).column(i), scratch);
      scatter<double>(values.matrix(1, parameters.rows), log_density);
    });
  });
}

bdl_status bdl_posterior_log_det_covariance(const bdl_posterior* posterior, double* log_det) {
  return guard("bdl_posterior_log_det_covariance", [&] {
    not_null(log_det, "log_det");
    with(posterior, "posterior", [&](const auto& q) { *log_det = q.log_det_covariance(); });
  });
}

bdl_status bdl_posterior_entropy(const bdl_posterior* posterior, double* entropy) {
  return guard("bdl_posterior_entropy", [&] {
    not_null(entropy, "entropy");
    with(posterior, "posterior",
         [&](const auto& q) { *entropy = bdl::entropy(q.dimension(), q.log_det_covariance()); });
  });
}

bdl_status bdl_posterior_kl_prior(const bdl_posterior* posterior, bdl_matrix prior_precision, double* kl) {
  return guard("bdl_posterior_kl_prior", [&] {
    not_null(kl, "kl");
    with(posterior, "posterior", [&](const auto& q) {
      using T = typename std::remove_cvref_t<decltype(q)>::Scalar;
      const Buffer<T> precision = gathered_precision<T>(prior_precision, q.dimension(), "prior_precision");
      PosteriorScratch<T> scratch;
      *kl = kl_to_prior(q, precision.first(q.dimension()), scratch);
    });
  });
}

bdl_status bdl_posterior_kl(const bdl_posterior* q, const bdl_posterior* p, double* kl) {
  return guard("bdl_posterior_kl", [&] {
    not_null(kl, "kl");
    with(q, "q", [&](const auto& from) {
      using T = typename std::remove_cvref_t<decltype(from)>::Scalar;
      not_null(p, "p");
      const auto* to = std::get_if<std::shared_ptr<Posterior<T>>>(&p->object);
      if (!to)
        fail(Status::ERROR_SHAPE, "p is %s, q %s", dtype_name(p->object.index()),
             dtype_name(q->object.index()));
      if ((*to)->dimension() != from.dimension())
        fail(Status::ERROR_SHAPE, "p has %lld parameters, q %lld", static_cast<long long>((*to)->dimension()),
             static_cast<long long>(from.dimension()));
      PosteriorScratch<T> scratch;
      *kl = bdl::kl(from, **to, scratch);
    });
  });
}

bdl_status bdl_posterior_update(bdl_posterior* posterior, bdl_matrix rows, double scale, double learning_rate,
                                double curvature_rate, bdl_matrix prior_precision) {
  return guard("bdl_posterior_update", [&] {
    if (!(scale > 0 && scale < HUGE_VAL))
      fail(Status::ERROR_INVALID_ARGUMENT, "scale is %g, expected a positive finite number", scale);
    if (!(learning_rate >= 0 && learning_rate < HUGE_VAL))
      fail(Status::ERROR_INVALID_ARGUMENT, "learning_rate is %g, expected a finite number >= 0",
           learning_rate);
    if (!(curvature_rate >= 0 && curvature_rate < 1))
      fail(Status::ERROR_INVALID_ARGUMENT, "curvature_rate is %g, expected [0, 1)", curvature_rate);
    with(posterior, "posterior",
         [&](auto& q) { update(q, rows, scale, learning_rate, curvature_rate, prior_precision); });
  });
}
