#include <algorithm>
#include <numeric>
#include <vector>

#include "c_api/convert.hpp"
#include "c_api/handles.hpp"
#include "posterior/dropout/dropout.hpp"
#include "posterior/families.hpp"
#include "posterior/low_rank_moment/low_rank_moment.hpp"
#include "posterior/point_parameters.hpp"

namespace bdl {
namespace {

/// Creates a posterior of a kind that has been checked.
template <class T>
bdl_posterior* new_posterior(const PosteriorKind& kind) {
  return new bdl_posterior{std::shared_ptr<Posterior<T>>(create_posterior<T>(kind))};
}

void create(bdl_posterior** posterior, const bdl_dtype& dtype, const PosteriorKind& kind, Index most_rank) {
  not_null(posterior, "posterior");
  check_range(kind.dimension, 1, largest_size, "dimension");
  check_range(kind.rank, 0, most_rank, "rank");
  with_dtype(dtype, [&](auto scalar) { *posterior = new_posterior<decltype(scalar)>(kind); });
}

/// Creates a posterior whose kind(model) depends on the model.
template <class Kind>
void create(bdl_posterior** posterior, const bdl_model* model, Kind&& kind) {
  not_null(posterior, "posterior");
  with(model, "model", [&]<class T>(const Model<T>& m) { *posterior = new_posterior<T>(kind(m)); });
}

PosteriorKind blockwise(Family family, std::vector<Index> sizes, Index rank = 0, PointLayout points = {}) {
  const Index dimension = std::accumulate(sizes.begin(), sizes.end(), Index{0});
  return {family, dimension, rank, std::move(sizes), {}, std::move(points), {}};
}

/// Returns the number of parameters of each layer.
template <class T>
std::vector<Index> layer_parameters(const Model<T>& model) {
  std::vector<Index> sizes;
  Index layer = -1;
  for (const ParameterBlock& block : model.blocks()) {
    if (block.layer != layer) sizes.push_back(0);
    layer = block.layer;
    sizes.back() += block.size();
  }
  return sizes;
}

std::vector<Index> checked_sizes(const int64_t* sizes, int32_t count) {
  not_null(sizes, "sizes");
  check_range(count, 1, INT32_MAX, "size_count");
  Index sum = 0;
  for (int32_t k = 0; k < count; ++k) {
    check_range(sizes[k], 1, largest_size - sum, "a size");
    sum += sizes[k];
  }
  return {sizes, sizes + count};
}

void check_rate(double rate, const char* name) {
  if (!(rate >= 0 && rate < 1)) fail(Status::ERROR_INVALID_ARGUMENT, "%s is %g, expected [0, 1)", name, rate);
}

template <class T>
PosteriorKind dropout_kind(const Model<T>& model, double input_rate, double hidden_rate) {
  const Graph<T>* graph = model.graph();
  if (!graph) fail(Status::ERROR_UNSUPPORTED, "dropout is for networks: a custom model has no units to drop");
  DropoutLayout layout{layers_with_masks(*graph), input_rate, hidden_rate};
  return {Family::dropout, model.parameters(), 0, {}, std::move(layout), point_parameters_of(model), {}};
}

}  // namespace
}  // namespace bdl

using namespace bdl;

bdl_status bdl_posterior_create_low_rank(bdl_dtype dtype, int64_t dimension, int64_t rank,
                                         bdl_posterior** posterior) {
  return guard(__func__, [&] { create(posterior, dtype, {Family::low_rank, dimension, rank}, dimension); });
}

bdl_status bdl_posterior_create_low_rank_moment(bdl_dtype dtype, int64_t dimension, int64_t rank,
                                                bdl_posterior** posterior) {
  return guard(__func__, [&] {
    create(posterior, dtype, {Family::low_rank_moment, dimension, rank},
           std::max<Index>(dimension, most_rank_above_dimension));
  });
}

bdl_status bdl_posterior_create_full(bdl_dtype dtype, int64_t dimension, bdl_posterior** posterior) {
  return guard(__func__, [&] { create(posterior, dtype, {Family::full, dimension}, 0); });
}

bdl_status bdl_posterior_create_full_moment(bdl_dtype dtype, int64_t dimension, bdl_posterior** posterior) {
  return guard(__func__, [&] { create(posterior, dtype, {Family::full_moment, dimension}, 0); });
}

bdl_status bdl_posterior_create_diagonal_moment(bdl_dtype dtype, int64_t dimension,
                                                bdl_posterior** posterior) {
  return guard(__func__, [&] { create(posterior, dtype, {Family::diagonal_moment, dimension}, 0); });
}

bdl_status bdl_posterior_create_blockwise_full(bdl_dtype dtype, const int64_t* sizes, int32_t size_count,
                                               bdl_posterior** posterior) {
  return guard(__func__, [&] {
    not_null(posterior, "posterior");
    create(posterior, dtype, blockwise(Family::layerwise_full, checked_sizes(sizes, size_count)), 0);
  });
}

bdl_status bdl_posterior_create_layerwise_full(const bdl_model* model, bdl_posterior** posterior) {
  return guard(__func__, [&] {
    create(posterior, model, [](const auto& m) {
      return blockwise(Family::layerwise_full, layer_parameters(m), 0, point_parameters_of(m));
    });
  });
}

bdl_status bdl_posterior_create_layerwise_low_rank_moment(const bdl_model* model, int64_t rank,
                                                          bdl_posterior** posterior) {
  return guard(__func__, [&] {
    create(posterior, model, [&](const auto& m) {
      check_range(rank, 0, most_rank_above_dimension, "rank");
      return blockwise(Family::layerwise_low_rank_moment, layer_parameters(m), rank, point_parameters_of(m));
    });
  });
}

bdl_status bdl_posterior_create_kronecker(const bdl_model* model, bdl_posterior** posterior) {
  return guard(__func__, [&] {
    create(posterior, model, [](const auto& m) {
      return PosteriorKind{Family::kronecker,      m.parameters(), 0, {}, {},
                           point_parameters_of(m), matrices_of(m)};
    });
  });
}

bdl_status bdl_posterior_create_dropout(const bdl_model* model, double input_rate, double hidden_rate,
                                        bdl_posterior** posterior) {
  return guard(__func__, [&] {
    create(posterior, model, [&](const auto& m) {
      check_rate(input_rate, "input_rate");
      check_rate(hidden_rate, "hidden_rate");
      return dropout_kind(m, input_rate, hidden_rate);
    });
  });
}

bdl_status bdl_posterior_copy(const bdl_posterior* posterior, bdl_posterior** copy) {
  return interruptible_guard(__func__, [&] {
    not_null(copy, "copy");
    with(posterior, "posterior", [&]<class T>(const Posterior<T>& q) {
      *copy = new bdl_posterior{std::shared_ptr<Posterior<T>>(q.clone())};
    });
  });
}

bdl_status bdl_posterior_as_full(const bdl_posterior* posterior, bdl_posterior** full) {
  return interruptible_guard(__func__, [&] {
    not_null(full, "full");
    with(posterior, "posterior", [&]<class T>(const Posterior<T>& q) {
      check_gaussian(q, "a covariance");
      *full = new bdl_posterior{std::shared_ptr<Posterior<T>>(full_covariance_of<T>(q))};
    });
  });
}

bdl_status bdl_posterior_as_diagonal(const bdl_posterior* posterior, bdl_posterior** diagonal) {
  return interruptible_guard(__func__, [&] {
    not_null(diagonal, "diagonal");
    with(posterior, "posterior", [&]<class T>(const Posterior<T>& q) {
      check_gaussian(q, "a covariance");
      *diagonal = new bdl_posterior{std::shared_ptr<Posterior<T>>(marginals_of<T>(q))};
    });
  });
}

void bdl_posterior_free(bdl_posterior* posterior) {
  free_handle(posterior);
}

int64_t bdl_posterior_dimension(const bdl_posterior* posterior) {
  return posterior ? std::visit([](const auto& q) { return q->dimension(); }, posterior->object) : 0;
}

int64_t bdl_posterior_rank(const bdl_posterior* posterior) {
  return posterior ? std::visit([](const auto& q) { return q->rank(); }, posterior->object) : 0;
}

int32_t bdl_posterior_family(const bdl_posterior* posterior) {
  if (!posterior) return 0;
  return std::visit([](const auto& q) { return static_cast<int32_t>(q->family()); }, posterior->object);
}

int32_t bdl_posterior_dtype(const bdl_posterior* posterior) {
  return posterior ? handle_dtype(*posterior) : 0;
}

int32_t bdl_posterior_is_blank(const bdl_posterior* posterior) {
  return posterior ? std::visit([](const auto& q) { return q->is_blank() ? 1 : 0; }, posterior->object) : 0;
}

bdl_status bdl_posterior_dropout_rates(const bdl_posterior* posterior, double* input_rate,
                                       double* hidden_rate) {
  return guard(__func__, posterior, "posterior", [&](const auto& q) {
    const DropoutLayout& layout = as_dropout(q).layout();
    if (input_rate) *input_rate = layout.input_rate;
    if (hidden_rate) *hidden_rate = layout.hidden_rate;
  });
}
