#include "curvature/hessian.hpp"

#include <algorithm>
#include <string>

#include "base/error.hpp"

namespace bdl {
namespace {

template <class T>
const Graph<T>& graph_of(const Model<T>& model) {
  const Graph<T>* graph = model.graph();
  if (!graph)
    fail(Status::ERROR_UNSUPPORTED, "a custom model has no second derivatives: its Hessian is not known");
  if (const std::string layer = graph->first_without(Need::second_derivatives); !layer.empty())
    fail(Status::ERROR_UNSUPPORTED, "%s has no exact second derivatives: the Hessian is not known",
         layer.c_str());
  return *graph;
}

}  // namespace

template <class T>
HessianEstimator<T>::HessianEstimator(const Model<T>& model)
    : graph_(graph_of(model)), products_(model), linear_(model) {}

template <class T>
Index HessianEstimator<T>::directions(const Graph<T>& graph, Index examples) {
  const Index widest = std::ranges::max(graph.dense(), {}, &DenseShape::outputs).outputs;
  const Index fit = std::min((Index{1} << 17) / (widest * examples), (Index{1} << 19) / graph.parameters());
  return std::clamp<Index>(fit, 1, std::min<Index>(32, graph.parameters()));
}

template <class T>
void HessianEstimator<T>::reserve(Index examples, HessianForm form) {
  const Index part = std::min(examples, most_examples), dimension = graph_.parameters();
  if (form == HessianForm::dense && is_linear()) return linear_.reserve(part);
  if (part > reserved_examples_) {  // smaller batches keep the number of directions: more would allocate
    reserved_examples_ = part;
    together_ = directions(graph_, part);
  }
  products_.reserve(part, together_);
  if (form == HessianForm::dense) units_.reserve(dimension * together_);
  if (form != HessianForm::diagonal) images_.reserve(dimension * together_);
  if (form == HessianForm::diagonal || form == HessianForm::probes) sums_.reserve(dimension);
}

/// Calls visit() for each sample and each range of the batch, after assigning it to the products.
template <class T>
template <class Visit>
void HessianEstimator<T>::visit_parts(ConstMatrixView<T> thetas, ConstMatrixView<T> x, ConstMatrixView<T> y,
                                      Visit visit) {
  for (Index s = 0; s < thetas.cols; ++s)
    for (Index first = 0; first < x.cols; first += most_examples) {
      const Index count = std::min(most_examples, x.cols - first);
      products_.assign(thetas.columns(s, 1), x.columns(first, count), y.columns(first, count));
      visit();
    }
}

/// Calls visit(k, images) for each group of columns k, k + 1, ... of H V.
template <class T>
template <class Visit>
void HessianEstimator<T>::visit_products(ConstMatrixView<T> v, Visit visit) {
  for (Index first = 0; first < v.cols; first += together_) {
    const Index count = std::min(together_, v.cols - first);
    const auto images = images_.matrix(graph_.parameters(), count);
    products_.multiply(v.columns(first, count), images);
    visit(first, ConstMatrixView<T>(images));
  }
}

template <class T>
void HessianEstimator<T>::write_sums(std::span<T> out) const {
  std::ranges::transform(sums_.first(graph_.parameters()), out.begin(),
                         [](double sum) { return static_cast<T>(sum); });
}

template <class T>
void HessianEstimator<T>::dense(ConstMatrixView<T> thetas, ConstMatrixView<T> x, ConstMatrixView<T> y,
                                double scale, MatrixView<double> out) {
  const Index dimension = graph_.parameters();
  reserve(x.cols, HessianForm::dense);
  for (Index j = 0; j < dimension; ++j) std::fill_n(out.column_data(j) + j, dimension - j, 0.0);
  if (is_linear()) {
    for (Index first = 0; first < x.cols; first += most_examples) {
      const Index count = std::min(most_examples, x.cols - first);
      linear_.add(thetas, x.columns(first, count), y.columns(first, count), scale, out);
    }
    return;
  }
  visit_parts(thetas, x, y, [&] {
    for (Index first = 0; first < dimension; first += together_) {
      const auto units = units_.matrix(dimension, std::min(together_, dimension - first));
      std::fill_n(units.data, units.size(), T(0));
      for (Index k = 0; k < units.cols; ++k) units(first + k, k) = 1;
      visit_products(units, [&](Index, ConstMatrixView<T> images) {
        for (Index k = 0; k < images.cols; ++k)
          for (Index i = first + k; i < dimension; ++i)
            out(i, first + k) += scale * static_cast<double>(images(i, k));
      });
    }
  });
}

template <class T>
void HessianEstimator<T>::diagonal(ConstMatrixView<T> thetas, ConstMatrixView<T> x, ConstMatrixView<T> y,
                                   double scale, std::span<T> out) {
  reserve(x.cols, HessianForm::diagonal);
  const auto sums = sums_.first(graph_.parameters());
  std::ranges::fill(sums, 0.0);
  visit_parts(thetas, x, y, [&] { products_.add_diagonal(scale, sums); });
  write_sums(out);
}

template <class T>
void HessianEstimator<T>::diagonal_by_probes(ConstMatrixView<T> thetas, ConstMatrixView<T> x,
                                             ConstMatrixView<T> y, double scale, ConstMatrixView<T> probes,
                                             std::span<T> out) {
  reserve(x.cols, HessianForm::probes);
  double* sums = sums_.data();
  std::fill_n(sums, graph_.parameters(), 0.0);
  const double factor = scale / static_cast<double>(probes.cols);
  visit_parts(thetas, x, y, [&] {
    visit_products(probes, [&](Index first, ConstMatrixView<T> images) {
      for (Index k = 0; k < images.cols; ++k) {
        const T *z = probes.column_data(first + k), *image = images.column_data(k);
        for (Index i = 0; i < images.rows; ++i)
          sums[i] += factor * static_cast<double>(z[i]) * static_cast<double>(image[i]);
      }
    });
  });
  write_sums(out);
}

template <class T>
void HessianEstimator<T>::products(ConstMatrixView<T> thetas, ConstMatrixView<T> x, ConstMatrixView<T> y,
                                   double scale, ConstMatrixView<T> v, MatrixView<T> out) {
  reserve(x.cols, HessianForm::products);
  for (Index k = 0; k < out.cols; ++k) std::ranges::fill(out.column(k), T(0));
  visit_parts(thetas, x, y, [&] {
    visit_products(v, [&](Index first, ConstMatrixView<T> images) {
      for (Index k = 0; k < images.cols; ++k) {
        T* to = out.column_data(first + k);
        for (Index i = 0; i < images.rows; ++i) to[i] += static_cast<T>(scale) * images(i, k);
      }
    });
  });
}

template class HessianEstimator<float>;
template class HessianEstimator<double>;

}  // namespace bdl
