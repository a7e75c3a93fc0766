#include "bdl/online.h"

#include <cmath>
#include <limits>

#include "base/callback.hpp"
#include "base/overlap.hpp"
#include "c_api/convert.hpp"
#include "c_api/handles.hpp"
#include "train/stream/stream.hpp"

namespace bdl {
namespace {

/// Draws that a callback of the caller's makes, checked before they are used.
template <class T>
class CallerDraws final : public DrawSource<T> {
 public:
  CallerDraws(bdl_draws_fn draws, void* user_data) : draws_(draws), user_data_(user_data) {}
  ~CallerDraws() override { destroy_user_data(destroy_, user_data_); }
  CallerDraws(const CallerDraws&) = delete;
  CallerDraws& operator=(const CallerDraws&) = delete;
  void set_destroy(void (*destroy)(void*)) { destroy_ = destroy; }
  void parameters(const Posterior<T>& q, DrawPlace place, MatrixView<T> thetas, Scratch&) override {
    call(BDL_DRAW_PARAMETERS, q, place, thetas);
  }
  void probes(const Posterior<T>& q, DrawPlace place, MatrixView<T> z) override {
    call(BDL_DRAW_PROBES, q, place, z);
  }

 private:
  void call(bdl_draw_kind kind, const Posterior<T>& q, DrawPlace place, MatrixView<T> out) {
    for (Index j = 0; j < out.cols; ++j)
      std::ranges::fill(out.column(j), std::numeric_limits<T>::quiet_NaN());
    // The callback gets a const handle that does not own the posterior.
    const bdl_posterior handle{
        std::shared_ptr<Posterior<T>>(std::shared_ptr<void>(), const_cast<Posterior<T>*>(&q)), nullptr};
    check_callback("draws", [&] {
      return draws_(user_data_, kind, place.step, place.iteration, &handle, as_output(out));
    });
    for (Index j = 0; j < out.cols; ++j)
      for (const T value : out.column(j))
        if (!std::isfinite(value))
          fail(Status::ERROR_CALLBACK, "the draws callback left draw %lld (counting from 0) not finite",
               static_cast<long long>(j));
  }
  bdl_draws_fn draws_;
  void* user_data_;
  void (*destroy_)(void*) = nullptr;
};

/// Returns D numbers >= 0 from an array that is 1 x D, or 1 x 1 for all.
template <class T>
Buffer<T> gathered_variance(const Array& array, Index dimension) {
  check_shape(array, 1, array.cols == 1 ? 1 : dimension, "variance");
  check_finite<T>(array, "variance");
  Buffer<T> values(dimension);
  for (Index i = 0; i < dimension; ++i) {
    const double value = element(array, 0, array.cols == 1 ? 0 : i);
    if (value < 0)
      fail(Status::ERROR_INVALID_ARGUMENT,
           "variance is %g at column %lld (counting from 0), expected at least 0", value,
           static_cast<long long>(i));
    values.data()[i] = static_cast<T>(value);
  }
  return values;
}

}  // namespace
}  // namespace bdl

using namespace bdl;

bdl_status bdl_optimizer_observe(bdl_optimizer* optimizer, bdl_matrix x, bdl_matrix y,
                                 bdl_matrix_out log_density) {
  return guard(__func__, [&] {
    with_training(optimizer, [&](auto& o) {
      model_of(o);
      check_apart({{"log_density", log_density}}, {{"x", x}, {"y", y}});
      observe(o, x, y, log_density);
    });
  });
}

bdl_status bdl_optimizer_forecast(bdl_optimizer* optimizer, int64_t steps) {
  return guard(__func__, [&] {
    with_training(optimizer, [&](auto& o) {
      check_range(steps, 0, INT64_C(1) << 52, "steps");
      forecast(o, steps);
    });
  });
}

bdl_status bdl_optimizer_set_process_noise(bdl_optimizer* optimizer, bdl_matrix variance) {
  return guard(__func__, optimizer, "optimizer", [&](auto& o) {
    using T = typename std::remove_cvref_t<decltype(o)>::Scalar;
    const Index dimension = o.posterior()->dimension();
    if (!given(variance)) return o.filter.set_process_noise({});
    o.filter.set_process_noise(gathered_variance<T>(variance, dimension).first(dimension));
  });
}

bdl_status bdl_optimizer_prequential(const bdl_optimizer* optimizer, int64_t* count, double* log_density,
                                     double* error) {
  return guard(__func__, optimizer, "optimizer", [&](const auto& o) {
    model_of(o);
    const PrequentialSums& sums = o.state.prequential;
    const double mean_error = sums.error / sums.targets;  // NaN if there is no target
    const bool is_class = o.model()->likelihood.has_classes();
    const double mean = sums.log_density / sums.examples;
    if (sums.examples > 0) {  // else NaN, as documented
      checked_result(mean, "log_density");
      checked_result(mean_error, "error");
    }
    if (count) *count = std::llround(std::min(sums.examples, 0x1p62));
    if (log_density) *log_density = mean;
    if (error) *error = is_class ? mean_error : std::sqrt(mean_error);
  });
}

int64_t bdl_optimizer_guarded_steps(const bdl_optimizer* optimizer) {
  return optimizer ? std::visit([](const auto& o) { return o->state.guarded_steps; }, optimizer->object) : 0;
}

int64_t bdl_optimizer_shortened_steps(const bdl_optimizer* optimizer) {
  return optimizer ? std::visit([](const auto& o) { return o->state.shortened_steps; }, optimizer->object)
                   : 0;
}

bdl_status bdl_optimizer_set_draws(bdl_optimizer* optimizer, bdl_draws_fn draws, void* user_data,
                                   void (*destroy)(void* user_data)) {
  return guard(__func__, optimizer, "optimizer", [&](auto& o) {
    using T = typename std::remove_cvref_t<decltype(o)>::Scalar;
    if (draws && !o.posterior()->is_gaussian())
      fail(Status::ERROR_UNSUPPORTED,
           "a dropout posterior draws its masks itself: the draws callback is for others");
    const auto source = draws ? std::make_shared<CallerDraws<T>>(draws, user_data) : nullptr;
    if (source) source->set_destroy(destroy);  // nothing after this line can fail
    o.set_draws(source);
  });
}
