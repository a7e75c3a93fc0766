#include "fuzz/api/calls.hpp"
#include "fuzz/api/session.hpp"

namespace fuzz {
namespace {

/// Dimension and type of a posterior: those of a model, so that they go together.
Shape some_shape(Session& s) {
  return s.model().shape;
}

std::int64_t dimension(Session& s, const Shape& shape) {
  return s.faulty() ? s.bytes.one_of({std::int64_t(0), std::int64_t(-1), INT64_MAX, std::int64_t(1) << 40})
                    : shape.parameters;
}

bdl_dtype type_of(Session& s, const Shape& shape) {
  return s.faulty() ? static_cast<bdl_dtype>(s.bytes.below(6)) : static_cast<bdl_dtype>(shape.dtype);
}

std::int64_t d_of(const Slot<bdl_posterior>& q) {
  return bdl_posterior_dimension(q.handle);
}

}  // namespace

BDL_CALLS(bdl_posterior_create_low_rank) {
  const Shape shape = some_shape(s);
  const std::int64_t rank =
      s.faulty() ? s.size(1) : std::min<std::int64_t>(s.bytes.below(4), shape.parameters);
  s.keep(s.creates<bdl_posterior>(bdl_posterior_create_low_rank,
                                  With{type_of(s, shape), dimension(s, shape), rank}),
         shape);
}

BDL_CALLS(bdl_posterior_create_full) {
  const Shape shape = some_shape(s);
  s.keep(s.creates<bdl_posterior>(bdl_posterior_create_full, With{type_of(s, shape), dimension(s, shape)}),
         shape);
}

BDL_CALLS(bdl_posterior_create_full_moment) {
  const Shape shape = some_shape(s);
  s.keep(s.creates<bdl_posterior>(bdl_posterior_create_full_moment,
                                  With{type_of(s, shape), dimension(s, shape)}),
         shape);
}

BDL_CALLS(bdl_posterior_create_diagonal_moment) {
  const Shape shape = some_shape(s);
  s.keep(s.creates<bdl_posterior>(bdl_posterior_create_diagonal_moment,
                                  With{type_of(s, shape), dimension(s, shape)}),
         shape);
}

BDL_CALLS(bdl_posterior_create_dropout) {
  auto& m = s.model();
  s.keep(
      s.creates<bdl_posterior>(bdl_posterior_create_dropout, With{m.handle, s.number() / 4, s.number() / 4}),
      m.shape);
}

BDL_CALLS(bdl_posterior_create_layerwise_full) {
  auto& m = s.model();
  s.keep(s.creates<bdl_posterior>(bdl_posterior_create_layerwise_full, With{m.handle}), m.shape);
}

BDL_CALLS(bdl_posterior_create_blockwise_full) {
  const Shape shape = some_shape(s);
  const std::int64_t first = 1 + s.bytes.below(5);
  const std::int64_t sizes[] = {first,
                                s.faulty() ? s.size(4) : std::max<std::int64_t>(shape.parameters - first, 1)};
  s.keep(
      s.creates<bdl_posterior>(bdl_posterior_create_blockwise_full,
                               With{type_of(s, shape), s.faulty() ? nullptr : &sizes[0], s.faulty() ? 0 : 2}),
      shape);
}

BDL_CALLS(bdl_posterior_create_low_rank_moment) {
  const Shape shape = some_shape(s);
  s.keep(s.creates<bdl_posterior>(bdl_posterior_create_low_rank_moment,
                                  With{type_of(s, shape), dimension(s, shape), s.index(4)}),
         shape);
}

BDL_CALLS(bdl_posterior_as_full) {
  auto& q = s.posterior();
  s.keep(s.creates<bdl_posterior>(bdl_posterior_as_full, With{q.handle}), q.shape);
}

BDL_CALLS(bdl_posterior_as_diagonal) {
  auto& q = s.posterior();
  s.keep(s.creates<bdl_posterior>(bdl_posterior_as_diagonal, With{q.handle}), q.shape);
}

BDL_CALLS(bdl_posterior_create_layerwise_low_rank_moment) {
  auto& m = s.model();
  s.keep(s.creates<bdl_posterior>(bdl_posterior_create_layerwise_low_rank_moment, With{m.handle, s.index(3)}),
         m.shape);
}

BDL_CALLS(bdl_posterior_create_kronecker) {
  auto& m = s.model();
  s.keep(s.creates<bdl_posterior>(bdl_posterior_create_kronecker, With{m.handle}), m.shape);
}

BDL_CALLS(bdl_posterior_copy) {
  auto& q = s.posterior();
  s.keep(s.creates<bdl_posterior>(bdl_posterior_copy, With{q.handle}), q.shape);
}

BDL_CALLS(bdl_posterior_free) {
  s.frees(bdl_posterior_free, s.posterior());
}

BDL_CALLS(bdl_posterior_dimension) {
  s.asks(bdl_posterior_dimension, With{s.posterior().handle});
}
BDL_CALLS(bdl_posterior_rank) {
  s.asks(bdl_posterior_rank, With{s.posterior().handle});
}
BDL_CALLS(bdl_posterior_family) {
  s.asks(bdl_posterior_family, With{s.posterior().handle});
}
BDL_CALLS(bdl_posterior_dtype) {
  s.asks(bdl_posterior_dtype, With{s.posterior().handle});
}
BDL_CALLS(bdl_posterior_is_blank) {
  s.asks(bdl_posterior_is_blank, With{s.posterior().handle});
}
BDL_CALLS(bdl_posterior_has_covariance) {
  s.asks(bdl_posterior_has_covariance, With{s.posterior().handle});
}

BDL_CALLS(bdl_posterior_set_low_rank) {
  auto& q = s.posterior();
  const std::int64_t d = d_of(q), rank = bdl_posterior_rank(q.handle);
  s.changes(bdl_posterior_set_low_rank,
            With{q.handle, s.in(1, d), rank > 0 ? s.in(d, rank) : bdl_none(), s.in(1, d, Kind::positive)});
}

BDL_CALLS(bdl_posterior_set_full) {
  auto& q = s.posterior();
  s.changes(bdl_posterior_set_full,
            With{q.handle, s.in(1, d_of(q)), s.in(d_of(q), d_of(q), Kind::covariance)});
}

BDL_CALLS(bdl_posterior_set_full_moment) {
  auto& q = s.posterior();
  s.changes(bdl_posterior_set_full_moment,
            With{q.handle, s.in(1, d_of(q)), s.in(d_of(q), d_of(q), Kind::covariance)});
}

BDL_CALLS(bdl_posterior_set_diagonal_moment) {
  auto& q = s.posterior();
  s.changes(bdl_posterior_set_diagonal_moment,
            With{q.handle, s.in(1, d_of(q)), s.in(1, d_of(q), Kind::positive)});
}

BDL_CALLS(bdl_posterior_set_low_rank_moment) {
  auto& q = s.posterior();
  const std::int64_t d = d_of(q), rank = bdl_posterior_rank(q.handle);
  s.changes(bdl_posterior_set_low_rank_moment,
            With{q.handle, s.in(1, d), rank > 0 ? s.in(d, rank) : bdl_none(), s.in(1, d, Kind::positive)});
}

BDL_CALLS(bdl_posterior_set_dropout) {
  auto& q = s.posterior();
  s.changes(bdl_posterior_set_dropout, With{q.handle, s.in(1, d_of(q))});
}

BDL_CALLS(bdl_posterior_dropout_rates) {
  s.reads(bdl_posterior_dropout_rates, With{s.posterior().handle, s.real(), s.real()});
}

BDL_CALLS(bdl_posterior_mean) {
  auto& q = s.posterior();
  s.reads(bdl_posterior_mean, With{q.handle, s.out(1, d_of(q))});
}

BDL_CALLS(bdl_posterior_get_low_rank) {
  auto& q = s.posterior();
  s.reads(bdl_posterior_get_low_rank,
          With{q.handle, s.perhaps(d_of(q), bdl_posterior_rank(q.handle)), s.perhaps(1, d_of(q))});
}

BDL_CALLS(bdl_posterior_tensor_count) {
  s.asks(bdl_posterior_tensor_count, With{s.posterior().handle});
}

BDL_CALLS(bdl_posterior_tensor_describe) {
  s.reads(bdl_posterior_tensor_describe,
          With{s.posterior().handle, s.index(8), s.text(), s.integer(), s.integer(), s.small_integer()});
}

BDL_CALLS(bdl_posterior_get_tensor) {
  auto& q = s.posterior();
  const std::int64_t count = std::max<std::int64_t>(bdl_posterior_tensor_count(q.handle), 1);
  const std::int64_t index = s.faulty() ? s.size(1) : s.bytes.below(count);
  std::int64_t rows = 1, cols = 1;
  bdl_posterior_tensor_describe(q.handle, index % count, nullptr, &rows, &cols, nullptr);
  s.reads(bdl_posterior_get_tensor, With{q.handle, index, s.out(rows, cols)});
}

/// Up to three tensors by name: their own values again, or others.
BDL_CALLS(bdl_posterior_set_tensors) {
  auto& q = s.posterior();
  const std::int64_t all = std::max<std::int64_t>(bdl_posterior_tensor_count(q.handle), 1),
                     count = 1 + s.bytes.below(3);
  const char* names[3] = {"", "", ""};
  bdl_matrix tensors[3] = {bdl_none(), bdl_none(), bdl_none()};
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t rows = 1, cols = 1;
    const std::int64_t index = s.bytes.below(all);
    bdl_posterior_tensor_describe(q.handle, index, &names[i], &rows, &cols, nullptr);
    tensors[i] = s.in(rows, cols,
                      rows == cols       ? Kind::covariance
                      : s.bytes.below(2) ? Kind::positive
                                         : Kind::real);
    if (s.faulty()) names[i] = i == 0 ? nullptr : "nonsense";
  }
  s.changes(bdl_posterior_set_tensors,
            With{q.handle, static_cast<const char* const*>(s.faulty() ? nullptr : names),
                 static_cast<const bdl_matrix*>(s.faulty() ? nullptr : tensors),
                 s.faulty() ? -s.bytes.below(2) : count});
}

BDL_CALLS(bdl_posterior_precision_diagonal) {
  auto& q = s.posterior();  // those of points are infinite
  s.reads(bdl_posterior_precision_diagonal, With{q.handle, s.out(1, d_of(q), Finite::or_not)});
}

BDL_CALLS(bdl_posterior_marginal_variance) {
  auto& q = s.posterior();
  s.reads(bdl_posterior_marginal_variance, With{q.handle, s.out(1, d_of(q))});
}

BDL_CALLS(bdl_posterior_covariance) {
  auto& q = s.posterior();
  const std::int64_t d = std::max<std::int64_t>(d_of(q), 1);
  std::int64_t indices[4] = {};
  for (std::int64_t& index : indices) index = s.faulty() ? s.size(1) : s.bytes.below(d);
  const std::int64_t rows = 1 + s.bytes.below(3), cols = 1 + s.bytes.below(3);
  s.reads(bdl_posterior_covariance, With{q.handle, s.faulty() ? nullptr : &indices[0], s.faulty() ? 0 : rows,
                                         s.faulty() ? nullptr : &indices[1], cols, s.out(rows, cols)});
}

BDL_CALLS(bdl_posterior_coefficients) {
  auto& m = s.model();
  auto& q = s.posterior_for(m.shape);
  const std::int64_t base = s.bytes.below(4) - 1, k = bdl_model_coefficient_count(m.handle, base);
  s.reads(bdl_posterior_coefficients, With{q.handle, m.handle, base, s.perhaps(1, k), s.perhaps(k, k)});
}

BDL_CALLS(bdl_posterior_solve) {
  auto& q = s.posterior();
  const std::int64_t k = s.bytes.below(3);
  s.reads(bdl_posterior_solve, With{q.handle, s.in(k, d_of(q)), s.out(k, d_of(q))});
}

BDL_CALLS(bdl_posterior_sample) {
  auto& q = s.posterior();
  const std::int64_t k = s.bytes.below(4);
  const std::int64_t first =
      s.faulty() ? s.size(1)
                 : s.bytes.one_of({std::int64_t(0), std::int64_t(5), (std::int64_t(1) << 32) - 3});
  s.reads(bdl_posterior_sample, With{q.handle, s.seed(), first, s.out(k, d_of(q))});
}

BDL_CALLS(bdl_posterior_log_density) {
  auto& q = s.posterior();
  const std::int64_t k = s.bytes.below(4);
  s.reads(bdl_posterior_log_density, With{q.handle, s.in(k, d_of(q)), s.out(k, 1)});
}

BDL_CALLS(bdl_posterior_log_det_covariance) {
  s.reads(bdl_posterior_log_det_covariance, With{s.posterior().handle, s.real()});
}

BDL_CALLS(bdl_posterior_entropy) {
  s.reads(bdl_posterior_entropy, With{s.posterior().handle, s.real()});
}

BDL_CALLS(bdl_posterior_kl_prior) {
  auto& q = s.posterior();
  s.reads(bdl_posterior_kl_prior,
          With{q.handle, s.in(1, s.bytes.below(2) ? 1 : d_of(q), Kind::positive), s.real()});
}

BDL_CALLS(bdl_posterior_kl) {
  auto& q = s.posterior();
  s.reads(bdl_posterior_kl, With{q.handle, s.posterior_for(q.shape).handle, s.real()});
}

BDL_CALLS(bdl_posterior_update) {
  auto& q = s.posterior();
  const std::int64_t k = s.bytes.below(4);
  s.changes(bdl_posterior_update, With{q.handle, s.in(k, d_of(q)), s.number(), s.number(), s.number(),
                                       s.in(1, s.bytes.below(2) ? 1 : d_of(q), Kind::positive)});
}

}  // namespace fuzz
