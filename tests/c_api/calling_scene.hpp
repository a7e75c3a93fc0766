// A learner all of whose callbacks interfere with the call that they are part of.
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstring>
#include <functional>
#include <thread>

#include "calls_in_use.hpp"

namespace calling {

enum { N = 12 };

/// A line as a custom model, its data as a callback, its draws, and the one rank of a communicator; each of
/// these functions interferes with the call that it is part of.
struct Scene {
  Interference in_use;
  bool interferes = false, is_inside = false;
  std::function<void(const std::string& callback)> also;  ///< called in each
  double x[N], y[N];
  Model model;
  Posterior posterior;
  Optimizer optimizer;
  Dataset dataset;
  Search search;

  Scene();
  ~Scene() { unlink(in_use.file.c_str()); }
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;
  void called(const std::string& callback) {
    const int count = ++in_use.callbacks[callback];
    if (callback == "outputs" && count <= 3)  // the interrupt is asked 10 ms after a call began
      std::this_thread::sleep_for(std::chrono::milliseconds(12));
    if (is_inside) return;
    is_inside = true;
    if (interferes) in_use.write_to_all(), in_use.read_all();
    if (also) also(callback);
    is_inside = false;
  }
  void use_all() {
    in_use.model = model.get();
    in_use.posterior = posterior.get();
    in_use.optimizer = optimizer.get();
    in_use.dataset = dataset.get();
  }
  bdl_matrix inputs() const { return bdl_f64(x, N, 1); }
  bdl_matrix targets() const { return bdl_f64(y, N, 1); }
};

inline double at(bdl_matrix m, int64_t i, int64_t j) {
  return static_cast<const double*>(m.data)[i * m.row_stride + j * m.col_stride];
}
inline double& at(bdl_matrix_out m, int64_t i, int64_t j) {
  return static_cast<double*>(m.data)[i * m.row_stride + j * m.col_stride];
}
inline Scene& scene_of(void* user_data) {
  return *static_cast<Scene*>(user_data);
}

inline int32_t outputs(void* user_data, bdl_matrix theta, bdl_matrix x, bdl_matrix_out f) {
  scene_of(user_data).called("outputs");
  for (int64_t i = 0; i < x.rows; ++i) at(f, i, 0) = at(theta, 0, 0) + at(theta, 0, 1) * at(x, i, 0);
  return 0;
}

inline int32_t gradients(void* user_data, bdl_matrix, bdl_matrix x, bdl_matrix seeds, bdl_matrix_out rows) {
  scene_of(user_data).called("gradients");
  for (int64_t i = 0; i < x.rows; ++i) {
    at(rows, i, 0) = at(seeds, i, 0);
    at(rows, i, 1) = at(seeds, i, 0) * at(x, i, 0);
  }
  return 0;
}

inline int32_t read_rows(void* user_data, const int64_t* rows, int64_t count, bdl_matrix_out x,
                         bdl_matrix_out y) {
  Scene& scene = scene_of(user_data);
  scene.called("read");
  if (scene.interferes) {  // a data set is not read while it is being read
    double number;
    expect_refused(scene.in_use, "bdl_dataset_set_block", bdl_dataset_set_block(scene.dataset.get(), 2, 2));
    scene.in_use.wanted = "the data set is being read";
    expect_refused(
        scene.in_use, "bdl_dataset_read",
        bdl_dataset_read(scene.dataset.get(), rows, 1, bdl_f64_out(&number, 1, 1), bdl_none_out()));
    expect_refused(scene.in_use, "bdl_dataset_target_range",
                   bdl_dataset_target_range(scene.dataset.get(), bdl_f64_out(&number, 1, 1), bdl_none_out()));
    scene.in_use.wanted = "in use by the call in progress";
  }
  for (int64_t i = 0; i < count; ++i) {
    if (x.data) at(x, i, 0) = scene.x[rows[i]];
    if (y.data) at(y, i, 0) = scene.y[rows[i]];
  }
  return 0;
}

inline int32_t draw(void* user_data, bdl_draw_kind kind, int64_t step, int64_t, const bdl_posterior* q,
                    bdl_matrix_out draws) {
  scene_of(user_data).called("draws");
  if (kind == BDL_DRAW_PARAMETERS) return bdl_posterior_sample(q, 7, step, draws) == BDL_OK ? 0 : 1;
  for (int64_t i = 0; i < draws.rows; ++i)
    for (int64_t j = 0; j < draws.cols; ++j) at(draws, i, j) = (i + j) % 2 ? 1 : -1;
  return 0;
}

inline int32_t gather(void* user_data, const void* send, int64_t bytes, void* receive, const int64_t*) {
  scene_of(user_data).called("all_gather");
  std::memcpy(receive, send, static_cast<std::size_t>(bytes));
  return 0;
}

inline int32_t exchange(void*, int32_t, const void*, int64_t, void*, int64_t) {
  return 1;
}

inline int32_t progress(void* user_data, const bdl_optimizer*) {
  Scene& scene = scene_of(user_data);
  scene.called("progress");
  if (!scene.interferes || !scene.in_use.dataset) return 0;
  double a, b;  // between steps the data may be read
  if (bdl_optimizer_elbo_dataset(scene.optimizer.get(), scene.dataset.get(), 2, 1, &a, &b) != BDL_OK)
    scene.in_use.broken(bdl_last_error());
  return 0;
}

inline int32_t go_on(void* user_data) {
  scene_of(user_data).called("interrupt");
  return 0;
}

inline std::string saved(const bdl_optimizer* optimizer) {
  int64_t size = 0;
  bdl_save_bytes(nullptr, nullptr, optimizer, nullptr, 0, &size);
  std::string bytes(static_cast<std::size_t>(size), '\0');
  bdl_save_bytes(nullptr, nullptr, optimizer, bytes.data(), size, &size);
  return bytes;
}

inline Scene::Scene() {
  for (int i = 0; i < N; ++i) {
    x[i] = std::sin(1.7 * i);
    y[i] = 1 + 2 * x[i] + 0.1 * std::cos(9.1 * i);
  }
  bdl_model* m = nullptr;
  bdl_posterior* q = nullptr;
  bdl_dataset* d = nullptr;
  OK(create_user(BDL_F64, 1, 1, 2, BDL_GAUSSIAN, outputs, gradients, this, nullptr, &m));
  model.reset(m);
  OK(bdl_posterior_create_full(BDL_F64, 2, &q));
  posterior.reset(q);
  optimizer = make_optimizer(model, posterior, N, "slang-ggn");
  OK(bdl_optimizer_set_text(optimizer.get(), "minibatch=5 progress_every=1"));
  OK(bdl_optimizer_set_draws(optimizer.get(), draw, this, nullptr));
  OK(bdl_dataset_from_callback(N, 1, 1, read_rows, this, nullptr, &d));
  dataset.reset(d);
  bdl_search* s = nullptr;
  OK(bdl_search_create(optimizer.get(), 2, 1, BDL_MONTE_CARLO, 3, 1, &s));
  search.reset(s);
  in_use.idle_search = s;
  in_use.bytes = saved(optimizer.get());
  in_use.file = "in-use-" + std::to_string(getpid()) + ".safetensors";
  OK(bdl_save(in_use.file.c_str(), nullptr, nullptr, optimizer.get()));
}

}  // namespace calling
