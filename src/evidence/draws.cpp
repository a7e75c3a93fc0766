#include "evidence/draws.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "parallel/parallel.hpp"

namespace bdl {
namespace {

/// Returns the stream of the first of `count` draws; the streams of different iterations never overlap.
StreamKey key_of(std::uint64_t seed, Stream stream, DrawPlace place, Index count) {
  return {seed, stream, static_cast<std::uint64_t>(place.step),
          static_cast<std::uint32_t>(place.iteration * count)};
}

}  // namespace

template <class T>
void StreamDraws<T>::parameters(const Posterior<T>& q, DrawPlace place, MatrixView<T> thetas,
                                Scratch& scratch) {
  sample(q, key_of(seed_, Stream::posterior_sample, place, thetas.cols), thetas, scratch);
  if (scale_ == 1) return;
  const T* const mean = q.mean().data();
  const T scale = static_cast<T>(scale_);
  for (Index s = 0; s < thetas.cols; ++s) {
    T* const theta = thetas.column_data(s);
    for_each_index(thetas.rows,
                   [=](Index i) BDL_INLINE_LAMBDA { theta[i] = mean[i] + scale * (theta[i] - mean[i]); });
  }
}

template <class T>
void StreamDraws<T>::probes(const Posterior<T>&, DrawPlace place, MatrixView<T> z) {
  StreamKey key = key_of(seed_, Stream::probe, place, z.cols);
  for (Index n = 0; n < z.cols; ++n, ++key.sample) {
    fill_uniform(key, 0, z.column(n), T(-1), T(1));
    for (T& value : z.column(n)) value = value < 0 ? T(-1) : T(1);
  }
}

template <class T>
void DrawSource<T>::masks(const DropoutPosterior<T>&, DrawPlace, MatrixView<T>) {
  fail(Status::ERROR_UNSUPPORTED,
       "a dropout posterior draws its masks itself: use it without a draws callback");
}

template <class T>
void StreamDraws<T>::masks(const DropoutPosterior<T>& q, DrawPlace place, MatrixView<T> masks) {
  q.draw_masks(key_of(seed_, Stream::posterior_sample, place, masks.cols), masks);
}

template class DrawSource<float>;
template class DrawSource<double>;
template class StreamDraws<float>;
template class StreamDraws<double>;

}  // namespace bdl
