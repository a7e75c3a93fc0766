// Makes a fork of the host wait until no thread is inside BLAS or LAPACK. OpenBLAS guards its buffers by a
// mutex that its own fork handlers do not hold: if another thread held it during the fork, it would stay
// locked in the child for ever.
#pragma once

namespace bdl {

class ForkGate {
 public:
  /// Stands around a call of BLAS or LAPACK, which takes microseconds. Its constructor waits while the
  /// process forks.
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
