#include "posterior/blocks/blocks.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "base/error.hpp"

namespace bdl {

template <class T>
const BlocksPosterior<T>& as_blocks(const Posterior<T>& q) {
  const auto* blocks = dynamic_cast<const BlocksPosterior<T>*>(&q);
  if (!blocks) fail(Status::ERROR_UNSUPPORTED, "the posterior is not one of independent blocks");
  return *blocks;
}

namespace {

template <class T>
Index total_dimension(const std::vector<std::unique_ptr<Posterior<T>>>& members) {
  Index sum = 0;
  for (const auto& member : members) sum += member->dimension();
  return sum;
}

}  // namespace

template <class T>
BlocksPosterior<T>::BlocksPosterior(Family family, std::vector<std::unique_ptr<Posterior<T>>> members)
    : Posterior<T>(total_dimension(members)), family_(family), members_(std::move(members)) {
  Index offset = 0;
  for (const auto& member : members_) {
    offsets_.push_back(offset);
    offset += member->dimension();
  }
  for (std::size_t k = 0; k < members_.size(); ++k) {
    members_[k]->place_mean(this->mean().data() + offsets_[k]);
    members_[k]->tensors([&](const PosteriorTensor<T>& tensor) {
      if (tensor.role != TensorRole::mean) names_.push_back("block" + std::to_string(k) + "." + tensor.name);
    });
  }
}

template <class T>
Index BlocksPosterior<T>::rank() const {
  return has_rank(family_) ? members_.front()->rank() : this->dimension_;
}

template <class T>
PosteriorKind BlocksPosterior<T>::family_kind() const {
  PosteriorKind kind{family_, this->dimension_, has_rank(family_) ? rank() : 0, {}, {}};
  for (const auto& member : members_) {
    kind.blocks.push_back(member->dimension());
    if (family_ != Family::kronecker) continue;
    const PosteriorKind block = member->kind();
    kind.matrices.push_back(block.matrices.empty() ? MatrixShape{block.dimension} : block.matrices.front());
  }
  return kind;
}

template <class T>
std::unique_ptr<Posterior<T>> BlocksPosterior<T>::clone() const {
  std::vector<std::unique_ptr<Posterior<T>>> members;
  for (const auto& member : members_) members.push_back(member->clone());
  auto copy = std::make_unique<BlocksPosterior>(family_, std::move(members));
  copy->copy_base(*this);
  return copy;
}

template <class T>
void BlocksPosterior<T>::assign(const Posterior<T>& other) {
  const BlocksPosterior& that = as_blocks(other);
  this->copy_base(that);
  for (std::size_t k = 0; k < members_.size(); ++k) members_[k]->assign(*that.members_[k]);
}

/// Members exchange where their means are too: in the memory that this one gets.
template <class T>
void BlocksPosterior<T>::swap(Posterior<T>& other) {
  auto& that = static_cast<BlocksPosterior&>(other);
  this->swap_base(that);
  for (std::size_t k = 0; k < members_.size(); ++k) members_[k]->swap(*that.members_[k]);
}

template <class T>
void BlocksPosterior<T>::tensors(const TensorVisitor<T>& visit) {
  this->visit_mean(visit);
  auto name = names_.begin();
  for (Index k = 0; k < block_count(); ++k)
    members_[static_cast<std::size_t>(k)]->tensors([&](PosteriorTensor<T> tensor) {
      if (tensor.role == TensorRole::mean) return;
      tensor.name = (name++)->c_str();
      tensor.first = offset(k);
      visit(tensor);
    });
}

template <class T>
void BlocksPosterior<T>::accept_tensors() {
  for (const auto& member : members_) member->accept_tensors();
}

template <class T>
void BlocksPosterior<T>::complete() const {
  for (const auto& member : members_) member->complete();
}

template <class T>
bool BlocksPosterior<T>::keeps_covariance() const {
  return std::ranges::any_of(members_, [](const auto& member) { return member->keeps_covariance(); });
}

namespace {

/// visit(tensor) with the tensor of block k, whose parameters begin at `first`: "block<k>.<its name>".
template <class Visit>
auto in_block(Index k, Index first, const Visit& visit) {
  return [k, first, &visit](auto tensor) {
    const std::string name = "block" + std::to_string(k) + "." + tensor.name;
    tensor.name = name.c_str();
    tensor.first = first;
    return visit(tensor);
  };
}

}  // namespace

/// Blocks that keep no covariance have no such tensor.
template <class T>
void BlocksPosterior<T>::read_covariance(const TensorVisitor<const T>& visit) const {
  for (Index k = 0; k < block_count(); ++k) member(k).read_covariance(in_block(k, offset(k), visit));
}

template <class T>
void BlocksPosterior<T>::write_covariance(const TensorSource<T>& source) {
  for (Index k = 0; k < block_count(); ++k) member(k).write_covariance(in_block(k, offset(k), source));
}

template <class T>
double BlocksPosterior<T>::squared_shift(const Posterior<T>& from, ConstSpan<T> shift,
                                         Scratch& scratch) const {
  const BlocksPosterior& old = as_blocks(from);
  double sum = 0;
  for (Index k = 0; k < block_count(); ++k)
    sum += member(k).squared_shift(old.member(k), range_of(k, shift), scratch);
  return sum;
}

template <class T>
void BlocksPosterior<T>::set_isotropic(double precision) {
  for (const auto& member : members_) member->set_isotropic(precision);
}

template <class T>
void BlocksPosterior<T>::set_diagonal(ConstSpan<T> precision, std::optional<std::uint64_t> sign_seed) {
  for (Index k = 0; k < block_count(); ++k) {
    const auto seed = sign_seed ? std::optional(*sign_seed + static_cast<std::uint64_t>(k)) : std::nullopt;
    members_[static_cast<std::size_t>(k)]->set_diagonal(range_of(k, precision), seed);
  }
}

template <class T>
Index BlocksPosterior<T>::factor_normals() const {
  Index sum = 0;
  for (const auto& member : members_) sum += member->factor_normals();
  return sum;
}

template <class T>
void BlocksPosterior<T>::solve(MatrixView<T> x, Scratch& scratch) const {
  for (Index k = 0; k < block_count(); ++k) member(k).solve(range_of(k, x), scratch);
}

template <class T>
void BlocksPosterior<T>::color(ConstSpan<T> mean, MatrixView<T> eps, ConstMatrixView<T> more,
                               Scratch& scratch) const {
  Index used = 0;
  for (Index k = 0; k < block_count(); ++k) {
    const Index normals = member(k).factor_normals();
    member(k).color(range_of(k, mean), range_of(k, eps), more.block(used, 0, normals, more.cols), scratch);
    used += normals;
  }
}

/// Goes through a few columns at a time.
template <class T>
void BlocksPosterior<T>::variances(MatrixView<T> x, std::span<double> out, Scratch& scratch) const {
  constexpr Index most = 32;
  std::array<double, most> terms;
  std::ranges::fill(out, 0.0);
  for (Index first = 0; first < x.cols; first += most) {
    const Index count = std::min(most, x.cols - first);
    for (Index k = 0; k < block_count(); ++k) {
      member(k).variances(range_of(k, x.columns(first, count)),
                          {terms.data(), static_cast<std::size_t>(count)}, scratch);
      for (Index j = 0; j < count; ++j)
        out[static_cast<std::size_t>(first + j)] += terms[static_cast<std::size_t>(j)];
    }
  }
}

template <class T>
void BlocksPosterior<T>::marginal_variance(std::span<T> out, Scratch& scratch) const {
  for (Index k = 0; k < block_count(); ++k) member(k).marginal_variance(range_of(k, out), scratch);
}

template <class T>
void BlocksPosterior<T>::precision_diagonal(std::span<T> out) const {
  for (Index k = 0; k < block_count(); ++k) member(k).precision_diagonal(range_of(k, out));
}

template <class T>
void BlocksPosterior<T>::multiply_precision(ConstSpan<T> x, std::span<T> out, Scratch& scratch) const {
  for (Index k = 0; k < block_count(); ++k)
    member(k).multiply_precision(range_of(k, x), range_of(k, out), scratch);
}

template <class T>
double BlocksPosterior<T>::quadratic(ConstSpan<T> x, Scratch& scratch) const {
  double sum = 0;
  for (Index k = 0; k < block_count(); ++k) sum += member(k).quadratic(range_of(k, x), scratch);
  return sum;
}

template <class T>
double BlocksPosterior<T>::log_det_covariance() const {
  double sum = 0;
  for (const auto& member : members_) sum += member->log_det_covariance();
  return sum;
}

/// Block by block where q has the same blocks, else column by column of Sigma_q.
template <class T>
double BlocksPosterior<T>::trace_precision(const Posterior<T>& q, Scratch& scratch) const {
  double trace = 0;
  if (const auto* blocks = dynamic_cast<const BlocksPosterior*>(&q); blocks && has_blocks_of(*blocks)) {
    for (Index k = 0; k < block_count(); ++k) trace += member(k).trace_precision(blocks->member(k), scratch);
    return trace;
  }
  const Scratch::Frame frame(scratch);
  const auto column = scratch.matrix<T>(this->dimension_, 1);
  const auto product = scratch.take<T>(this->dimension_);
  for (Index k = 0; k < block_count(); ++k)
    for (Index j = 0; j < member(k).dimension(); ++j) {
      std::ranges::fill(column.column(0), T(0));
      column(offset(k) + j, 0) = 1;
      q.solve(column, scratch);
      const auto to = product.first(at(member(k).dimension()));
      member(k).multiply_precision(range_of(k, ConstSpan<T>(column.column(0))), to, scratch);
      trace += static_cast<double>(to[static_cast<std::size_t>(j)]);
    }
  return trace;
}

template class BlocksPosterior<float>;
template class BlocksPosterior<double>;
template const BlocksPosterior<float>& as_blocks(const Posterior<float>&);
template const BlocksPosterior<double>& as_blocks(const Posterior<double>&);

}  // namespace bdl
