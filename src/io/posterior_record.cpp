#include "base/error.hpp"
#include "io/checkpoint.hpp"
#include "posterior/full.hpp"
#include "posterior/low_rank.hpp"

namespace bdl {
namespace {

constexpr const char* families[] = {"low_rank", "full"};

template <class T>
std::shared_ptr<Posterior<T>> read_low_rank(const RecordReader& record, Index dimension) {
  const auto& shape = record.shape("posterior.low_rank", 2);
  const Index rank = shape[0];
  if (rank > dimension || shape[1] != dimension)
    fail(Status::ERROR_FORMAT, "tensor posterior.low_rank does not fit the mean");
  auto q = std::make_shared<LowRankPosterior<T>>(dimension, rank);
  Buffer<T> u(rank * dimension), d(dimension);
  record.archive().copy<T>("posterior.low_rank", u.first(rank * dimension));
  record.positive_vector<T>("posterior.diagonal", d.first(dimension));
  q->set_precision(u.matrix(dimension, rank), d.first(dimension));
  return q;
}

template <class T>
std::shared_ptr<Posterior<T>> read_full(const RecordReader& record, Index dimension) {
  const auto& shape = record.shape("posterior.precision", 2);
  if (shape[0] != dimension || shape[1] != dimension)
    fail(Status::ERROR_FORMAT, "tensor posterior.precision does not fit the mean");
  auto q = std::make_shared<FullPosterior<T>>(dimension);
  Buffer<double> precision(dimension * dimension);
  record.archive().copy<double>("posterior.precision", precision.first(dimension * dimension));
  q->set_precision(precision.matrix(dimension, dimension));
  return q;
}

}  // namespace

/// Row k of tensor posterior.low_rank is column k of U.
template <class T>
void write_posterior(RecordWriter& record, const Posterior<T>& posterior) {
  const Index dimension = posterior.dimension();
  record.text("posterior.family", families[posterior.family() == Family::full ? 1 : 0]);
  record.integer("posterior.blank", posterior.is_blank() ? 1 : 0);
  record.vector("posterior.mean", posterior.mean());
  if (const auto* full = dynamic_cast<const FullPosterior<T>*>(&posterior)) {
    record.tensor<double>("posterior.precision", {dimension, dimension},
                          {full->precision().data, static_cast<std::size_t>(dimension * dimension)});
    return;
  }
  const auto& low_rank = dynamic_cast<const LowRankPosterior<T>&>(posterior);
  record.tensor<T>("posterior.low_rank", {low_rank.rank(), dimension},
                   {low_rank.u().data, static_cast<std::size_t>(low_rank.rank() * dimension)});
  record.vector("posterior.diagonal", low_rank.d());
}

template <class T>
std::shared_ptr<Posterior<T>> read_posterior(const RecordReader& record) {
  const Index dimension = record.shape("posterior.mean", 1)[0];
  if (dimension < 1 || dimension > INT32_MAX)
    fail(Status::ERROR_FORMAT, "tensor posterior.mean has a bad length");
  std::shared_ptr<Posterior<T>> q;
  try {
    const bool full = record.word("posterior.family", families) == 1;
    q = full ? read_full<T>(record, dimension) : read_low_rank<T>(record, dimension);
  } catch (const Error& error) {  // the posterior's own refusal of a bad precision
    fail(Status::ERROR_FORMAT, "%s", error.what());
  }
  record.vector<T>("posterior.mean", q->mean());
  q->set_blank(record.integer("posterior.blank", 0, 1) == 1);
  return q;
}

template void write_posterior(RecordWriter&, const Posterior<float>&);
template void write_posterior(RecordWriter&, const Posterior<double>&);
template std::shared_ptr<Posterior<float>> read_posterior(const RecordReader&);
template std::shared_ptr<Posterior<double>> read_posterior(const RecordReader&);

}  // namespace bdl
