// A posterior in a checkpoint: fields that give its kind, then its tensors by name.
#include <algorithm>
#include <numeric>

#include "base/error.hpp"
#include "io/checkpoint.hpp"
#include "posterior/families.hpp"
#include "posterior/low_rank_moment/low_rank_moment.hpp"
#include "posterior/point_parameters.hpp"

namespace bdl {
namespace {

/// Prepends a prefix to the names of fields and tensors; the file's own posterior has "posterior.".
class TensorNames {
 public:
  explicit TensorNames(const std::string& prefix) : prefix_(prefix) {}
  std::string operator()(const std::string& name) const { return prefix_ + name; }

 private:
  const std::string& prefix_;
};

void write_dropout(RecordWriter& record, const DropoutLayout& layout) {
  std::vector<Index> numbers, kernels;  // four and two for each layer
  bool has_convolutions = false;
  for (const auto& [inputs, outputs, bias, of_data, taps, groups] : layout.layers) {
    numbers.insert(numbers.end(), {inputs, outputs, bias ? 1 : 0, of_data ? 1 : 0});
    kernels.insert(kernels.end(), {taps, groups});
    has_convolutions = has_convolutions || taps > 1 || groups > 1;
  }
  record.integers("posterior.dropout_layers", numbers);
  if (has_convolutions) record.integers("posterior.dropout_kernels", kernels);
  record.real("posterior.dropout_input_rate", layout.input_rate);
  record.real("posterior.dropout_hidden_rate", layout.hidden_rate);
}

double read_rate(const RecordReader& record, const char* key) {
  const double rate = record.real(key);
  if (!(rate >= 0 && rate < 1)) fail(Status::ERROR_FORMAT, "field %s is %g, expected [0, 1)", key, rate);
  return rate;
}

/// Reads taps and groups of each layer; only files with convolutions have the field.
void read_kernels(const RecordReader& record, Index dimension, std::vector<DropoutLayout::Layer>& layers) {
  const char* const key = "posterior.dropout_kernels";
  if (!record.has(key)) return;
  const std::vector<Index> numbers = record.integers(key, 1, dimension);
  if (numbers.size() != 2 * layers.size())
    fail(Status::ERROR_FORMAT, "field %s does not fit the layers", key);
  for (std::size_t l = 0; l < layers.size(); ++l) {
    DropoutLayout::Layer& layer = layers[l];
    layer.taps = numbers[2 * l];
    layer.groups = numbers[2 * l + 1];
    if (layer.inputs % layer.groups != 0 || layer.outputs % layer.groups != 0)
      fail(Status::ERROR_FORMAT, "field %s: layer %zu is malformed", key, l);
  }
}

/// Reads layers; fails unless they have `dimension` parameters in all.
std::vector<DropoutLayout::Layer> read_layers(const RecordReader& record, Index dimension) {
  const char* const key = "posterior.dropout_layers";
  const std::vector<Index> numbers = record.integers(key, 0, dimension);
  std::vector<DropoutLayout::Layer> layers;
  for (std::size_t at = 0; at + 4 <= numbers.size(); at += 4) {
    const Index inputs = numbers[at], outputs = numbers[at + 1], bias = numbers[at + 2],
                of_data = numbers[at + 3];
    if (inputs < 1 || outputs < 1 || bias > 1 || of_data > 1)
      fail(Status::ERROR_FORMAT, "field %s: layer %zu is malformed", key, at / 4);
    layers.push_back({inputs, outputs, bias == 1, of_data == 1});
  }
  read_kernels(record, dimension, layers);
  double parameters = 0;
  for (const DropoutLayout::Layer& layer : layers)
    parameters += static_cast<double>(layer.outputs) *
                  (static_cast<double>(layer.inputs_of_group()) * static_cast<double>(layer.taps) +
                   (layer.bias ? 1 : 0));
  if (numbers.size() % 4 != 0 || parameters != static_cast<double>(dimension))
    fail(Status::ERROR_FORMAT, "field %s does not fit the mean", key);
  return layers;
}

/// Writes offset and size of each range of parameters without a distribution.
void write_points(RecordWriter& record, const TensorNames& names, const PointLayout& points) {
  std::vector<Index> numbers;
  for (const auto& [offset, size] : points.ranges) numbers.insert(numbers.end(), {offset, size});
  if (!numbers.empty()) record.integers(names("points"), numbers);
}

PointLayout read_points(const RecordReader& record, const TensorNames& names, Index dimension) {
  PointLayout points;
  const std::string key = names("points");
  const std::vector<Index> numbers =
      record.has(key) ? record.integers(key, 0, dimension) : std::vector<Index>();
  Index end = -1;
  for (std::size_t k = 0; k + 2 <= numbers.size(); k += 2) {
    const Index offset = numbers[k], size = numbers[k + 1];
    if (offset <= end || size < 1 || offset + size > dimension)
      fail(Status::ERROR_FORMAT, "field %s: range %zu is malformed", key.c_str(), k / 2);
    points.ranges.push_back({offset, size});
    end = offset + size;
  }
  if (numbers.size() % 2 != 0)
    fail(Status::ERROR_FORMAT, "field %s has an odd number of values", key.c_str());
  if (record.has(names("running_mean"))) points.statistics = 2 * record.shape(names("running_mean"), 1)[0];
  return points;
}

/// Writes outputs, inputs and whether there is a bias, for each block.
void write_matrices(RecordWriter& record, const TensorNames& names,
                    const std::vector<MatrixShape>& matrices) {
  std::vector<Index> numbers;
  for (const auto& [outputs, inputs, bias] : matrices)
    numbers.insert(numbers.end(), {outputs, inputs, bias ? 1 : 0});
  if (!numbers.empty()) record.integers(names("matrices"), numbers);
}

std::vector<MatrixShape> read_matrices(const RecordReader& record, const TensorNames& names,
                                       Index dimension) {
  const std::string key = names("matrices");
  const std::vector<Index> numbers = record.integers(key, 0, dimension);
  std::vector<MatrixShape> matrices;
  double parameters = 0;
  for (std::size_t at = 0; at + 3 <= numbers.size(); at += 3) {
    const Index outputs = numbers[at], inputs = numbers[at + 1], bias = numbers[at + 2];
    if (outputs < 1 || bias > (inputs > 0 ? 1 : 0))
      fail(Status::ERROR_FORMAT, "field %s: block %zu is malformed", key.c_str(), at / 3);
    matrices.push_back({outputs, inputs, bias == 1});
    parameters += static_cast<double>(outputs) * static_cast<double>(inputs > 0 ? inputs + bias : 1);
  }
  if (numbers.size() % 3 != 0 || parameters != static_cast<double>(dimension))
    fail(Status::ERROR_FORMAT, "field %s does not fit the mean", key.c_str());
  return matrices;
}

DropoutLayout read_dropout(const RecordReader& record, Index dimension) {
  const double input_rate = read_rate(record, "posterior.dropout_input_rate"),
               hidden_rate = read_rate(record, "posterior.dropout_hidden_rate");
  if (record.has("posterior.dropout_layers"))
    return {read_layers(record, dimension), input_rate, hidden_rate};
  // Files from when dropout was for sequences of dense layers only.
  const bool bias = record.integer("posterior.dropout_bias", 0, 1) == 1;
  DropoutLayout layout =
      dropout_layout(record.layer_sizes("posterior.dropout_sizes"), bias, input_rate, hidden_rate);
  if (layout.parameters() != dimension)
    fail(Status::ERROR_FORMAT, "field posterior.dropout_sizes does not fit the mean");
  return layout;
}

std::vector<Index> read_blocks(const RecordReader& record, const TensorNames& names, Index dimension) {
  std::vector<Index> blocks = record.integers(names("blocks"), 1, dimension);
  if (std::accumulate(blocks.begin(), blocks.end(), Index{0}) != dimension)
    fail(Status::ERROR_FORMAT, "field %s does not fit the mean", names("blocks").c_str());
  return blocks;
}

void check_square(const RecordReader& record, const std::string& name, Index size) {
  if (record.shape(name, 2) != std::vector<Index>{size, size})
    fail(Status::ERROR_FORMAT, "tensor %s does not fit the mean", name.c_str());
}

/// Fails unless the file has all the numbers for which memory will be allocated.
void check_squares(const RecordReader& record, const TensorNames& names, const PosteriorKind& kind) {
  if (kind.family == Family::full) check_square(record, names("precision"), kind.dimension);
  if (kind.family == Family::full_moment) check_square(record, names("covariance"), kind.dimension);
  for (std::size_t k = 0; kind.family == Family::layerwise_full && k < kind.blocks.size(); ++k)
    check_square(record, names("block" + std::to_string(k) + ".precision"), kind.blocks[k]);
  for (std::size_t k = 0; k < kind.matrices.size(); ++k) {
    const MatrixShape& shape = kind.matrices[k];
    if (!shape.is_matrix()) continue;
    check_square(record, names("block" + std::to_string(k) + ".output_vectors"), shape.outputs);
    check_square(record, names("block" + std::to_string(k) + ".input_vectors"), shape.columns());
  }
}

/// Returns the rank of the factor, or of the first block's factor if there are blocks.
Index read_rank(const RecordReader& record, const TensorNames& names, const PosteriorKind& kind) {
  const bool in_blocks = !kind.blocks.empty();
  const std::string name = names(in_blocks ? "block0.low_rank" : "low_rank");
  const Index rank = record.shape(name, 2)[0], dimension = in_blocks ? 0 : kind.dimension,
              least = kind.family == Family::low_rank ? 0 : most_rank_above_dimension;
  if (rank > std::max(dimension, least))
    fail(Status::ERROR_FORMAT, "tensor %s does not fit the mean", name.c_str());
  for (std::size_t k = 0; k < kind.blocks.size(); ++k) {
    const std::string factor = names("block" + std::to_string(k) + ".low_rank");
    if (record.shape(factor, 2) != std::vector<Index>{rank, kind.blocks[k]})
      fail(Status::ERROR_FORMAT, "tensor %s does not fit the mean", factor.c_str());
  }
  return rank;
}

/// Reads the arguments of create_posterior(); the rank is that of the factor in the file.
PosteriorKind read_kind(const RecordReader& record, const TensorNames& names) {
  const Index dimension = record.shape(names("mean"), 1)[0];
  if (dimension < 1 || dimension > INT32_MAX)
    fail(Status::ERROR_FORMAT, "tensor %s has a bad length", names("mean").c_str());
  PosteriorKind kind{
      static_cast<Family>(record.word(names("family"), family_words()) + 1), dimension, 0, {}, {}};
  kind.point_parameters = read_points(record, names, dimension);
  if (kind.family == Family::dropout)
    kind.dropout = read_dropout(record, dimension - kind.point_parameters.parameters());
  if (kind.family == Family::layerwise_full || kind.family == Family::layerwise_low_rank_moment)
    kind.blocks = read_blocks(record, names, dimension);
  if (kind.family == Family::kronecker) kind.matrices = read_matrices(record, names, dimension);
  if (has_rank(kind.family)) kind.rank = read_rank(record, names, kind);
  check_squares(record, names, kind);
  return kind;
}

/// Returns the shape in the file: vectors have one dimension; a matrix is transposed.
template <class S>
std::vector<Index> file_shape(const PosteriorTensor<S>& tensor) {
  if (tensor.is_vector) return {tensor.cols()};
  return {tensor.cols(), tensor.rows()};
}

/// Returns false if the file has no such tensor: a factor may be missing, and is then computed anew.
template <class T>
bool read_tensor(const RecordReader& record, const std::string& name, const PosteriorTensor<T>& tensor) {
  if (tensor.role == TensorRole::factor && !record.has(name)) return false;
  if (record.archive().at(name).shape != file_shape(tensor))
    fail(Status::ERROR_FORMAT, "tensor %s does not fit the mean", name.c_str());
  tensor.with([&]<class S>(MatrixView<S> to) {
    record.archive().template copy<S>(name, {to.data, static_cast<std::size_t>(to.size())});
  });
  return true;
}

/// Field of a posterior whose steps keep its covariance, which precision and factor give only up to rounding.
/// Older files lack it.
constexpr const char* keeps_covariance = "keeps_covariance";
constexpr const char* refined = "refined.";
/// Older files lack this field, and read_optimizer() finds out.
constexpr const char* has_covariance = "has_covariance";

template <class T>
void read_kept_covariance(const RecordReader& record, const TensorNames& names, Posterior<T>& q) {
  if (!record.has(names(keeps_covariance)) || record.integer(names(keeps_covariance), 0, 1) == 0) return;
  q.write_covariance([&](const PosteriorTensor<T>& tensor) {
    return record.has(names(tensor.name)) && read_tensor(record, names(tensor.name), tensor);
  });
}

template <class T>
void write_tensor(RecordWriter& record, const TensorNames& names, const PosteriorTensor<const T>& tensor) {
  tensor.with([&]<class S>(MatrixView<S> values) {
    record.tensor<std::remove_const_t<S>>(names(tensor.name), file_shape(tensor),
                                          {values.data, static_cast<std::size_t>(values.size())});
  });
}

}  // namespace

template <class T>
void write_posterior(RecordWriter& record, const Posterior<T>& posterior, const std::string& prefix) {
  const TensorNames names(prefix);
  const PosteriorKind kind = posterior.kind();
  record.text(names("family"), family_word(kind.family));
  record.integer(names("blank"), posterior.is_blank() ? 1 : 0);
  record.integer(names(has_covariance), posterior.has_covariance() ? 1 : 0);
  if (kind.dropout) write_dropout(record, *kind.dropout);
  if (!kind.blocks.empty() && kind.matrices.empty()) record.integers(names("blocks"), kind.blocks);
  write_matrices(record, names, kind.matrices);
  write_points(record, names, kind.point_parameters);
  const TensorVisitor<const T> write = [&](const auto& tensor) { write_tensor<T>(record, names, tensor); };
  posterior.read_tensors(write);
  if (posterior.keeps_covariance()) {
    record.integer(names(keeps_covariance), 1);
    posterior.read_covariance(write);
  }
  if (posterior.refinement()) write_posterior(record, *posterior.refinement(), names(refined));
}

template <class T>
std::shared_ptr<Posterior<T>> read_posterior(const RecordReader& record, const std::string& prefix) {
  const TensorNames names(prefix);
  const bool blank = record.integer(names("blank"), 0, 1) == 1;
  return reading_file([&] {
    std::shared_ptr<Posterior<T>> q = create_posterior<T>(read_kind(record, names));
    write_tensors<T>(*q, [&](const PosteriorTensor<T>& tensor) {
      const bool is_there = read_tensor(record, names(tensor.name), tensor);
      if (is_there && !has_isolated_point_parameters(tensor, q->point_parameters()))
        fail(Status::ERROR_FORMAT, "tensor %s joins point parameters with others", tensor.name);
      return is_there;
    });
    read_kept_covariance(record, names, *q);
    q->set_blank(blank);
    if (record.has(names(has_covariance)))
      q->set_has_covariance(record.integer(names(has_covariance), 0, 1) == 1);
    if (!prefix.ends_with(refined) && record.has(names(refined) + "family"))
      q->refine(read_posterior<T>(record, names(refined)));
    return q;
  });
}

template void write_posterior(RecordWriter&, const Posterior<float>&, const std::string&);
template void write_posterior(RecordWriter&, const Posterior<double>&, const std::string&);
template std::shared_ptr<Posterior<float>> read_posterior(const RecordReader&, const std::string&);
template std::shared_ptr<Posterior<double>> read_posterior(const RecordReader&, const std::string&);

}  // namespace bdl
