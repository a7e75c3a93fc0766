// Augmentation in fit: what it changes, what it leaves alone, and that it is a function of seed and epoch.
#include "file_fields.hpp"
#include "image_runs.hpp"

namespace {

Learner augmented(const Images& images, bdl_dtype dtype = BDL_F64) {
  Learner l = image_learner(images, dtype);
  l.set("minibatch", 9);
  l.set("progress_every", 1);
  OK(bdl_optimizer_set_text(l.optimizer.get(), "augment_pad=1 augment_flip=1 augment_fill=reflect"));
  return l;
}

bdl_status fit(const Learner& l, const Images& images, int64_t epochs, bdl_progress_fn progress = nullptr) {
  return bdl_optimizer_fit(l.optimizer.get(), images.x(), images.y(), epochs, progress, nullptr);
}

int32_t stop_every_third(void*, const bdl_optimizer* o) {
  int64_t step = 0;
  OK(bdl_optimizer_progress(o, &step, nullptr, nullptr));
  return step % 3 == 0;
}

/// Saved and loaded in the middle of epochs.
void resumed_fits_have_the_same_bits(void**) {
  const Images images;
  for (const bdl_dtype dtype : {BDL_F32, BDL_F64}) {
    const Learner straight = augmented(images, dtype);
    OK(fit(straight, images, 4));
    Learner l = augmented(images, dtype);
    int stops = 0;
    for (bdl_status status = fit(l, images, 4, stop_every_third); status == BDL_STOPPED;
         status = fit(l, images, 0, stop_every_third), ++stops) {
      const TemporaryFile file;
      bdl_model* model = nullptr;
      bdl_posterior* q = nullptr;
      bdl_optimizer* o = nullptr;
      OK(bdl_save(file.path(), nullptr, nullptr, l.optimizer.get()));
      OK(bdl_load(file.path(), nullptr, &model, &q, &o));
      l = Learner{Model(model), Posterior(q), Optimizer(o)};
    }
    assert_true(stops > 3);
    assert_true(moments_of(l.posterior) == moments_of(straight.posterior));
  }
}

Vector trained_with(const Images& images, const char* options) {
  const Learner l = image_learner(images);
  OK(bdl_optimizer_set_text(l.optimizer.get(), options));
  OK(fit(l, images, 3));
  return moments_of(l.posterior);
}

void each_option_changes_training(void**) {
  const Images images;
  const Vector plain = trained_with(images, ""), padded = trained_with(images, "augment_pad=1"),
               flipped = trained_with(images, "augment_flip=1"),
               reflected = trained_with(images, "augment_pad=1 augment_fill=reflect");
  assert_true(plain != padded && plain != flipped && padded != reflected);
  assert_true(plain == trained_with(images, "augment_fill=reflect"));  // nothing to fill
  assert_true(padded == trained_with(images, "augment_pad=1 threads=2"));
  assert_true(padded != trained_with(images, "augment_pad=1 seed=2"));
}

/// One example of one minibatch: each epoch is a step on one of its two images.
void an_epoch_is_a_step_on_the_augmented_images(void**) {
  const Images images;
  std::vector<std::uint8_t> mirrored(image_size);
  for (int64_t k = 0; k < image_size; ++k)
    mirrored[static_cast<std::size_t>(k)] =
        images.bytes[static_cast<std::size_t>(k / side * side + side - 1 - k % side)];
  const auto learner = [&](int flip) {
    Learner l(make_network(BDL_F64), BDL_F64, 2, 1);
    OK(bdl_model_standardize(l.model.get(), images.x(), bdl_none()));
    l.set("total_steps", 8);
    l.set("learn_prior", 0);
    l.set("augment_flip", flip);
    return l;
  };
  const auto step = [&](const Learner& l, bool is_mirrored) {
    OK(bdl_optimizer_step(l.optimizer.get(),
                          is_mirrored ? bdl_u8(mirrored.data(), 1, image_size) : images.x(0, 1),
                          images.y(0, 1)));
  };
  const Learner fitted = learner(1);
  std::string course;
  int kinds[2] = {};
  for (int epoch = 1; epoch <= 8; ++epoch) {
    OK(bdl_optimizer_fit(fitted.optimizer.get(), images.x(0, 1), images.y(0, 1), 1, nullptr, nullptr));
    const Vector now = moments_of(fitted.posterior);
    bool found = false;
    for (const bool is_mirrored : {false, true}) {
      const Learner l = learner(0);
      for (const char before : course) step(l, before == 'm');
      step(l, is_mirrored);
      if (found || moments_of(l.posterior) != now) continue;
      found = true;
      course.push_back(is_mirrored ? 'm' : ' ');
      ++kinds[static_cast<int>(is_mirrored)];
    }
    assert_true(found);
  }
  assert_true(kinds[0] > 0 && kinds[1] > 0);
}

/// The caller's minibatches are taken as they are.
void steps_are_not_augmented(void**) {
  const Images images;
  const Learner plain = image_learner(images), other = augmented(images);
  for (const Learner* l : {&plain, &other})
    OK(bdl_optimizer_step(l->optimizer.get(), images.x(0, 10), images.y(0, 10)));
  assert_true(moments_of(plain.posterior) == moments_of(other.posterior));
}

/// Functions that pass over all data read the images without augmentation.
void laplace_sees_the_images_as_they_are(void**) {
  const Images images;
  const Learner at_end = augmented(images), afterwards = augmented(images);
  OK(bdl_optimizer_set_int(at_end.optimizer.get(), "laplace", 1));
  OK(fit(at_end, images, 2));
  OK(fit(afterwards, images, 2));
  assert_true(moments_of(at_end.posterior) != moments_of(afterwards.posterior));
  OK(bdl_optimizer_laplace(afterwards.optimizer.get(), images.x(), images.y()));
  assert_true(moments_of(at_end.posterior) == moments_of(afterwards.posterior));
}

void refused(const Learner& l, const char* text, bdl_status status, const char* word) {
  assert_int_equal(bdl_optimizer_set_text(l.optimizer.get(), text), status);
  if (!strstr(bdl_last_error(), word)) fail_msg("\"%s\" lacks \"%s\"", bdl_last_error(), word);
  int64_t pad = -1, flip = -1;
  OK(bdl_optimizer_get_int(l.optimizer.get(), "augment_pad", &pad));
  OK(bdl_optimizer_get_int(l.optimizer.get(), "augment_flip", &flip));
  assert_true(pad == 0 && flip == 0);
}

void what_it_does_not_go_with_is_refused(void**) {
  const Images images;
  const Learner features(make_network(BDL_F64, "input 32; dense 2"), BDL_F64, 1, image_count);
  refused(features, "augment_pad=1", BDL_ERROR_UNSUPPORTED,
          "option \"augment_pad\" is 1, but the model has no images as inputs");
  refused(features, "augment_flip=1", BDL_ERROR_UNSUPPORTED, "option \"augment_flip\" is 1");
  const Learner l = image_learner(images);
  refused(l, "augment_pad=4", BDL_ERROR_INVALID_ARGUMENT,
          "expected less than the rows and columns of the images (4 x 4)");
  refused(l, "augment_pad=-1", BDL_ERROR_INVALID_ARGUMENT, "expected 0 to 16384");
  refused(l, "augment_fill=edge", BDL_ERROR_INVALID_ARGUMENT, "expected zero | reflect");
  const Learner stream = image_learner(images, BDL_F64, "bong");
  refused(stream, "augment_flip=1", BDL_ERROR_UNSUPPORTED, "observe reads each example once");
  const Learner exact(make_network(BDL_F64, "input 2 4 4; dense 1", BDL_BERNOULLI), BDL_F64, FULL,
                      image_count, "exact-full");
  refused(exact, "augment_pad=1", BDL_ERROR_UNSUPPORTED, "method \"exact-full\" maximises");
}

/// A method for batches may observe as well, unless what it sees would not be what its options say.
void augmented_optimizers_do_not_observe(void**) {
  const Images images;
  const Learner l = image_learner(images);
  OK(bdl_optimizer_observe(l.optimizer.get(), images.x(0, 2), images.y(0, 2), bdl_none_out()));
  OK(bdl_optimizer_set_int(l.optimizer.get(), "augment_flip", 1));
  assert_int_equal(bdl_optimizer_observe(l.optimizer.get(), images.x(0, 2), images.y(0, 2), bdl_none_out()),
                   BDL_ERROR_UNSUPPORTED);
}

}  // namespace

int test_augmented_training() {
  const CMUnitTest tests[] = {cmocka_unit_test(resumed_fits_have_the_same_bits),
                              cmocka_unit_test(each_option_changes_training),
                              cmocka_unit_test(an_epoch_is_a_step_on_the_augmented_images),
                              cmocka_unit_test(steps_are_not_augmented),
                              cmocka_unit_test(laplace_sees_the_images_as_they_are),
                              cmocka_unit_test(what_it_does_not_go_with_is_refused),
                              cmocka_unit_test(augmented_optimizers_do_not_observe)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
