// One method's training: resumable, on one thread.
#ifndef VOGN_TRAINING_HPP
#define VOGN_TRAINING_HPP

#include <vector>

#include "methods.hpp"
#include "support/handles.hpp"
#include "support/images.hpp"

namespace vogn {

/// Rows first .. first + count - 1 of images.
struct Part {
  const support::Images& images;
  int64_t first, count;

  bdl_matrix x() const { return images.x(first, count); }
  bdl_matrix y() const { return images.y(first, count); }
};
Part whole(const support::Images& images);
/// At most so many from the beginning.
Part beginning(const support::Images& images, int64_t count);

struct Course {
  std::string network;  ///< a published name, or a description
  int64_t classes, epochs, minibatch;
  int64_t copies;       ///< that each image counts as, for what augmentation makes of it: the paper's rho
  std::string options;  ///< of all methods
};

struct Member {
  support::Model model;
  support::Posterior posterior;
  support::Optimizer optimizer;
};

struct Learned {
  std::vector<Member> members;
  double seconds = 0;  ///< of one core; of an interrupted training, those since it went on
  bool has_diverged = false;
};

support::Model make_model(const Course& course, const support::Images& images);

/// checkpoint: a path that it saves to every minute, goes on from, and removes in the end; "": none.
Learned train(const Course& course, const Method& method, const Trial& trial, const Part& part, int64_t seed,
              const std::string& checkpoint);

/// Class probabilities, row by row; none where outputs have no meaning any more.
std::vector<double> predict(const Learned& learned, const Method& method, const Part& part, int64_t classes);

}  // namespace vogn

#endif
