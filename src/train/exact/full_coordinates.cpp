#include "train/exact/full_coordinates.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "linalg/blas.hpp"
#include "posterior/blocks/blocks.hpp"

namespace bdl {

FullCoordinates::FullCoordinates(ExactElbo& elbo, Posterior<double>& q)
    : elbo_(elbo), q_(q), dimension_(q.dimension()), size_(count(q)) {
  if (auto* const full = dynamic_cast<FullPosterior<double>*>(&q)) {
    blocks_.push_back({full, 0});
  } else {
    auto& parts = dynamic_cast<BlocksPosterior<double>&>(q);
    for (Index k = 0; k < parts.block_count(); ++k)
      blocks_.push_back({&dynamic_cast<FullPosterior<double>&>(parts.member(k)), parts.offset(k)});
  }
  memory_.reserve(dimension_);
}

Index FullCoordinates::count(const Posterior<double>& q) {
  const auto of = [](Index dimension) { return dimension * (dimension + 1) / 2; };
  Index count = q.dimension();
  if (const auto* const parts = dynamic_cast<const BlocksPosterior<double>*>(&q))
    for (Index k = 0; k < parts->block_count(); ++k) count += of(parts->member(k).dimension());
  else
    count += of(q.dimension());
  return count;
}

void FullCoordinates::Memory::reserve(Index dimension) {
  for (Buffer<double>* buffer : {&mean, &shift}) buffer->reserve(dimension);
  for (Buffer<double>* buffer : {&root, &spread, &w, &first, &second}) buffer->reserve(dimension * dimension);
}

/// Calls visit(i, j) for the elements of W, in the order of the coordinates after e.
template <class Visit>
void FullCoordinates::for_each_lower(Visit&& visit) const {
  for (const Block& block : blocks_) {
    const Index end = block.offset + block.q->dimension();
    for (Index j = block.offset; j < end; ++j)
      for (Index i = j; i < end; ++i) visit(i, j);
  }
}

void FullCoordinates::center() {
  const auto root = square(memory_.root), spread = square(memory_.spread);
  std::fill_n(root.data, root.size(), 0.0);
  std::fill_n(spread.data, spread.size(), 0.0);
  std::ranges::copy(std::as_const(q_).mean(), memory_.mean.data());
  for (const Block& block : blocks_) {
    const ConstMatrixView<double> lower = block.q->factor();
    for (Index j = 0; j < lower.cols; ++j) {
      std::ranges::copy(lower.column(j), root.column_data(block.offset + j) + block.offset);
      spread(block.offset + j, block.offset + j) = 1;
    }
  }
  solve_lower_left(Op::transpose, root, spread);
}

/// Sets the precision to C^-T C^-1, where C^-1 = W^-T L^T, and the mean to mu_0 + L^-T e.
void FullCoordinates::place(ConstSpan<double> z, double scale) {
  const auto w = square(memory_.w), first = square(memory_.first), second = square(memory_.second);
  std::fill_n(w.data, w.size(), 0.0);
  const double* from = z.data() + dimension_;
  for_each_lower([&](Index i, Index j) {
    const double value = scale * *from++;
    w(i, j) = i == j ? std::exp(value) : value;
  });
  for (Index j = 0; j < dimension_; ++j)
    for (Index i = 0; i < dimension_; ++i) first(i, j) = memory_.root.data()[j + i * dimension_];
  solve_lower_left(Op::transpose, w, first);
  syrk(Op::transpose, 1.0, first, 0.0, second);
  for (const Block& block : blocks_) {
    const Index size = block.q->dimension();
    try {
      block.q->set_precision(std::as_const(memory_.second)
                                 .matrix(dimension_, dimension_)
                                 .block(block.offset, block.offset, size, size));
    } catch (const Error& error) {
      if (error.status() != Status::ERROR_INVALID_ARGUMENT) throw;
      fail(Status::ERROR_DIVERGED, "the posterior's precision is not finite");
    }
  }
  const MatrixView<double> shift(memory_.shift.data(), dimension_, 1);
  for (Index i = 0; i < dimension_; ++i) shift(i, 0) = scale * z[static_cast<std::size_t>(i)];
  solve_lower_left(Op::transpose, square(memory_.root), shift);
  for (Index i = 0; i < dimension_; ++i)
    q_.mean()[static_cast<std::size_t>(i)] = memory_.mean.data()[i] + shift(i, 0);
}

/// With S = L^-T and G = H + Lambda_0, the derivative by e is S^T m, the derivative by W is the lower
/// triangle of W S^T G S - diag(1 / W_ii), and dW_ii = W_ii dE_ii.
ExactElbo::Value FullCoordinates::differentiate(std::span<double> gradient) {
  const auto w = square(memory_.w), spread = square(memory_.spread), first = square(memory_.first),
             second = square(memory_.second);
  const ExactElbo::Value value = elbo_.evaluate(q_);
  const MatrixView<double> e(gradient.data(), dimension_, 1);
  std::ranges::copy(elbo_.slope(), e.data);
  solve_lower_left(Op::none, square(memory_.root), e);
  elbo_.multiply_target(spread, second, first);
  gemm(Op::transpose, Op::none, 1.0, spread, first, 0.0, second);
  gemm(Op::none, Op::none, 1.0, w, second, 0.0, first);
  double* to = gradient.data() + dimension_;
  for_each_lower([&](Index i, Index j) { *to++ = i == j ? w(i, i) * first(i, i) - 1 : first(i, j); });
  return value;
}

}  // namespace bdl
