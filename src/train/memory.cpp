#include "train/memory.hpp"

namespace bdl {

template <class T>
Index memory_estimate(const Optimizer<T>& optimizer, Index minibatch) {
  const Posterior<T>& q = *optimizer.posterior();
  return 2 * tensor_bytes(q) + minibatch;
}

template Index memory_estimate(const Optimizer<float>&, Index);
template Index memory_estimate(const Optimizer<double>&, Index);

}  // namespace bdl
