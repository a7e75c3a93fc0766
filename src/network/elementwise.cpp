#include "network/elementwise.hpp"

#include <algorithm>

#include "network/activation.hpp"
#include "parallel/parallel.hpp"

namespace bdl {
namespace {

constexpr const char* words[] = {"identity", "relu",    "leaky_relu", "elu",  "gelu",
                                 "tanh",     "sigmoid", "softplus",   "swish"};

/// The outputs' place, with the inputs in it.
template <class T>
void move_in(ConstMatrixView<T> in, MatrixView<T> out) {
  if (in.data == out.data) return;
  for (Index j = 0; j < in.cols; ++j) std::ranges::copy(in.column(j), out.column_data(j));
}

}  // namespace

const char* activation_word(bdl_activation activation) {
  return words[activation - BDL_IDENTITY];
}

template <class T>
void ElementwiseLayer<T>::backward(const Pass<T>&, const Kept<T>& kept, ConstMatrixView<T> e, bool add,
                                   MatrixView<T> to) const {
  const Index size = e.size();
  const T *from = e.data, *slope = kept.slopes.data;
  if (T* curvature = kept.curvatures.data)
    for (Index i = 0; i < size; ++i) curvature[i] *= from[i];
  if (add)
    for (Index i = 0; i < size; ++i) to.data[i] += from[i] * slope[i];
  else
    for (Index i = 0; i < size; ++i) to.data[i] = from[i] * slope[i];
}

/// R{out} = phi' ∘ R{in}.
template <class T>
void ElementwiseLayer<T>::change(const Directions<T>& directions, const Kept<T>& kept, ConstMatrixView<T>,
                                 ConstMatrixView<T> in_change, MatrixView<T> out_change) const {
  const Index size = kept.slopes.size();
  for (Index k = 0; k < directions.count; ++k) {
    const T *slope = kept.slopes.data, *in = in_change.data + k * size;
    T* out = out_change.data + k * size;
    for_each_index(size, [=](Index i) BDL_INLINE_LAMBDA { out[i] = slope[i] * in[i]; });
  }
}

/// R{phi' ∘ E} = phi' ∘ R{E} + phi'' ∘ E ∘ R{in}.
template <class T>
void ElementwiseLayer<T>::change_back(const Directions<T>& directions, const Kept<T>& kept,
                                      ConstMatrixView<T> in_change, ConstMatrixView<T>,
                                      ConstMatrixView<T> e_change, bool add, MatrixView<T> to) const {
  const Index size = kept.slopes.size();
  const T *slope = kept.slopes.data, *curvature = kept.curvatures.data;
  for (Index k = 0; k < directions.count; ++k) {
    const T *z = in_change.data + k * size, *e = e_change.data + k * size;
    T* out = to.data + k * size;
    if (add)
      for_each_index(size,
                     [=](Index i) BDL_INLINE_LAMBDA { out[i] += slope[i] * e[i] + curvature[i] * z[i]; });
    else
      for_each_index(size,
                     [=](Index i) BDL_INLINE_LAMBDA { out[i] = slope[i] * e[i] + curvature[i] * z[i]; });
  }
}

template <class T>
std::string ActivationLayer<T>::text() const {
  return activation_word(activation_);
}

template <class T>
void ActivationLayer<T>::forward(const Pass<T>&, ConstMatrixView<T> in, MatrixView<T> out,
                                 const Kept<T>& kept) const {
  move_in(in, out);
  if (!kept.is_wanted())
    activate(activation_, out);
  else if (kept.curvatures.data)
    activate(activation_, out, kept.slopes, kept.curvatures);
  else
    activate(activation_, out, kept.slopes);
}

template <class T>
std::string DropoutLayer<T>::text() const {
  return "dropout " + number_text(rate_);
}

template <class T>
void DropoutLayer<T>::forward(const Pass<T>& pass, ConstMatrixView<T> in, MatrixView<T> out,
                              const Kept<T>& kept) const {
  move_in(in, out);
  if (kept.curvatures.data) std::fill_n(kept.curvatures.data, out.size(), T(0));
  if (!kept.is_wanted()) return;
  const Index size = out.size();
  const std::span<T> slopes(kept.slopes.data, static_cast<std::size_t>(size));
  if (!pass.noise) {
    std::ranges::fill(slopes, T(1));
    return;
  }
  StreamKey key = *pass.noise;
  key.sample += static_cast<std::uint32_t>(pass.sample);
  fill_uniform(key, offset_ * in.cols, slopes, T(0), T(1));
  const T rate = static_cast<T>(rate_), kept_factor = static_cast<T>(1 / (1 - rate_));
  for (Index i = 0; i < size; ++i) {
    T& slope = slopes[static_cast<std::size_t>(i)];
    slope = slope < rate ? T(0) : kept_factor;
    out.data[i] *= slope;
  }
}

template class ElementwiseLayer<float>;
template class ElementwiseLayer<double>;
template class ActivationLayer<float>;
template class ActivationLayer<double>;
template class DropoutLayer<float>;
template class DropoutLayer<double>;

}  // namespace bdl
