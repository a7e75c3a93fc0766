// A posterior in a checkpoint: its family, mean, and the tensors of the family.
#include <iterator>

#include "base/error.hpp"
#include "io/checkpoint.hpp"
#include "posterior/diagonal/diagonal_moment.hpp"
#include "posterior/dropout/dropout.hpp"
#include "posterior/full/full.hpp"
#include "posterior/full/full_moment.hpp"
#include "posterior/low_rank/low_rank.hpp"

namespace bdl {
namespace {

/// Row k of tensor posterior.low_rank is column k of U.
template <class T>
void write_low_rank(RecordWriter& record, const Posterior<T>& posterior) {
  const auto& q = dynamic_cast<const LowRankPosterior<T>&>(posterior);
  record.tensor<T>("posterior.low_rank", {q.rank(), q.dimension()},
                   {q.u().data, static_cast<std::size_t>(q.rank() * q.dimension())});
  record.vector("posterior.diagonal", q.d());
}

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

/// A symmetric D x D matrix.
void write_square(RecordWriter& record, const char* name, ConstMatrixView<double> matrix) {
  record.tensor<double>(name, {matrix.rows, matrix.cols},
                        {matrix.data, static_cast<std::size_t>(matrix.size())});
}

Buffer<double> read_square(const RecordReader& record, const char* name, Index dimension) {
  const auto& shape = record.shape(name, 2);
  if (shape[0] != dimension || shape[1] != dimension)
    fail(Status::ERROR_FORMAT, "tensor %s does not fit the mean", name);
  Buffer<double> values(dimension * dimension);
  record.archive().copy<double>(name, values.first(dimension * dimension));
  return values;
}

template <class T>
void write_full(RecordWriter& record, const Posterior<T>& posterior) {
  const auto& q = as_full(posterior);
  if (q.is_unsymmetric())
    fail(Status::ERROR_UNSUPPORTED,
         "the posterior's covariance is not symmetric, as unsymmetrised gradient steps make it: there is no "
         "checkpoint format for that");
  write_square(record, "posterior.precision", q.precision());
  write_square(record, "posterior.factor", q.factor());
}

template <class T>
std::shared_ptr<Posterior<T>> read_full(const RecordReader& record, Index dimension) {
  const Buffer<double> precision = read_square(record, "posterior.precision", dimension);
  auto q = std::make_shared<FullPosterior<T>>(dimension);
  if (record.archive().contains("posterior.factor"))
    q->restore(precision.matrix(dimension, dimension),
               read_square(record, "posterior.factor", dimension).matrix(dimension, dimension));
  else
    q->set_precision(precision.matrix(dimension, dimension));
  return q;
}

template <class T>
void write_full_moment(RecordWriter& record, const Posterior<T>& posterior) {
  write_square(record, "posterior.covariance", as_full_moment(posterior).covariance());
  write_square(record, "posterior.factor", as_full_moment(posterior).factor());
}

template <class T>
std::shared_ptr<Posterior<T>> read_full_moment(const RecordReader& record, Index dimension) {
  const Buffer<double> covariance = read_square(record, "posterior.covariance", dimension);
  auto q = std::make_shared<FullMomentPosterior<T>>(dimension);
  if (record.archive().contains("posterior.factor"))
    q->restore(covariance.matrix(dimension, dimension),
               read_square(record, "posterior.factor", dimension).matrix(dimension, dimension));
  else
    q->set_covariance(covariance.matrix(dimension, dimension));
  return q;
}

template <class T>
void write_diagonal_moment(RecordWriter& record, const Posterior<T>& posterior) {
  record.vector("posterior.variance", as_diagonal_moment(posterior).variance());
}

template <class T>
std::shared_ptr<Posterior<T>> read_diagonal_moment(const RecordReader& record, Index dimension) {
  auto q = std::make_shared<DiagonalMomentPosterior<T>>(dimension);
  Buffer<T> variance(dimension);
  record.positive_vector<T>("posterior.variance", variance.first(dimension));
  q->set_variance(variance.first(dimension));
  return q;
}

template <class T>
void write_dropout(RecordWriter& record, const Posterior<T>& posterior) {
  const DropoutLayout& layout = as_dropout(posterior).layout();
  std::string sizes;
  for (const Index size : layout.sizes) sizes += (sizes.empty() ? "" : " ") + std::to_string(size);
  record.text("posterior.dropout_sizes", sizes);
  record.integer("posterior.dropout_bias", layout.bias ? 1 : 0);
  record.real("posterior.dropout_input_rate", layout.input_rate);
  record.real("posterior.dropout_hidden_rate", layout.hidden_rate);
}

double read_rate(const RecordReader& record, const char* key) {
  const double rate = record.real(key);
  if (!(rate >= 0 && rate < 1)) fail(Status::ERROR_FORMAT, "field %s is %g, expected [0, 1)", key, rate);
  return rate;
}

template <class T>
std::shared_ptr<Posterior<T>> read_dropout(const RecordReader& record, Index dimension) {
  const bool bias = record.integer("posterior.dropout_bias", 0, 1) == 1;
  const std::vector<Index> sizes = record.layer_sizes("posterior.dropout_sizes");
  const double input_rate = read_rate(record, "posterior.dropout_input_rate"),
               hidden_rate = read_rate(record, "posterior.dropout_hidden_rate");
  DropoutLayout layout{sizes, bias, input_rate, hidden_rate};
  if (layout.parameters() != dimension)
    fail(Status::ERROR_FORMAT, "field posterior.dropout_sizes does not fit the mean");
  return std::make_shared<DropoutPosterior<T>>(std::move(layout));
}

/// What a family adds to mean and blankness.
template <class T>
struct FamilyFormat {
  void (*write)(RecordWriter&, const Posterior<T>&);
  std::shared_ptr<Posterior<T>> (*read)(const RecordReader&, Index dimension);
};

/// In the order of Family, which begins with 1.
constexpr const char* families[] = {"low_rank", "full", "full_moment", "diagonal_moment", "dropout"};
template <class T>
constexpr FamilyFormat<T> formats[] = {{write_low_rank<T>, read_low_rank<T>},
                                       {write_full<T>, read_full<T>},
                                       {write_full_moment<T>, read_full_moment<T>},
                                       {write_diagonal_moment<T>, read_diagonal_moment<T>},
                                       {write_dropout<T>, read_dropout<T>}};
static_assert(std::size(families) == std::size(formats<double>));

}  // namespace

template <class T>
void write_posterior(RecordWriter& record, const Posterior<T>& posterior) {
  const auto number = static_cast<std::size_t>(posterior.family()) - 1;
  record.text("posterior.family", families[number]);
  record.integer("posterior.blank", posterior.is_blank() ? 1 : 0);
  record.vector("posterior.mean", posterior.mean());
  formats<T>[number].write(record, posterior);
}

template <class T>
std::shared_ptr<Posterior<T>> read_posterior(const RecordReader& record) {
  const Index dimension = record.shape("posterior.mean", 1)[0];
  if (dimension < 1 || dimension > INT32_MAX)
    fail(Status::ERROR_FORMAT, "tensor posterior.mean has a bad length");
  std::shared_ptr<Posterior<T>> q;
  try {
    q = formats<T>[record.word("posterior.family", families)].read(record, dimension);
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
