#include <cmath>

#include "base/overlap.hpp"
#include "c_api/convert.hpp"
#include "c_api/handles.hpp"
#include "train/optimizer.hpp"

namespace bdl {
namespace {

/// Returns `count` numbers of an array that is 1 x count, or 1 x 1 for all.
std::vector<double> numbers_from(const Array& array, Index count, const char* name) {
  check_shape(array, 1, array.cols == 1 ? 1 : count, name);
  std::vector<double> values;
  for (Index i = 0; i < count; ++i) values.push_back(element(array, 0, array.cols == 1 ? 0 : i));
  return values;
}

/// Returns locations and scales. Locations without a scale are 0.
NormalPrior normals_from(const Array& location, const Array& scale, Index count, bool of_coefficients) {
  NormalPrior out{numbers_from(location, count, "location"), numbers_from(scale, count, "scale"),
                  of_coefficients};
  for (std::size_t k = 0; k < out.scale.size(); ++k) {
    if (std::isnan(out.scale[k])) {
      out.location[k] = 0;
      out.scale[k] = NormalPrior::left;
      continue;
    }
    if (!(out.scale[k] > 0))
      fail(Status::ERROR_INVALID_ARGUMENT,
           "scale has %g in column %zu (counting from 0), expected a positive number, infinity for a flat "
           "prior, or NaN for the prior of the options",
           out.scale[k], k);
    if (!std::isfinite(out.location[k]))
      fail(Status::ERROR_INVALID_ARGUMENT,
           "location has %g in column %zu (counting from 0), expected a finite number", out.location[k], k);
    if (std::isinf(out.scale[k])) out.scale[k] = NormalPrior::flat;
  }
  return out;
}

}  // namespace
}  // namespace bdl

using namespace bdl;

bdl_status bdl_optimizer_set_prior_normal(bdl_optimizer* optimizer, bdl_matrix location, bdl_matrix scale) {
  return guard(__func__, optimizer, "optimizer", [&](auto& o) {
    o.set_normals(normals_from(location, scale, o.posterior()->dimension(), false));
  });
}

bdl_status bdl_optimizer_set_prior_coefficients(bdl_optimizer* optimizer, bdl_matrix location,
                                                bdl_matrix scale) {
  return guard(__func__, optimizer, "optimizer", [&](auto& o) {
    const Index count = checked_coefficient_count(o.model().get());
    o.set_normals(normals_from(location, scale, count, true));
  });
}

bdl_status bdl_optimizer_get_prior_coefficients(const bdl_optimizer* optimizer, bdl_matrix_out location,
                                                bdl_matrix_out scale) {
  return guard(__func__, optimizer, "optimizer", [&](const auto& o) {
    const Index count = checked_coefficient_count(o.model().get());
    check_output(location, 1, count, "location");
    check_output(scale, 1, count, "scale");
    check_apart({{"location", location}, {"scale", scale}});
    if (o.prior().posterior() && !o.prior().has_normals())
      fail(Status::ERROR_UNSUPPORTED, "the prior is a posterior: bdl_posterior_coefficients() converts it");
    using T = typename std::remove_cvref_t<decltype(o)>::Scalar;
    o.read_prior([&](const auto& present) {
      const GroupedPrecisions all = present.grouped();
      std::vector<double> precision;
      for (std::size_t j = 0; j < all.group.size(); ++j) precision.push_back(all.at(j));
      std::vector<double> means(precision.size()), deviations(precision.size());
      read_prior_of_coefficients<T>(o.normals(), *o.model(), precision, means, deviations);
      scatter<double>({means.data(), count, 1}, location);
      scatter<double>({deviations.data(), count, 1}, scale);
    });
  });
}
