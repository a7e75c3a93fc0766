// Images as bytes give the results of the same numbers in floats, wherever x is read; standardisation is by
// channel.
#include "file_fields.hpp"
#include "image_runs.hpp"
#include "search_runs.hpp"

namespace {

struct Moments {
  Vector mean, scale;
  explicit Moments(const Model& model) : mean(image_size), scale(image_size) {
    OK(bdl_model_get_standardization(model.get(), bdl_f64_out(mean.data(), 1, image_size),
                                     bdl_f64_out(scale.data(), 1, image_size), bdl_none_out(),
                                     bdl_none_out()));
  }
  bool operator==(const Moments&) const = default;
};

void channels_share_mean_and_scale(void**) {
  const Images images;
  const Model of_bytes = make_network(BDL_F64), of_floats = make_network(BDL_F64);
  OK(bdl_model_standardize(of_bytes.get(), images.x(), bdl_none()));
  OK(bdl_model_standardize(of_floats.get(), images.x_as_floats(), bdl_none()));
  const Moments got(of_bytes);
  assert_true(got == Moments(of_floats));
  for (int64_t c = 0; c < channels; ++c) {
    const double count = image_count * pixels;
    double sum = 0, square = 0;
    const auto each = [&](auto visit) {
      for (int64_t i = 0; i < image_count; ++i)
        for (int64_t k = 0; k < pixels; ++k)
          visit(double{images.floats[static_cast<std::size_t>(i * image_size + c * pixels + k)]});
    };
    each([&](double value) { sum += value; });
    each([&](double value) { square += (value - sum / count) * (value - sum / count); });
    for (int64_t k = c * pixels; k < (c + 1) * pixels; ++k) {
      assert_close(got.mean[static_cast<std::size_t>(k)], sum / count, 1e-11, "mean");
      assert_close(got.scale[static_cast<std::size_t>(k)], std::sqrt(square / count), 1e-11, "scale");
    }
  }
  assert_true(got.mean.front() != got.mean.back());
}

/// These numbers without an image have one mean for each column.
void features_have_their_own(void**) {
  const Images images;
  const Model model = make_network(BDL_F64, "input 32; dense 2");
  OK(bdl_model_standardize(model.get(), images.x(), bdl_none()));
  const Moments moments(model);
  assert_true(moments.mean[0] != moments.mean[1] && moments.scale[0] != moments.scale[1]);
  const double two[] = {1, 2};
  assert_int_equal(
      bdl_model_set_standardization(model.get(), bdl_f64(two, 1, 2), bdl_none(), bdl_none(), bdl_none()),
      BDL_ERROR_SHAPE);
}

void one_value_may_stand_for_many(void**) {
  const double largest = 255, mean[] = {100, 130}, three[] = {1, 2, 3}, zero = 0;
  const Model model = make_network(BDL_F64);
  const auto set = [&](bdl_matrix m, bdl_matrix s) {
    return bdl_model_set_standardization(model.get(), m, s, bdl_none(), bdl_none());
  };
  OK(set(bdl_f64(mean, 1, 2), bdl_f64(&largest, 1, 1)));
  const Moments moments(model);
  for (std::size_t k = 0; k < image_size; ++k)
    assert_true(moments.mean[k] == mean[k / pixels] && moments.scale[k] == 255);
  assert_int_equal(set(bdl_f64(three, 1, 3), bdl_none()), BDL_ERROR_SHAPE);
  assert_non_null(strstr(bdl_last_error(), "input_mean has 3 columns, expected 32"));
  assert_int_equal(set(bdl_none(), bdl_f64(&zero, 1, 1)), BDL_ERROR_INVALID_ARGUMENT);
  assert_true(moments == Moments(model));
}

/// As documented: bytes become 0 to 1.
void bytes_are_scaled_to_one(void**) {
  const Images images;
  const double largest = 255;
  const Model scaled = make_network(BDL_F64), plain = make_network(BDL_F64);
  OK(bdl_model_set_standardization(scaled.get(), bdl_none(), bdl_f64(&largest, 1, 1), bdl_none(),
                                   bdl_none()));
  Vector theta(static_cast<std::size_t>(bdl_model_parameters(plain.get()))), fractions, f(image_count * 2),
      g(image_count * 2);
  OK(bdl_model_initialize(plain.get(), BDL_INIT_XAVIER, 3, bdl_f64_out(theta.data(), 1, std::ssize(theta))));
  for (const std::uint8_t byte : images.bytes) fractions.push_back(byte / 255.0);
  const bdl_matrix parameters = bdl_f64(theta.data(), 1, std::ssize(theta));
  OK(bdl_model_evaluate(scaled.get(), parameters, images.x(), bdl_f64_out(f.data(), image_count, 2)));
  OK(bdl_model_evaluate(plain.get(), parameters, bdl_f64(fractions.data(), image_count, image_size),
                        bdl_f64_out(g.data(), image_count, 2)));
  assert_true(f == g);
}

/// One learner sees bytes, the other floats.
struct Pair {
  Learner of_bytes, of_floats;
  template <class... Arguments>
  explicit Pair(const Images& images, Arguments... arguments)
      : of_bytes(image_learner(images, arguments...)), of_floats(image_learner(images, arguments...)) {}
  void assert_same() const { assert_true(moments_of(of_bytes.posterior) == moments_of(of_floats.posterior)); }
};

Vector predicted(const Learner& l, bdl_matrix x) {
  Vector p(image_count * 2);
  OK(bdl_predict_classes(l.model.get(), l.posterior.get(), x, BDL_MONTE_CARLO, 9, 4,
                         bdl_f64_out(p.data(), image_count, 2), bdl_none_out(), bdl_none_out()));
  return p;
}

void training_and_predictions_have_the_bits_of_floats(void**) {
  const Images images;
  for (const bdl_dtype dtype : {BDL_F32, BDL_F64}) {
    const Pair pair(images, dtype);
    for (const bool in_bytes : {true, false}) {
      const Learner& l = in_bytes ? pair.of_bytes : pair.of_floats;
      const auto x = [&](int64_t first, int64_t count) {
        return in_bytes ? images.x(first, count) : images.x_as_floats(first, count);
      };
      OK(bdl_optimizer_fit(l.optimizer.get(), x(0, image_count), images.y(), 3, nullptr, nullptr));
      OK(bdl_optimizer_step(l.optimizer.get(), x(3, 12), images.y(3, 12)));
      OK(bdl_optimizer_laplace(l.optimizer.get(), x(0, image_count), images.y()));
    }
    pair.assert_same();
    assert_true(predicted(pair.of_bytes, images.x()) == predicted(pair.of_floats, images.x_as_floats()));
  }
}

void streams_have_the_bits_of_floats(void**) {
  const Images images;
  const Pair pair(images, BDL_F64, "bong");
  OK(bdl_optimizer_observe(pair.of_bytes.optimizer.get(), images.x(), images.y(), bdl_none_out()));
  OK(bdl_optimizer_observe(pair.of_floats.optimizer.get(), images.x_as_floats(), images.y(), bdl_none_out()));
  pair.assert_same();
}

void labels_may_be_bytes(void**) {
  const Images images;
  const std::vector<std::uint8_t> labels(images.labels.begin(), images.labels.end());
  Pair pair(images);
  pair.of_bytes.fit(images.x(), bdl_u8(labels.data(), image_count, 1), 2);
  pair.of_floats.fit(images.x(), images.y(), 2);
  pair.assert_same();
}

void searches_have_the_scores_of_floats(void**) {
  const Images images;
  for (const int flip : {0, 1}) {
    Vector trials[2];
    for (const bool in_bytes : {true, false}) {
      Learner l = image_learner(images);
      l.set("minibatch", 10);
      l.set("augment_pad", flip);
      l.set("augment_flip", flip);
      const Search search = make_search(l);
      OK(bdl_search_add_double(search.get(), "learning_rate", 0.01, 0.1, BDL_SCALE_LOG));
      OK(bdl_search_run(search.get(), in_bytes ? images.x() : images.x_as_floats(), images.y(), 2, 0, nullptr,
                        nullptr));
      trials[in_bytes] = all_trials(search, 1);
      assert_true(std::isfinite(trials[in_bytes][1]));
    }
    assert_true(trials[0] == trials[1]);
  }
}

void files_keep_the_channels(void**) {
  const Images images;
  const Learner l = image_learner(images);
  const TemporaryFile file;
  bdl_model* loaded = nullptr;
  OK(bdl_save(file.path(), l.model.get(), nullptr, nullptr));
  OK(bdl_load(file.path(), nullptr, &loaded, nullptr, nullptr));
  assert_true(Moments(Model(loaded)) == Moments(l.model));
}

/// Neither models nor outputs are bytes.
void bytes_are_for_reading(void**) {
  bdl_model* model = nullptr;
  bdl_posterior* q = nullptr;
  assert_int_equal(bdl_model_create_network(BDL_U8, image_network, BDL_CATEGORICAL, &model),
                   BDL_ERROR_INVALID_ARGUMENT);
  assert_non_null(strstr(bdl_last_error(), "dtype is 4, expected BDL_F32 or BDL_F64"));
  assert_int_equal(bdl_posterior_create_full(BDL_U8, 3, &q), BDL_ERROR_INVALID_ARGUMENT);
  const Images images;
  const Learner l = image_learner(images);
  std::vector<std::uint8_t> out(static_cast<std::size_t>(bdl_posterior_dimension(l.posterior.get())), 9);
  assert_int_equal(
      bdl_posterior_mean(l.posterior.get(), bdl_strided_out(out.data(), BDL_U8, 1, std::ssize(out), 1, 1)),
      BDL_ERROR_SHAPE);
  assert_non_null(strstr(bdl_last_error(), "dtype u8, expected f32 or f64"));
  assert_true(out == std::vector<std::uint8_t>(out.size(), 9));
}

}  // namespace

int test_images() {
  const CMUnitTest tests[] = {cmocka_unit_test(channels_share_mean_and_scale),
                              cmocka_unit_test(features_have_their_own),
                              cmocka_unit_test(one_value_may_stand_for_many),
                              cmocka_unit_test(bytes_are_scaled_to_one),
                              cmocka_unit_test(training_and_predictions_have_the_bits_of_floats),
                              cmocka_unit_test(streams_have_the_bits_of_floats),
                              cmocka_unit_test(labels_may_be_bytes),
                              cmocka_unit_test(searches_have_the_scores_of_floats),
                              cmocka_unit_test(files_keep_the_channels),
                              cmocka_unit_test(bytes_are_for_reading)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
