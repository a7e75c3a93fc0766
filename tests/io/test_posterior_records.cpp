// Posteriors of the families with full covariance in checkpoint files: what is read back is what was written.
#include <unistd.h>

#include "io/checkpoint.hpp"
#include "posterior/families.hpp"
#include "support/posteriors.hpp"

// Last: it includes cmocka.h.
#include "support/full_steps.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

class TemporaryFile {
 public:
  TemporaryFile() {
    const int file = ::mkstemp(path_);
    assert_true(file >= 0 && ::close(file) == 0);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { std::remove(path_); }
  const char* path() const { return path_; }

 private:
  char path_[32] = "/tmp/bdl-posterior-XXXXXX";
};

template <class T>
void posteriors_survive_a_file(void**) {
  for (const Family family : {Family::full, Family::full_moment}) {
    Random random(1);
    const auto q = posterior_of<T>(family, random_gaussian<T>(6, random));
    for (const bool blank : {false, true}) {
      const TemporaryFile file;
      q->set_blank(blank);
      save_checkpoint<T>(file.path(), {nullptr, q.get(), nullptr});
      const auto loaded = load_checkpoint<T>(read_archive(file.path()), nullptr).posterior;
      assert_true(loaded->family() == family && loaded->is_blank() == blank);
      const Gaussian got = gaussian_of(*loaded), expected = gaussian_of(*q);
      assert_same("mean", got.mean, expected.mean);
      assert_same("precision", got.precision, expected.precision);
      assert_same("covariance", got.covariance, expected.covariance);
    }
  }
}

/// Ranks 0 and above the blocks' sizes too.
template <class T>
void low_rank_covariances_survive_a_file(void**) {
  const std::vector<std::vector<Index>> layouts{{}, {2, 3, 1}};
  for (const std::vector<Index>& blocks : layouts)
    for (const Index rank : {0, 2, 7}) {
      const Family family = blocks.empty() ? Family::low_rank_moment : Family::layerwise_low_rank_moment;
      const auto q = create_posterior<T>({family, 6, rank, blocks});
      q->set_diagonal(Padded<T>(Random(3).uniform(6, 1, 1, 2)).column(), 4);
      q->mean()[2] = 5;
      const TemporaryFile file;
      save_checkpoint<T>(file.path(), {nullptr, q.get(), nullptr});
      const auto loaded = load_checkpoint<T>(read_archive(file.path()), nullptr).posterior;
      assert_true(loaded->family() == family && loaded->rank() == rank);
      assert_true(loaded->log_det_covariance() == q->log_det_covariance());
      Scratch scratch;
      assert_near("KL", kl(*loaded, *q, scratch), 0, sizeof(T) == 8 ? 1e-12 : 1e-5);
    }
}

/// Also under other names, as an optimizer's prior is kept.
template <class T>
void blocks_survive_a_file(void**) {
  const auto q = create_posterior<T>({Family::layerwise_full, 6, 0, {2, 3, 1}, {}});
  Random random(3);
  Padded<T> lambda(random.uniform(6, 1, 1, 2));
  q->set_diagonal(lambda.column(), {});
  for (Index i = 0; i < 6; ++i) q->mean()[static_cast<std::size_t>(i)] = static_cast<T>(i);
  RecordWriter record;
  write_posterior<T>(record, *q);
  write_posterior<T>(record, *q, "prior.posterior.");
  const TensorArchive archive = parse_archive(serialize_archive(record.metadata(), record.tensors()));
  const RecordReader reader(archive);
  for (const char* const prefix : {"posterior.", "prior.posterior."}) {
    const auto loaded = read_posterior<T>(reader, prefix);
    assert_true(loaded->kind().blocks == std::vector<Index>({2, 3, 1}) && loaded->is_blank());
    const auto expected = tensors_of<T>(*q), got = tensors_of<T>(*loaded);
    for (std::size_t k = 0; k < expected.size(); ++k) {
      assert_string_equal(got[k].name, expected[k].name);
      const auto dense = [](const PosteriorTensor<const T>& tensor) {
        return tensor.with([](const auto& view) { return dense_of(view); });
      };
      assert_same(got[k].name, dense(got[k]), dense(expected[k]));
    }
  }
}

PosteriorKind kronecker_kind() {
  return {Family::kronecker, 17, 0, {}, {}, {}, {{2, 3, true}, {3}, {3, 2, false}}};
}

template <class T>
void kronecker_factored_posteriors_survive_a_file(void**) {
  const auto q = create_posterior<T>(kronecker_kind());
  Random random(4);
  q->set_diagonal(Padded<T>(random.uniform(17, 1, 1, 2)).column(), {});
  auto& last = dynamic_cast<KroneckerPosterior<T>&>(dynamic_cast<BlocksPosterior<T>&>(*q).member(2));
  last.swap(*kronecker_of<T>({3, 2, false}, random));
  const TemporaryFile file;
  save_checkpoint<T>(file.path(), {nullptr, q.get(), nullptr});
  const auto loaded = load_checkpoint<T>(read_archive(file.path()), nullptr).posterior;
  assert_true(loaded->kind().matrices == kronecker_kind().matrices);
  assert_true(loaded->log_det_covariance() == q->log_det_covariance());
  assert_same("precision", dense_precision(*loaded), dense_precision(*q));
}

void matrices_that_do_not_fit_are_refused(void**) {
  const auto q = create_posterior<double>(kronecker_kind());
  for (const char* const matrices :
       {"2 3 1 3 0 0 3 2", "2 3 1 3 0 0 3 3 0", "2 3 1 3 0 1 3 2 0", "0 3 1 3 0 0 3 2 0", "4 1 1 3 0 0 3 2 0",
        "2 3 2 3 0 0 3 2 0", "17 0 0", "", "2 3 1 3 0 0 2 3 0", "x"}) {
    RecordWriter record;
    write_posterior<double>(record, *q);
    record.text("posterior.matrices", matrices);
    const TensorArchive archive = parse_archive(serialize_archive(record.metadata(), record.tensors()));
    expect_error(Status::ERROR_FORMAT, "", [&] { read_posterior<double>(RecordReader(archive)); });
  }
}

void blocks_that_do_not_fit_are_refused(void**) {
  const auto q = create_posterior<double>({Family::layerwise_full, 6, 0, {2, 3, 1}, {}});
  for (const char* const blocks : {"2 3", "6", "3 2 1", "2 3 1 0", "-1 7", "", "2 3 x"}) {
    RecordWriter record;
    write_posterior<double>(record, *q);
    record.text("posterior.blocks", blocks);
    const TensorArchive archive = parse_archive(serialize_archive(record.metadata(), record.tensors()));
    expect_error(Status::ERROR_FORMAT, "", [&] { read_posterior<double>(RecordReader(archive)); });
  }
}

}  // namespace

#define BOTH(test) cmocka_unit_test(test<float>), cmocka_unit_test(test<double>)

int test_posterior_records() {
  const CMUnitTest tests[] = {BOTH(posteriors_survive_a_file),
                              BOTH(low_rank_covariances_survive_a_file),
                              BOTH(kronecker_factored_posteriors_survive_a_file),
                              cmocka_unit_test(matrices_that_do_not_fit_are_refused),
                              BOTH(blocks_survive_a_file),
                              cmocka_unit_test(blocks_that_do_not_fit_are_refused)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
