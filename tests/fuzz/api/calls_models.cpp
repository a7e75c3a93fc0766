#include "fuzz/api/calls.hpp"
#include "fuzz/api/session.hpp"
#include "fuzz/api/user_model.hpp"

namespace fuzz {
namespace {

constexpr const char* networks[] = {
    "input 2; dense 3; tanh; dense 1",
    "input 2; dense 1",
    "input 3; dense 2 nobias",
    "input 1; dense 4; relu; dense 3; softplus; dense 2",
    "input 1 4 4; conv 2 3; relu; dense 2",
    "input 2 4 4; conv 2 3 pad 1 stride 2; batchnorm; relu; globalavgpool; dense 2",
    "input 3; dense 3; batchnorm momentum 0.5; tanh; residual; dense 3; elu; dense 3; end; dense 2",
    "input 2; dropout 0.2; dense 4; gelu; dense 2",
    "input 1 5 5; residual; conv 2 3 pad 1; shortcut; conv 2 1 nobias; end; maxpool 2; flatten; dense 2",
    "input 2 3 3; conv 2 2 groups 2 nobias; avgpool 2; dense 1 nobias",
    "input 1 6 6; crop 4; conv 2 3; sigmoid; dense 3",
    "input 2; batchnorm noaffine; dense 2; leaky_relu; dense 4",
    "input 3; dense 1; swish",
};

constexpr const char* pieces[] = {"input 2",   "input 1 4 4",      "dense 2",          "conv 2 3",
                                  "relu",      "batchnorm",        "residual",         "shortcut",
                                  "end",       "maxpool 2",        "dropout 0.5",      "flatten",
                                  "crop 9",    "dense 0",          "conv 1 9",         "globalavgpool",
                                  "dense -1",  "dense 2147483647", "nonsense",         "#",
                                  "",          "dense 2 2",        "input 0",          "avgpool 2 pad 1",
                                  "dropout 1", "identity",         "conv 2 1 groups 3"};

std::string some_network(Session& s) {
  if (!s.faulty()) return s.bytes.one_of(networks);
  std::string text;
  for (std::int64_t n = s.bytes.below(8); n >= 0; --n)
    text += std::string(s.bytes.one_of(pieces)) + (n % 2 ? "; " : "\n");
  return text;
}

/// One that suits the outputs, mostly.
bdl_likelihood likelihood_for(Session& s) {
  return s.choice<bdl_likelihood>(11);
}

Slot<bdl_model>& any(Session& s) {
  return s.model();
}

}  // namespace

BDL_CALLS(bdl_model_create_mlp) {
  const std::int64_t sizes[] = {s.size(4), s.size(4), s.size(3)};
  const auto dtype = s.choice<bdl_dtype>(2);
  const auto count = static_cast<std::int32_t>(s.faulty() ? s.bytes.below(3) - 1 : 2 + s.bytes.below(2));
  s.keep(s.creates<bdl_model>(
      bdl_model_create_mlp,
      With{dtype, s.faulty() ? nullptr : &sizes[0], count, s.choice<bdl_activation>(9),
           static_cast<std::int32_t>(s.faulty() ? 2 : s.bytes.below(2)), likelihood_for(s)}));
}

BDL_CALLS(bdl_model_create_network) {
  const std::string text = some_network(s);
  s.keep(s.creates<bdl_model>(bdl_model_create_network,
                              With{s.choice<bdl_dtype>(2), text.c_str(), likelihood_for(s)}));
}

BDL_CALLS(bdl_network_count) {
  s.asks(bdl_network_count, With{});
}

BDL_CALLS(bdl_network_describe) {
  s.reads(bdl_network_describe,
          With{s.index(5), s.text(), s.integer(), s.integer(), s.integer(), s.integer(), s.text(), s.text()});
}

BDL_CALLS(bdl_network_description) {
  static constexpr const char* names[] = {"lenet5", "alexnet", "resnet18", "resnet18-cifar",
                                          "resnet", "",        "LENET5"};
  const char* name = s.faulty() ? nullptr : s.bytes.one_of(names);
  // The library keeps the texts: there are few of them.
  s.reads(bdl_network_description, With{name, s.size(2), s.size(2), s.size(2), s.size(2), s.text()});
}

BDL_CALLS(bdl_model_description) {
  s.reads(bdl_model_description, With{any(s).handle, s.text()});
}

BDL_CALLS(bdl_model_create_user) {
  bdl_model_callbacks functions = user_callbacks(s);
  if (s.faulty()) functions.struct_size = static_cast<std::size_t>(s.bytes.next());
  if (s.faulty()) functions.outputs = nullptr;
  if (s.bytes.below(4) == 0) functions.gradients = nullptr;
  const auto dtype = s.choice<bdl_dtype>(2);
  const auto likelihood = likelihood_for(s);
  bdl_model* model =
      s.creates<bdl_model>(bdl_model_create_user,
                           With{dtype, s.size(3), s.size(3), s.size(6), likelihood,
                                static_cast<const bdl_model_callbacks*>(s.faulty() ? nullptr : &functions)});
  // One whose struct_size does not reach destroy has none.
  s.callbacks.owned += model && functions.struct_size == sizeof functions;
  s.keep(model);
}

BDL_CALLS(bdl_model_copy) {
  s.keep(s.creates<bdl_model>(bdl_model_copy, With{any(s).handle}));
}

BDL_CALLS(bdl_model_free) {
  s.frees(bdl_model_free, any(s));
}

BDL_CALLS(bdl_model_parameters) {
  s.asks(bdl_model_parameters, With{any(s).handle});
}
BDL_CALLS(bdl_model_inputs) {
  s.asks(bdl_model_inputs, With{any(s).handle});
}
BDL_CALLS(bdl_model_outputs) {
  s.asks(bdl_model_outputs, With{any(s).handle});
}
BDL_CALLS(bdl_model_targets) {
  s.asks(bdl_model_targets, With{any(s).handle});
}
BDL_CALLS(bdl_model_dtype) {
  s.asks(bdl_model_dtype, With{any(s).handle});
}
BDL_CALLS(bdl_model_likelihood) {
  s.asks(bdl_model_likelihood, With{any(s).handle});
}
BDL_CALLS(bdl_model_activation) {
  s.asks(bdl_model_activation, With{any(s).handle});
}
BDL_CALLS(bdl_model_block_count) {
  s.asks(bdl_model_block_count, With{any(s).handle});
}

BDL_CALLS(bdl_model_block) {
  s.reads(bdl_model_block, With{any(s).handle, s.index(6), s.text(), s.integer(), s.integer(), s.integer()});
}

BDL_CALLS(bdl_model_set_noise_precision) {
  auto& m = any(s);
  s.changes(bdl_model_set_noise_precision,
            With{m.handle, s.in(1, s.bytes.below(2) ? 1 : m.shape.targets, Kind::positive)});
}

BDL_CALLS(bdl_model_get_noise_precision) {
  auto& m = any(s);
  s.reads(bdl_model_get_noise_precision, With{m.handle, s.out(1, s.bytes.below(2) ? 1 : m.shape.targets)});
}

BDL_CALLS(bdl_model_set_degrees_of_freedom) {
  s.changes(bdl_model_set_degrees_of_freedom, With{any(s).handle, s.number()});
}

BDL_CALLS(bdl_model_get_degrees_of_freedom) {
  s.reads(bdl_model_get_degrees_of_freedom, With{any(s).handle, s.real()});
}

BDL_CALLS(bdl_model_set_shape) {
  s.changes(bdl_model_set_shape, With{any(s).handle, s.number()});
}

BDL_CALLS(bdl_model_get_shape) {
  s.reads(bdl_model_get_shape, With{any(s).handle, s.real()});
}

BDL_CALLS(bdl_model_set_levels) {
  s.changes(bdl_model_set_levels, With{any(s).handle, s.index(4)});
}

BDL_CALLS(bdl_model_level_count) {
  s.asks(bdl_model_level_count, With{any(s).handle});
}

BDL_CALLS(bdl_model_set_cut_points) {
  s.changes(bdl_model_set_cut_points, With{any(s).handle, s.in(1, 2, Kind::label, 3)});
}

BDL_CALLS(bdl_model_get_cut_points) {
  s.reads(bdl_model_get_cut_points, With{any(s).handle, s.out(1, 1 + s.bytes.below(3))});
}

BDL_CALLS(bdl_model_set_classes) {
  auto& m = any(s);
  s.changes(bdl_model_set_classes,
            With{m.handle, s.bytes.below(3) ? s.in(1, 2, Kind::label, m.shape.outputs) : bdl_none()});
}

BDL_CALLS(bdl_model_set_name) {
  static constexpr const char* names[] = {"", "a", "b\\n\n", "\xc3\xa9", "\xff", "\xed\xa0\x80"};
  const char* const name = s.faulty() ? nullptr : s.bytes.one_of(names);
  s.changes(bdl_model_set_name, With{any(s).handle, s.choice<bdl_named>(3), s.index(3), name});
}

BDL_CALLS(bdl_model_get_name) {
  s.reads(bdl_model_get_name, With{any(s).handle, s.choice<bdl_named>(3), s.index(3), s.text()});
}

BDL_CALLS(bdl_model_set_class_type) {
  s.changes(bdl_model_set_class_type, With{any(s).handle, s.choice<bdl_class_type>(5)});
}

BDL_CALLS(bdl_model_get_class_type) {
  s.reads(bdl_model_get_class_type, With{any(s).handle, s.small_integer()});
}

BDL_CALLS(bdl_model_class_count) {
  s.asks(bdl_model_class_count, With{any(s).handle});
}

BDL_CALLS(bdl_model_set_row_weights) {
  // Rows with them have other shapes than most calls give.
  s.changes(bdl_model_set_row_weights,
            With{any(s).handle, static_cast<std::int32_t>(s.faulty() ? s.bytes.below(3) : 0)});
}

BDL_CALLS(bdl_model_has_row_weights) {
  s.asks(bdl_model_has_row_weights, With{any(s).handle});
}

BDL_CALLS(bdl_model_set_offsets) {
  // Rows with them have other shapes than most calls give.
  s.changes(bdl_model_set_offsets,
            With{any(s).handle, static_cast<std::int32_t>(s.faulty() ? s.bytes.below(3) : 0)});
}

BDL_CALLS(bdl_model_offset_count) {
  s.asks(bdl_model_offset_count, With{any(s).handle});
}

BDL_CALLS(bdl_model_get_classes) {
  auto& m = any(s);
  s.reads(bdl_model_get_classes, With{m.handle, s.out(1, bdl_model_class_count(m.handle))});
}

BDL_CALLS(bdl_model_set_noise_covariance) {
  auto& m = any(s);
  s.changes(bdl_model_set_noise_covariance,
            With{m.handle, s.in(m.shape.outputs, m.shape.outputs, Kind::covariance)});
}

BDL_CALLS(bdl_model_get_noise_covariance) {
  auto& m = any(s);
  s.reads(bdl_model_get_noise_covariance, With{m.handle, s.out(m.shape.outputs, m.shape.outputs)});
}

BDL_CALLS(bdl_model_noise_degrees_of_freedom) {
  auto& m = any(s);
  s.reads(bdl_model_noise_degrees_of_freedom, With{m.handle, s.out(1, m.shape.targets, Finite::or_infinite)});
}

BDL_CALLS(bdl_model_set_standardization) {
  auto& m = any(s);
  const auto of = [&](std::int64_t cols, Kind kind) {
    const std::int64_t which = s.bytes.below(4);
    return which == 0 ? bdl_none() : s.in(1, which == 1 ? 1 : cols, kind);
  };
  s.changes(bdl_model_set_standardization,
            With{m.handle, of(m.shape.inputs, Kind::real), of(m.shape.inputs, Kind::positive),
                 of(m.shape.targets, Kind::real), of(m.shape.targets, Kind::positive)});
}

BDL_CALLS(bdl_model_standardize) {
  auto& m = any(s);
  const std::int64_t n = s.bytes.below(6);
  s.changes(bdl_model_standardize,
            With{m.handle, s.x(m.shape, n), s.bytes.below(4) ? s.y(m.shape, n) : bdl_none()});
}

BDL_CALLS(bdl_model_get_standardization) {
  auto& m = any(s);
  const std::int64_t inputs = m.shape.inputs, targets = m.shape.targets;
  s.reads(bdl_model_get_standardization, With{m.handle, s.perhaps(1, inputs), s.perhaps(1, inputs),
                                              s.perhaps(1, targets), s.perhaps(1, targets)});
}

BDL_CALLS(bdl_model_initialize) {
  auto& m = any(s);
  s.reads(bdl_model_initialize,
          With{m.handle, s.choice<bdl_initialization>(5), s.seed(), s.out(1, m.shape.parameters)});
}

BDL_CALLS(bdl_model_evaluate) {
  auto& m = any(s);
  const std::int64_t n = s.bytes.below(5);
  s.reads(bdl_model_evaluate,
          With{m.handle, s.in(1, m.shape.parameters), s.x(m.shape, n), s.out(n, m.shape.outputs)});
}

BDL_CALLS(bdl_model_coefficients) {
  auto& m = any(s);
  const std::int64_t n = s.bytes.below(4), base = s.bytes.below(4) - 1;
  s.reads(bdl_model_coefficients, With{m.handle, base, s.in(n, m.shape.parameters),
                                       s.out(n, bdl_model_coefficient_count(m.handle, base))});
}

BDL_CALLS(bdl_model_coefficient_count) {
  bdl_model_coefficient_count(s.faulty() ? nullptr : any(s).handle, s.bytes.below(5) - 2);
}

BDL_CALLS(bdl_model_log_likelihood) {
  auto& m = any(s);
  const std::int64_t n = s.bytes.below(5);
  s.reads(bdl_model_log_likelihood,
          With{m.handle, s.in(1, m.shape.parameters), s.x(m.shape, n), s.y(m.shape, n), s.out(n, 1)});
}

BDL_CALLS(bdl_model_gradient_rows) {
  auto& m = any(s);
  const std::int64_t n = s.bytes.below(4);
  s.reads(bdl_model_gradient_rows, With{m.handle, s.in(1, m.shape.parameters), s.x(m.shape, n),
                                        s.y(m.shape, n), s.out(n, m.shape.parameters)});
}

BDL_CALLS(bdl_model_jacobian) {
  auto& m = any(s);
  const std::int64_t n = s.bytes.below(4);
  s.reads(bdl_model_jacobian, With{m.handle, s.in(1, m.shape.parameters), s.x(m.shape, n),
                                   s.out(n * m.shape.outputs, m.shape.parameters)});
}

BDL_CALLS(bdl_model_hessian_vector_product) {
  auto& m = any(s);
  const std::int64_t n = s.bytes.below(4), k = s.bytes.below(3), d = m.shape.parameters;
  s.reads(bdl_model_hessian_vector_product,
          With{m.handle, s.in(1, d), s.x(m.shape, n), s.y(m.shape, n), s.in(k, d), s.out(k, d)});
}

BDL_CALLS(bdl_model_hessian) {
  auto& m = any(s);
  const std::int64_t n = s.bytes.below(4), d = m.shape.parameters;
  s.reads(bdl_model_hessian, With{m.handle, s.in(1, d), s.x(m.shape, n), s.y(m.shape, n), s.out(d, d)});
}

}  // namespace fuzz
