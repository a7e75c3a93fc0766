// Models known through callbacks: what the callbacks receive, and what their answers and mistakes lead to.
#include "base/array.hpp"
#include "model/user_model.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

/// f_c(x) = sum_i theta_i (c + 1) x_i with 3 inputs and parameters, 2 outputs.
struct Calls {
  std::int32_t answer = 0;
  bool poison_row = false;
  int destroyed = 0;
};

std::int32_t outputs(void*, bdl_matrix theta, bdl_matrix x, bdl_matrix_out f) {
  assert_true(theta.rows == 1 && theta.cols == 3 && x.cols == 3 && f.cols == 2 && f.rows == x.rows);
  for (Index j = 0; j < x.rows; ++j) {
    Dense row(2, 1);
    for (Index c = 0; c < 2; ++c)
      for (Index i = 0; i < 3; ++i)
        row(c, 0) += element(theta, 0, i) * static_cast<double>(c + 1) * element(x, j, i);
    scatter(ConstMatrixView<double>(row.values.data(), 2, 1), f, j);
  }
  return 0;
}

std::int32_t gradients(void* context, bdl_matrix theta, bdl_matrix x, bdl_matrix seeds, bdl_matrix_out rows) {
  const auto& calls = *static_cast<Calls*>(context);
  assert_true(theta.cols == 3 && seeds.rows == x.rows && seeds.cols == 2 && rows.rows == x.rows &&
              rows.cols == 3);
  for (Index j = 0; j < x.rows; ++j) {
    Dense row(3, 1);
    for (Index i = 0; i < 3; ++i)
      row(i, 0) = (element(seeds, j, 0) + 2 * element(seeds, j, 1)) * element(x, j, i);
    if (calls.poison_row && j == 1) row(2, 0) = not_a_number;
    scatter(ConstMatrixView<double>(row.values.data(), 3, 1), rows, j);
  }
  return calls.answer;
}

template <class T>
void callbacks_see_examples_in_rows(void**) {
  Calls calls;
  const UserModel<T> model(3, 3, Likelihood(BDL_GAUSSIAN, 2), {outputs, gradients, &calls});
  assert_true(model.parameters() == 3 && model.outputs() == 2 && model.blocks().size() == 1 &&
              !model.is_single_index());
  assert_true(model.blocks()[0].size() == 3 && !model.blocks()[0].is_bias);
  Random random(1);
  const Padded<T> theta(random.normal(3, 1)), x(random.normal(3, 4)), seeds(random.normal(2, 4));
  Padded<T> f(poison(2, 4)), rows(poison(3, 4));
  Scratch scratch;
  model.forward(theta.column(), x.get(), f.view(), scratch);
  model.gradient_rows(theta.column(), x.get(), seeds.get(), rows.view());
  const Dense dots = transposed(theta.dense()) * x.dense();
  Dense expected(2, 4), expected_rows(3, 4);
  for (Index j = 0; j < 4; ++j) {
    for (Index c = 0; c < 2; ++c) expected(c, j) = static_cast<double>(c + 1) * dots(0, j);
    for (Index i = 0; i < 3; ++i)
      expected_rows(i, j) = (seeds.dense()(0, j) + 2 * seeds.dense()(1, j)) * x.dense()(i, j);
  }
  assert_close("F", f.dense(), expected, accuracy<T>);
  assert_close("rows", rows.dense(), expected_rows, accuracy<T>);
}

void mistakes_of_callbacks_are_reported(void**) {
  Calls calls;
  const UserModel<double> model(3, 3, Likelihood(BDL_GAUSSIAN, 2), {outputs, gradients, &calls});
  const Padded<double> theta(Dense(3, 1)), x(Dense(3, 2)), seeds(Dense(2, 2));
  Padded<double> rows(Dense(3, 2));
  const auto call = [&] { model.gradient_rows(theta.column(), x.get(), seeds.get(), rows.view()); };
  calls.answer = 7;
  expect_error(Status::ERROR_CALLBACK, "gradients callback returned 7", call);
  calls.answer = 0;
  calls.poison_row = true;
  expect_error(Status::ERROR_DIVERGED, "example 1", call);
  const UserModel<double> values_only(3, 3, Likelihood(BDL_GAUSSIAN, 2), {outputs, nullptr, &calls});
  expect_error(Status::ERROR_UNSUPPORTED, "gradients",
               [&] { values_only.gradient_rows(theta.column(), x.get(), seeds.get(), rows.view()); });
}

void user_data_is_destroyed_with_the_model(void**) {
  Calls calls;
  {
    UserModel<float> model(3, 3, Likelihood(BDL_GAUSSIAN, 2), {outputs, gradients, &calls});
    model.set_destroy([](void* context) { ++static_cast<Calls*>(context)->destroyed; });
    assert_int_equal(calls.destroyed, 0);
  }
  assert_int_equal(calls.destroyed, 1);
}

}  // namespace

int test_user_models() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(callbacks_see_examples_in_rows<float>),
      cmocka_unit_test(callbacks_see_examples_in_rows<double>),
      cmocka_unit_test(mistakes_of_callbacks_are_reported),
      cmocka_unit_test(user_data_is_destroyed_with_the_model),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
