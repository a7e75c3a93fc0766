// A categorical likelihood of some of its outputs: on those it is the one that has no others, and zero
// elsewhere.
#include "curvature/seeds.hpp"
#include "likelihood/linearized_density.hpp"
#include "support/likelihoods.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr Index outputs = 5;
const std::vector<Index> classes{1, 2, 4};

Likelihood some_classes() {
  Likelihood out(BDL_CATEGORICAL, outputs);
  out.set_classes(classes);
  return out;
}

Dense chosen(const Dense& f) {
  Dense out(static_cast<Index>(classes.size()), f.cols);
  for (Index j = 0; j < f.cols; ++j)
    for (Index k = 0; k < out.rows; ++k) out(k, j) = f(classes[static_cast<std::size_t>(k)], j);
  return out;
}

/// The rows of the chosen, zeros in the others.
Dense spread(const Dense& rows) {
  Dense out(outputs, rows.cols);
  for (Index j = 0; j < rows.cols; ++j)
    for (Index k = 0; k < rows.rows; ++k) out(classes[static_cast<std::size_t>(k)], j) = rows(k, j);
  return out;
}

/// Logits of other classes are far the largest in some trials. y: a position among the classes.
template <class T, class Check>
void for_each_point(Check check) {
  Random random(61);
  for (int trial = 0; trial < 20; ++trial) {
    Dense f = random.normal(outputs, 1, 1.5);
    if (trial % 2 == 1) f(0, 0) = 900;
    const double y = std::floor(random.uniform() * 3);
    check(rounded<T>(f), Dense(1, 1, y),
          Dense(1, 1, static_cast<double>(classes[static_cast<std::size_t>(y)])));
  }
}

template <class T>
void on_its_classes_it_is_the_whole_likelihood(void**) {
  const Likelihood some = some_classes(), whole(BDL_CATEGORICAL, 3);
  for_each_point<T>([&](const Dense& all, const Dense& position, const Dense& label) {
    const Padded<T> f(all), y(label), g(chosen(all)), z(position);
    const auto at = [](const Padded<T>& values) { return values.get().data; };
    assert_near("log p", some.log_density(at(f), at(y)), whole.log_density(at(g), at(z)), 1e-14);
    assert_near("misfit", some.misfit(at(f), at(y)), whole.misfit(at(g), at(z)), 1e-14);
    assert_int_equal(some.top_class(at(f)), classes[static_cast<std::size_t>(whole.top_class(at(g)))]);
    Dense mean = poison(outputs, 1), variance = mean, terms = mean;
    Dense expected = poison(3, 1), expected_variance = expected, expected_terms = expected;
    some.moments(at(f), mean.values.data(), variance.values.data());
    whole.moments(at(g), expected.values.data(), expected_variance.values.data());
    assert_close("probabilities", mean, spread(expected), 1e-14);
    assert_close("variance", variance, spread(expected_variance), 1e-14);
    some.hessian_terms(at(f), at(y), terms.values.data());
    whole.hessian_terms(at(g), at(z), expected_terms.values.data());
    assert_close("terms", terms, spread(expected_terms), 1e-14);
    Padded<T> slope(poison(outputs, 1)), expected_slope(poison(3, 1));
    some.gradient(at(f), at(y), slope.column().data());
    whole.gradient(at(g), at(z), expected_slope.column().data());
    assert_close("gradient", slope.dense(), spread(expected_slope.dense()), accuracy<T>);
    for (Index k = 0; k < outputs; ++k) {
      Padded<T> root(poison(outputs, 1)), expected_root(Dense(3, 1));
      double coefficient = not_a_number, expected_coefficient = 0;
      some.hessian_root(at(f), at(y), k, root.column().data(), &coefficient);
      if (const auto here = std::ranges::find(classes, k); here != classes.end())
        whole.hessian_root(at(g), at(z), here - classes.begin(), expected_root.column().data(),
                           &expected_coefficient);
      for (Index c = 0; c < outputs; ++c)
        assert_near("root", root.dense()(c, 0), spread(expected_root.dense())(c, 0), accuracy<T>);
      assert_near("coefficient", coefficient, expected_coefficient, 1e-12);
    }
  });
}

void gradients_and_hessians_are_the_finite_differences(void**) {
  constexpr double h = 1e-5;
  const Likelihood some = some_classes();
  for_each_point<double>([&](const Dense& f, const Dense&, const Dense& y) {
    const auto gradient = [&](const Dense& at) {
      Dense out = poison(outputs, 1);
      some.gradient(at.values.data(), y.values.data(), out.values.data());
      return out;
    };
    Dense terms(outputs, 1);
    some.hessian_terms(f.values.data(), y.values.data(), terms.values.data());
    for (Index c = 0; c < outputs; ++c) {
      Dense up = f, down = f, unit(outputs, 1), product = poison(outputs, 1);
      up(c, 0) += h;
      down(c, 0) -= h;
      unit(c, 0) = 1;
      const auto loss = [&](const Dense& at) { return -some.log_density(at.values.data(), y.values.data()); };
      assert_near("gradient", gradient(f)(c, 0), (loss(up) - loss(down)) / (2 * h), 1e-7);
      some.hessian_product(terms.values.data(), unit.values.data(), product.values.data());
      const Dense column = 1 / (2 * h) * (gradient(up) - gradient(down));
      for (Index i = 0; i < outputs; ++i) {
        assert_near("Hessian", some.hessian_entry(terms.values.data(), i, c), column(i, 0), 1e-7);
        assert_near("product", product(i, 0), column(i, 0), 1e-7);
      }
    }
  });
}

/// Seeds of every kind; rows of other classes, where there are any, count nothing.
void curvature_is_that_of_its_classes(void**) {
  const Likelihood some = some_classes(), whole(BDL_CATEGORICAL, 3);
  constexpr Index examples = 4;
  Random random(67);
  const Dense f = random.normal(outputs, examples, 2), g = chosen(f);
  Dense y(1, examples), z(1, examples);
  for (Index i = 0; i < examples; ++i) {
    z(0, i) = static_cast<double>(i % 3);
    y(0, i) = static_cast<double>(classes[static_cast<std::size_t>(i % 3)]);
  }
  const auto sums = [&](const Likelihood& likelihood, const SeedSpec& spec, const Dense& at,
                        const Dense& labels) {
    const Index rows = examples * seed_count(likelihood, {examples, 1, spec.kind});
    Dense e = poison(likelihood.outputs(), rows), c = poison(rows, 1), w = poison(rows, 1);
    fill_seeds<double>(likelihood, spec, {at.values.data(), at.rows, examples},
                       {labels.values.data(), 1, examples}, {e.values.data(), e.rows, rows}, c.values,
                       w.values);
    return std::pair(e * c, e * diagonal_matrix(w) * transposed(e));
  };
  for (const CurvatureKind kind :
       {CurvatureKind::empirical_fisher, CurvatureKind::gauss_newton, CurvatureKind::gradient_and_all_labels,
        CurvatureKind::gradient_and_one_label}) {
    SeedSpec spec;
    spec.kind = kind;
    spec.scale = 1.5;
    spec.labels = {3, Stream::labels, 0, 0};
    const auto got = sums(some, spec, f, y), expected = sums(whole, spec, g, z);
    assert_close("gradient", got.first, spread(expected.first), 1e-11);
    assert_close("curvature", got.second, spread(transposed(spread(transposed(expected.second)))), 1e-11);
  }
}

void linearised_densities_are_those_of_its_classes(void**) {
  Random random(71);
  const Dense mean = random.normal(outputs, 1), root = random.normal(outputs, outputs),
              covariance = root * transposed(root);
  Dense own = chosen(covariance);
  own = transposed(chosen(transposed(own)));
  Buffer<double> scratch;
  for (std::size_t k = 0; k < classes.size(); ++k) {
    const double y = static_cast<double>(classes[k]), z = static_cast<double>(k);
    assert_near("log p",
                linearized_log_density<double>(some_classes(), mean.values,
                                               {covariance.values.data(), outputs, outputs}, &y, scratch),
                linearized_log_density<double>(Likelihood(BDL_CATEGORICAL, 3), chosen(mean).values,
                                               {own.values.data(), 3, 3}, &z, scratch),
                1e-14);
  }
}

void classes_can_be_set_and_forgotten(void**) {
  Likelihood likelihood(BDL_CATEGORICAL, outputs);
  assert_int_equal(likelihood.class_count(), outputs);
  likelihood.set_classes(std::vector<Index>{4, 0});
  assert_true(likelihood.classes() == (std::vector<Index>{0, 4}));
  assert_int_equal(likelihood.class_count(), 2);
  const double label = 3;
  expect_error(Status::ERROR_LABEL, "one of the classes that the model has been limited to",
               [&] { likelihood.check_targets(bdl_f64(&label, 1, 1), 1, "y"); });
  likelihood.set_all_classes();
  likelihood.check_targets(bdl_f64(&label, 1, 1), 1, "y");
  assert_int_equal(likelihood.class_count(), outputs);
  assert_int_equal(Likelihood(BDL_BERNOULLI, 3).class_count(), 0);
}

}  // namespace

#define BOTH(test) cmocka_unit_test(test<float>), cmocka_unit_test(test<double>)

int test_classes() {
  const CMUnitTest tests[] = {
      BOTH(on_its_classes_it_is_the_whole_likelihood),
      cmocka_unit_test(gradients_and_hessians_are_the_finite_differences),
      cmocka_unit_test(curvature_is_that_of_its_classes),
      cmocka_unit_test(linearised_densities_are_those_of_its_classes),
      cmocka_unit_test(classes_can_be_set_and_forgotten),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
