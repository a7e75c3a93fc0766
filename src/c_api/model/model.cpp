#include <cstddef>

#include "base/overlap.hpp"
#include "c_api/convert.hpp"
#include "c_api/handles.hpp"
#include "curvature/dense_rows.hpp"
#include "curvature/estimator.hpp"
#include "model/network.hpp"
#include "model/user_model.hpp"
#include "train/fit.hpp"

namespace bdl {
namespace {

Likelihood checked_likelihood(const bdl_likelihood& kind, Index outputs) {
  check_enum(kind, BDL_GAUSSIAN, last_likelihood, "likelihood");
  if (kind == BDL_CATEGORICAL && outputs < 2)
    fail(Status::ERROR_INVALID_ARGUMENT, "a categorical model has %lld outputs, expected at least 2",
         static_cast<long long>(outputs));
  if (kind == BDL_HETEROSCEDASTIC && outputs % 2 != 0)
    fail(
        Status::ERROR_INVALID_ARGUMENT,
        "a heteroscedastic model has %lld outputs, expected two per target: means, then log noise precisions",
        static_cast<long long>(outputs));
  if (kind == BDL_ORDINAL && outputs != 1)
    fail(Status::ERROR_INVALID_ARGUMENT,
         "an ordinal model has %lld outputs, expected 1: levels differ by cut points",
         static_cast<long long>(outputs));
  return Likelihood(kind, outputs);
}

void check_layer_sizes(ConstSpan<Index> sizes) {
  for (Index size : sizes) check_range(size, 1, largest_size, "a layer's size");
  if (count_parameters(sizes) < 0)
    fail(Status::ERROR_INVALID_ARGUMENT, "the network has more than %lld parameters",
         static_cast<long long>(largest_size));
}

/// Returns the caller's struct, which an older version may have made shorter: the missing members are NULL.
/// It must reach as far as `outputs`.
bdl_model_callbacks checked_callbacks(const bdl_model_callbacks* callbacks) {
  not_null(callbacks, "callbacks");
  const std::size_t size = callbacks->struct_size;
  bdl_model_callbacks known{};
  const std::size_t least = offsetof(bdl_model_callbacks, outputs) + sizeof known.outputs;
  if (size < least || size > sizeof known || size % alignof(bdl_model_callbacks) != 0)
    fail(Status::ERROR_INVALID_ARGUMENT,
         "callbacks has struct_size %zu, expected sizeof(bdl_model_callbacks): %zu, or less in a program "
         "compiled with an older version",
         size, sizeof known);
  std::memcpy(&known, callbacks, size);
  not_null(known.outputs, "callbacks->outputs");
  return known;
}

/// Computes the network's outputs, in standardised units.
template <class T>
void evaluate(const Model<T>& model, const Array& parameters, const Array& x, MatrixView<T> f) {
  const Buffer<T> theta = checked_parameters(model, parameters), columns = gathered_inputs(model, x);
  Scratch scratch;
  model.forward(theta.first(model.parameters()), columns.matrix(x.cols, x.rows), f, scratch);
  check_outputs_finite<T>(f);
}

/// Writes outputs in the caller's units.
template <class T>
void write_outputs(const Standardization& standardization, ConstMatrixView<T> f, const OutArray& outputs) {
  if (!standardization.has_targets()) return write_result(f, outputs, "outputs");
  Buffer<double> values(f.size());
  const auto columns = values.matrix(f.rows, f.cols);
  for (Index i = 0; i < f.cols; ++i)
    for (Index c = 0; c < f.rows; ++c)
      columns(c, i) = standardization.to_caller(c, static_cast<double>(f(c, i)));
  check_outputs_finite<double>(columns);
  write_result<double>(columns, outputs, "outputs");
}

/// Computes each row by the estimator of training, so that the caller gets what training uses.
template <class T>
void gradient_rows(const Model<T>& model, const Array& parameters, const Array& x, const Array& y,
                   const OutArray& rows) {
  const Buffer<T> theta = checked_parameters(model, parameters), x_columns = gathered_inputs(model, x),
                  y_columns = gathered_targets(model, y);
  const auto estimator = make_estimator(model);
  Buffer<T> result(x.rows * model.parameters());
  for (Index i = 0; i < x.rows; ++i) {
    const auto estimate = estimator->estimate(theta.matrix(model.parameters(), 1),
                                              x_columns.matrix(x.cols, x.rows).columns(i, 1),
                                              y_columns.matrix(y.cols, y.rows).columns(i, 1), SeedSpec{});
    estimate.rows->sum(estimate.c, result.matrix(model.parameters(), x.rows).column(i));
  }
  check_outputs_finite<T>(result.matrix(model.parameters(), x.rows));
  write_result<T>(result.matrix(model.parameters(), x.rows), rows, "rows");
}

}  // namespace
}  // namespace bdl

using namespace bdl;

bdl_status bdl_model_create_mlp(bdl_dtype dtype, const int64_t* sizes, int32_t size_count,
                                bdl_activation activation, int32_t bias, bdl_likelihood likelihood,
                                bdl_model** model) {
  return guard(__func__, [&] {
    not_null(sizes, "sizes");
    not_null(model, "model");
    if (size_count < 2)
      fail(Status::ERROR_INVALID_ARGUMENT, "size_count is %d, expected at least 2", size_count);
    const ConstSpan<Index> widths(sizes, static_cast<std::size_t>(size_count));
    check_layer_sizes(widths);
    check_enum(activation, BDL_IDENTITY, BDL_SWISH, "activation");
    if (bias != 0 && bias != 1) fail(Status::ERROR_INVALID_ARGUMENT, "bias is %d, expected 0 or 1", bias);
    const Likelihood density = checked_likelihood(likelihood, widths.back());
    with_dtype(dtype, [&](auto scalar) {
      using T = decltype(scalar);
      *model = new bdl_model{
          std::shared_ptr<Model<T>>(std::make_shared<Network<T>>(widths, activation, bias != 0, density))};
    });
  });
}

bdl_status bdl_model_create_network(bdl_dtype dtype, const char* description, bdl_likelihood likelihood,
                                    bdl_model** model) {
  return guard(__func__, [&] {
    not_null(description, "description");
    not_null(model, "model");
    with_dtype(dtype, [&](auto scalar) {
      using T = decltype(scalar);
      auto graph = std::make_shared<const Graph<T>>(description);
      Likelihood density = checked_likelihood(likelihood, graph->outputs());
      *model = new bdl_model{
          std::shared_ptr<Model<T>>(std::make_shared<Network<T>>(std::move(graph), std::move(density)))};
    });
  });
}

bdl_status bdl_model_description(const bdl_model* model, const char** description) {
  return guard(__func__, [&] {
    not_null(description, "description");
    with(model, "model", [&](const auto& m) {
      if (!m.graph()) fail(Status::ERROR_UNSUPPORTED, "a custom model has no layers to describe");
      *description = m.graph()->description().c_str();
    });
  });
}

bdl_status bdl_model_create_user(bdl_dtype dtype, int64_t inputs, int64_t outputs, int64_t parameters,
                                 bdl_likelihood likelihood, const bdl_model_callbacks* callbacks,
                                 bdl_model** model) {
  return guard(__func__, [&] {
    const bdl_model_callbacks known = checked_callbacks(callbacks);
    not_null(model, "model");
    check_range(inputs, 1, largest_size, "inputs");
    check_range(outputs, 1, largest_size, "outputs");
    check_range(parameters, 1, largest_size, "parameters");
    const Likelihood density = checked_likelihood(likelihood, outputs);
    with_dtype(dtype, [&](auto scalar) {
      using T = decltype(scalar);
      auto handle = std::make_unique<bdl_model>();  // allocated first: destroy() must not run if this fails
      auto object = std::make_shared<UserModel<T>>(
          inputs, parameters, density, UserCallbacks{known.outputs, known.gradients, known.user_data});
      object->set_destroy(known.destroy);
      handle->object = std::shared_ptr<Model<T>>(std::move(object));
      *model = handle.release();
    });
  });
}

bdl_status bdl_model_copy(const bdl_model* model, bdl_model** copy) {
  return guard(__func__, [&] {
    not_null(copy, "copy");
    with(model, "model",
         [&]<class T>(const Model<T>& m) { *copy = new bdl_model{std::shared_ptr<Model<T>>(m.clone())}; });
  });
}

void bdl_model_free(bdl_model* model) {
  free_handle(model);
}

int64_t bdl_model_parameters(const bdl_model* model) {
  return model ? std::visit([](const auto& m) { return m->parameters(); }, model->object) : 0;
}

int64_t bdl_model_inputs(const bdl_model* model) {
  return model ? std::visit([](const auto& m) { return m->features(); }, model->object) : 0;
}

int64_t bdl_model_outputs(const bdl_model* model) {
  return model ? std::visit([](const auto& m) { return m->outputs(); }, model->object) : 0;
}

int64_t bdl_model_targets(const bdl_model* model) {
  return model ? std::visit([](const auto& m) { return m->likelihood.targets(); }, model->object) : 0;
}

int32_t bdl_model_dtype(const bdl_model* model) {
  return model ? handle_dtype(*model) : 0;
}

int32_t bdl_model_likelihood(const bdl_model* model) {
  return model ? std::visit([](const auto& m) { return m->likelihood.kind(); }, model->object) : 0;
}

int32_t bdl_model_activation(const bdl_model* model) {
  if (!model) return 0;
  return std::visit(
      [](const auto& m) {
        using T = typename std::remove_cvref_t<decltype(*m)>::Scalar;
        const Graph<T>* graph = m->graph();
        return graph ? static_cast<int32_t>(graph->activation()) : 0;
      },
      model->object);
}

int64_t bdl_model_block_count(const bdl_model* model) {
  return model ? std::visit([](const auto& m) { return static_cast<int64_t>(m->blocks().size()); },
                            model->object)
               : 0;
}

bdl_status bdl_model_block(const bdl_model* model, int64_t index, const char** name, int64_t* offset,
                           int64_t* rows, int64_t* cols) {
  return guard(__func__, model, "model", [&](const auto& m) {
    const auto count = static_cast<Index>(m.blocks().size());
    if (index < 0 || index >= count)
      fail(Status::ERROR_INVALID_ARGUMENT, "index is %lld, expected 0 to %lld", static_cast<long long>(index),
           static_cast<long long>(count - 1));
    const ParameterBlock& block = m.blocks()[static_cast<std::size_t>(index)];
    if (name) *name = block.name.c_str();
    if (offset) *offset = block.offset;
    if (rows) *rows = block.rows;
    if (cols) *cols = block.cols;
  });
}

bdl_status bdl_model_initialize(const bdl_model* model, bdl_initialization scheme, uint64_t seed,
                                bdl_matrix_out parameters) {
  return interruptible_guard(__func__, [&] {
    check_enum(scheme, BDL_INIT_UNIFORM_FAN_IN, BDL_INIT_XAVIER_NORMAL, "scheme");
    with(model, "model", [&]<class T>(const Model<T>& m) {
      if (!m.graph()) fail(Status::ERROR_UNSUPPORTED, "a custom model has no initialisation");
      check_output(parameters, 1, m.parameters(), "parameters");
      Buffer<T> theta(m.parameters());
      m.initialize(scheme, seed, theta.first(m.parameters()));
      write_result<T>(theta.matrix(m.parameters(), 1), parameters, "parameters");
    });
  });
}

bdl_status bdl_model_evaluate(const bdl_model* model, bdl_matrix parameters, bdl_matrix x,
                              bdl_matrix_out outputs) {
  return interruptible_guard(__func__, model, "model", [&]<class T>(const Model<T>& m) {
    check_inputs(m, x);
    check_output(outputs, x.rows, m.outputs(), "outputs");
    check_apart({{"outputs", outputs}}, {{"parameters", parameters}, {"x", x}});
    Buffer<T> memory;
    const auto f = memory.matrix(m.outputs(), x.rows);
    evaluate<T>(m, parameters, x, f);
    write_outputs<T>(m.standardization, f, outputs);
  });
}

bdl_status bdl_model_log_likelihood(const bdl_model* model, bdl_matrix parameters, bdl_matrix x, bdl_matrix y,
                                    bdl_matrix_out log_likelihood) {
  return interruptible_guard(__func__, model, "model", [&]<class T>(const Model<T>& m) {
    check_data(m, x, y);
    check_output(log_likelihood, x.rows, 1, "log_likelihood");
    check_apart({{"log_likelihood", log_likelihood}}, {{"parameters", parameters}, {"x", x}, {"y", y}});
    const Buffer<T> targets = gathered_targets(m, y);
    const double log_scale = m.standardization.log_scale();
    Buffer<T> f(m.outputs() * x.rows);
    Buffer<double> result(x.rows);
    evaluate<T>(m, parameters, x, f.matrix(m.outputs(), x.rows));
    for (Index i = 0; i < x.rows; ++i)
      result.data()[i] =
          m.likelihood.weighted_log_density(f.data() + i * m.outputs(), targets.data() + i * y.cols) -
          m.likelihood.weight(targets.data() + i * y.cols) * log_scale;
    check_outputs_finite<double>(result.matrix(1, x.rows));
    write_result<double>(result.matrix(1, x.rows), log_likelihood, "log_likelihood");
  });
}

bdl_status bdl_model_gradient_rows(const bdl_model* model, bdl_matrix parameters, bdl_matrix x, bdl_matrix y,
                                   bdl_matrix_out rows) {
  return interruptible_guard(__func__, model, "model", [&](const auto& m) {
    check_data(m, x, y);
    check_output(rows, x.rows, m.parameters(), "rows");
    check_apart({{"rows", rows}}, {{"parameters", parameters}, {"x", x}, {"y", y}});
    gradient_rows(m, parameters, x, y, rows);
  });
}
