// A fork of the host waits until no thread is inside BLAS or LAPACK. OpenBLAS guards its buffers by a mutex
// that no handler of its own holds over a fork: a child of the wrong moment would find it locked for ever.
#pragma once

namespace bdl {

class ForkGate {
 public:
  /// Held around calls of a few microseconds. Waits while the process forks.
  class Pass {
   public:
    Pass() noexcept;
    ~Pass();
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;

   private:
    struct Place& place_;
  };
};

}  // namespace bdl
