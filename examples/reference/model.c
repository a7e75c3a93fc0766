/* Models: a network, or a function of the caller's, with a likelihood. */
#include "example.h"

/* A network with 2 inputs, 3 hidden units and 1 output. */
static void perceptron(void) {
  /* [bdl_model_create_mlp] [bdl_model_free] */
  const int64_t sizes[] = {2, 3, 1}; /* inputs, hidden units, outputs */
  bdl_model* model;
  CHECK(bdl_model_create_mlp(BDL_F64, sizes, 3, BDL_RELU, 1, BDL_GAUSSIAN,
                             &model));
  /* [bdl_model_create_mlp] [bdl_model_free] */

  /* [bdl_model_parameters] [bdl_model_inputs] [bdl_model_outputs] [bdl_model_targets] */
  printf("%d parameters, %d inputs, %d output(s), %d column(s) of y\n",
         (int)bdl_model_parameters(model), (int)bdl_model_inputs(model),
         (int)bdl_model_outputs(model), (int)bdl_model_targets(model));
  /* [bdl_model_parameters] [bdl_model_inputs] [bdl_model_outputs] [bdl_model_targets] */
  EXPECT(bdl_model_parameters(model) == 2 * 3 + 3 + 3 + 1 &&
         bdl_model_inputs(model) == 2);
  EXPECT(bdl_model_outputs(model) == 1 && bdl_model_targets(model) == 1);

  /* [bdl_model_dtype] [bdl_model_likelihood] [bdl_model_activation] */
  printf("double precision: %d, Gaussian: %d, ReLU: %d\n",
         bdl_model_dtype(model) == BDL_F64,
         bdl_model_likelihood(model) == BDL_GAUSSIAN,
         bdl_model_activation(model) == BDL_RELU);
  /* [bdl_model_dtype] [bdl_model_likelihood] [bdl_model_activation] */
  EXPECT(bdl_model_dtype(model) == BDL_F64 &&
         bdl_model_likelihood(model) == BDL_GAUSSIAN);
  EXPECT(bdl_model_activation(model) == BDL_RELU);

  /* [bdl_model_block_count] [bdl_model_block] */
  for (int64_t i = 0; i < bdl_model_block_count(model); ++i) {
    const char* name;
    int64_t offset, rows, cols;
    CHECK(bdl_model_block(model, i, &name, &offset, &rows, &cols));
    printf("%s: %d x %d, from parameter %d on\n", name, (int)rows,
           (int)cols, (int)offset);
  }
  /* [bdl_model_block_count] [bdl_model_block] */
  const char* name;
  int64_t offset, rows, cols;
  EXPECT(bdl_model_block_count(model) == 4);
  CHECK(bdl_model_block(model, 2, &name, &offset, &rows, &cols));
  EXPECT(strcmp(name, "layer1.weight") == 0 && offset == 9 && rows == 1 &&
         cols == 3);

  /* [bdl_model_initialize] */
  double theta[13];
  CHECK(bdl_model_initialize(model, BDL_INIT_UNIFORM_FAN_IN, 1,
                             bdl_f64_out(theta, 1, 13)));
  printf("the first weight is %.3f, within 1 / sqrt(2) of 0\n", theta[0]);
  /* [bdl_model_initialize] */
  EXPECT(fabs(theta[0]) > 0 && fabs(theta[0]) < 1 / sqrt(2));
  /* [bdl_model_free] */
  bdl_model_free(model);
  /* [bdl_model_free] */
}

/* Layers as text. */
static void network(void) {
  /* [bdl_model_create_network] */
  bdl_model* model;
  CHECK(bdl_model_create_network(
      BDL_F64, "input 13; dense 50; relu; dense 50; relu; dense 1",
      BDL_GAUSSIAN, &model));
  printf("%d parameters\n", (int)bdl_model_parameters(model));
  /* [bdl_model_create_network] */
  EXPECT(bdl_model_parameters(model) ==
         13 * 50 + 50 + 50 * 50 + 50 + 50 + 1);

  /* [bdl_model_description] */
  const char* text;
  CHECK(bdl_model_description(model, &text));
  printf("%s\n", text);
  /* [bdl_model_description] */
  EXPECT(strstr(text, "dense 50") != NULL);
  bdl_model_free(model);
}

/* Networks that are known by name. */
static void published(void) {
  const char *name, *doc, *source;
  int64_t channels, rows, columns, outputs;
  /* [bdl_network_count] [bdl_network_describe] */
  for (int64_t i = 0; i < bdl_network_count(); ++i) {
    CHECK(bdl_network_describe(i, &name, &channels, &rows, &columns,
                               &outputs, &doc, &source));
    printf("%s: images of %d x %d x %d, %d classes (%s)\n", name,
           (int)channels, (int)rows, (int)columns, (int)outputs, source);
  }
  /* [bdl_network_count] [bdl_network_describe] */
  EXPECT(bdl_network_count() == 4);
  CHECK(bdl_network_describe(0, &name, &channels, &rows, &columns, &outputs,
                             &doc, &source));
  EXPECT(strcmp(name, "lenet5") == 0 && channels == 1 && rows == 28 &&
         columns == 28);
  EXPECT(outputs == 10 && strstr(source, "LeCun") != NULL);
  CHECK(bdl_network_describe(3, NULL, NULL, NULL, NULL, NULL, &doc, NULL));

  /* [bdl_network_description] */
  const char* text;
  bdl_model* model;
  CHECK(bdl_network_description("lenet5", 1, 28, 28, 10, &text));
  CHECK(bdl_model_create_network(BDL_F32, text, BDL_CATEGORICAL, &model));
  printf("%s\n%d parameters\n", text, (int)bdl_model_parameters(model));
  /* [bdl_network_description] */
  const char* again;
  EXPECT(bdl_model_parameters(model) == 44426);
  CHECK(bdl_model_description(model, &again));
  EXPECT(strcmp(again, text) == 0);
  bdl_model_free(model);
  CHECK(bdl_network_description("lenet5", 1, 28, 28, 10, &again));
  EXPECT(again == text);
}

/* One network with two noises. */
static void copy(void) {
  const int64_t sizes[] = {2, 1};
  const double four = 4;
  double first = 0, second = 0;
  bdl_model* model;
  CHECK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_IDENTITY, 0,
                             BDL_GAUSSIAN, &model));
  /* [bdl_model_copy] */
  bdl_model* other;
  CHECK(bdl_model_copy(model, &other));
  CHECK(bdl_model_set_noise_precision(other, bdl_f64(&four, 1, 1)));
  CHECK(bdl_model_get_noise_precision(model, bdl_f64_out(&first, 1, 1)));
  CHECK(bdl_model_get_noise_precision(other, bdl_f64_out(&second, 1, 1)));
  printf("noise precisions %g and %g\n", first, second);
  /* [bdl_model_copy] */
  EXPECT(first == 1 && second == 4);
  bdl_model_free(model);
  CHECK(bdl_model_get_noise_precision(other, bdl_f64_out(&second, 1, 1)));
  EXPECT(second == 4);
  bdl_model_free(other);
}

/* f = 2 x1 - x2, and y = 1 was observed at x = (1, 0): the residual is 1. */
static void values(void) {
  const int64_t sizes[] = {2, 1};
  const double pi = acos(-1.0);
  bdl_model* model;
  CHECK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_IDENTITY, 0,
                             BDL_GAUSSIAN, &model));
  /* [bdl_model_evaluate] [bdl_model_log_likelihood] [bdl_model_gradient_rows] */
  const double theta[] = {2, -1}, x[] = {1, 0},
               y[] = {1}; /* f(x) = 2 x_1 - x_2 */
  /* [bdl_model_evaluate] [bdl_model_log_likelihood] [bdl_model_gradient_rows] */

  /* [bdl_model_set_noise_precision] */
  const double precision =
      4; /* the noise has the standard deviation 1 / sqrt(4) = 0.5 */
  CHECK(bdl_model_set_noise_precision(model, bdl_f64(&precision, 1, 1)));
  /* [bdl_model_set_noise_precision] */
  /* [bdl_model_get_noise_precision] */
  double read;
  CHECK(bdl_model_get_noise_precision(model, bdl_f64_out(&read, 1, 1)));
  printf("noise precision %g\n", read);
  /* [bdl_model_get_noise_precision] */
  EXPECT(read == 4);

  /* [bdl_model_evaluate] */
  double f;
  CHECK(bdl_model_evaluate(model, bdl_f64(theta, 1, 2), bdl_f64(x, 1, 2),
                           bdl_f64_out(&f, 1, 1)));
  printf("f(x) = %g\n", f);
  /* [bdl_model_evaluate] */
  EXPECT(f == 2);

  /* [bdl_model_log_likelihood] */
  double log_likelihood;
  CHECK(bdl_model_log_likelihood(model, bdl_f64(theta, 1, 2),
                                 bdl_f64(x, 1, 2), bdl_f64(y, 1, 1),
                                 bdl_f64_out(&log_likelihood, 1, 1)));
  printf("log p(y | x, theta) = %.4f\n", log_likelihood);
  /* [bdl_model_log_likelihood] */
  EXPECT(near_to(log_likelihood, 0.5 * log(4 / (2 * pi)) - 0.5 * 4, 1e-12));

  /* [bdl_model_gradient_rows] */
  double row[2]; /* noise precision x residual x input */
  CHECK(bdl_model_gradient_rows(model, bdl_f64(theta, 1, 2),
                                bdl_f64(x, 1, 2), bdl_f64(y, 1, 1),
                                bdl_f64_out(row, 1, 2)));
  printf("gradient of -log p: (%g, %g)\n", row[0], row[1]);
  /* [bdl_model_gradient_rows] */
  EXPECT(row[0] == 4 && row[1] == 0);
  bdl_model_free(model);
}

/* Data in any units: Fahrenheit in, dollars out. */
static void standardization(void) {
  const int64_t sizes[] = {1, 1};
  const double theta[] = {1}; /* f = x, both standardised */
  double f[3];
  bdl_model* model;
  CHECK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_IDENTITY, 0,
                             BDL_GAUSSIAN, &model));
  /* [bdl_model_standardize] */
  const double x[] = {50, 68, 86}, y[] = {10000, 20000, 30000};
  CHECK(bdl_model_standardize(model, bdl_f64(x, 3, 1), bdl_f64(y, 3, 1)));
  CHECK(bdl_model_evaluate(model, bdl_f64(theta, 1, 1), bdl_f64(x, 3, 1),
                           bdl_f64_out(f, 3, 1)));
  printf("outputs in units of y: %.0f %.0f %.0f\n", f[0], f[1], f[2]);
  /* [bdl_model_standardize] */
  EXPECT(near_to(f[0], 10000, 1e-9) && near_to(f[2], 30000, 1e-9));

  /* [bdl_model_get_standardization] */
  double mean, scale;
  CHECK(bdl_model_get_standardization(model, bdl_f64_out(&mean, 1, 1),
                                      bdl_none_out(), bdl_none_out(),
                                      bdl_f64_out(&scale, 1, 1)));
  printf("mean of x %g, scale of y %.1f\n", mean, scale);
  /* [bdl_model_get_standardization] */
  EXPECT(mean == 68 && near_to(scale, 10000 * sqrt(2.0 / 3), 1e-9));

  /* [bdl_model_set_standardization] */
  const double freezing = 32,
               degree = 1.8; /* degrees Celsius inside, y as it is */
  CHECK(bdl_model_set_standardization(model, bdl_f64(&freezing, 1, 1),
                                      bdl_f64(&degree, 1, 1), bdl_none(),
                                      bdl_none()));
  CHECK(bdl_model_evaluate(model, bdl_f64(theta, 1, 1), bdl_f64(x, 3, 1),
                           bdl_f64_out(f, 3, 1)));
  printf("50 degrees Fahrenheit are %.0f degrees Celsius\n", f[0]);
  /* [bdl_model_set_standardization] */
  EXPECT(near_to(f[0], 10, 1e-12) && near_to(f[2], 30, 1e-12));
  bdl_model_free(model);
}

/* Noise that differs between examples: the second output is its log precision, here
 * -2 x. */
static void heteroscedastic(void) {
  const int64_t sizes[] = {1, 2};
  const double x[] = {0, 1}, theta[] = {3, -2}, d[] = {1, 1}, precision = 4;
  double mean[2], noise[2], read = 0;
  bdl_model* model;
  bdl_posterior* q;
  CHECK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_IDENTITY, 0,
                             BDL_HETEROSCEDASTIC, &model));
  EXPECT(bdl_model_outputs(model) == 2 && bdl_model_targets(model) == 1);
  CHECK(bdl_model_set_noise_precision(model, bdl_f64(&precision, 1, 1)));
  CHECK(bdl_model_get_noise_precision(model, bdl_f64_out(&read, 1, 1)));
  CHECK(bdl_posterior_create_low_rank(BDL_F64, 2, 0, &q));
  CHECK(bdl_posterior_set_low_rank(q, bdl_f64(theta, 1, 2), bdl_none(),
                                   bdl_f64(d, 1, 2)));
  CHECK(bdl_predict(model, q, bdl_f64(x, 2, 1), BDL_PLUG_IN, 0, 0,
                    bdl_f64_out(mean, 2, 1), bdl_none_out(),
                    bdl_f64_out(noise, 2, 1)));
  EXPECT(read == 4 && mean[0] == 0 && mean[1] == 3);
  EXPECT(near_to(noise[0], 0.25, 1e-15) &&
         near_to(noise[1], 0.25 * exp(2), 1e-14));
  bdl_posterior_free(q);
  bdl_model_free(model);
}

static void student_t(void) {
  const int64_t sizes[] = {1, 1};
  bdl_model* model;
  CHECK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_IDENTITY, 1,
                             BDL_STUDENT_T, &model));
  /* [bdl_model_set_degrees_of_freedom] */
  CHECK(bdl_model_set_degrees_of_freedom(
      model, 5)); /* fewer allow for more outliers */
  /* [bdl_model_set_degrees_of_freedom] */
  /* [bdl_model_get_degrees_of_freedom] */
  double degrees;
  CHECK(bdl_model_get_degrees_of_freedom(model, &degrees));
  printf("%g degrees of freedom\n", degrees);
  /* [bdl_model_get_degrees_of_freedom] */
  EXPECT(degrees == 5);
  EXPECT(bdl_model_set_degrees_of_freedom(model, 0) ==
         BDL_ERROR_INVALID_ARGUMENT);
  EXPECT(bdl_model_get_degrees_of_freedom(model, NULL) ==
         BDL_ERROR_INVALID_ARGUMENT);
  bdl_model_free(model);
}

/* Two outputs whose errors have correlation 0.8. */
static void noise_covariance(void) {
  const int64_t sizes[] = {1, 2};
  const double theta[] = {0, 0}, x = 1, y[] = {1, 1}, pi = acos(-1.0);
  double precision = 4, log_likelihood = 0, rows[2], hessian[4];
  bdl_model* model;
  CHECK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_IDENTITY, 0,
                             BDL_GAUSSIAN, &model));
  /* [bdl_model_set_noise_covariance] */
  const double covariance[] = {1, 0.8, 0.8,
                               1}; /* of two outputs, row by row */
  CHECK(bdl_model_set_noise_covariance(model, bdl_f64(covariance, 2, 2)));
  /* [bdl_model_set_noise_covariance] */
  /* [bdl_model_get_noise_covariance] */
  double read[4];
  CHECK(bdl_model_get_noise_covariance(model, bdl_f64_out(read, 2, 2)));
  printf("covariance of the errors of outputs 0 and 1: %g\n", read[1]);
  /* [bdl_model_get_noise_covariance] */
  EXPECT(read[0] == 1 && read[1] == 0.8 && read[2] == 0.8 && read[3] == 1);
  EXPECT(
      bdl_model_get_noise_precision(model, bdl_f64_out(&precision, 1, 1)) ==
      BDL_ERROR_UNSUPPORTED);

  /* R^-1 (1, 1) = (1, 1) / 1.8 and det R = 0.36. */
  const bdl_matrix p = bdl_f64(theta, 1, 2), inputs = bdl_f64(&x, 1, 1),
                   targets = bdl_f64(y, 1, 2);
  CHECK(bdl_model_log_likelihood(model, p, inputs, targets,
                                 bdl_f64_out(&log_likelihood, 1, 1)));
  EXPECT(near_to(log_likelihood, -log(2 * pi) - 0.5 * log(0.36) - 1 / 1.8,
                 1e-14));
  CHECK(bdl_model_gradient_rows(model, p, inputs, targets,
                                bdl_f64_out(rows, 1, 2)));
  EXPECT(near_to(rows[0], -1 / 1.8, 1e-14) &&
         near_to(rows[1], -1 / 1.8, 1e-14));
  CHECK(bdl_model_hessian(model, p, inputs, targets,
                          bdl_f64_out(hessian, 2, 2)));
  EXPECT(near_to(hessian[0], 1 / 0.36, 1e-14) &&
         near_to(hessian[1], -0.8 / 0.36, 1e-14));

  /* Independent again, with variance 1/4. */
  CHECK(bdl_model_set_noise_precision(model, bdl_f64(&precision, 1, 1)));
  CHECK(bdl_model_get_noise_covariance(model, bdl_f64_out(read, 2, 2)));
  EXPECT(read[0] == 0.25 && read[1] == 0 && read[2] == 0 &&
         read[3] == 0.25);
  bdl_model_free(model);
}

/* Logistic regression f = theta_1 + theta_0 x: an example adds p (1 - p) (x, 1)^T
 * (x, 1) to the Hessian. */
static void derivatives(void) {
  const int64_t sizes[] = {1, 1};
  bdl_model* model;
  CHECK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_IDENTITY, 1,
                             BDL_BERNOULLI, &model));
  /* [bdl_model_jacobian] [bdl_model_hessian] [bdl_model_hessian_vector_product] */
  const double theta[] = {
      0, 0}; /* logistic regression: f(x) = theta_0 x + theta_1 */
  const double x[] = {1, 3}, y[] = {0, 1};
  /* [bdl_model_jacobian] [bdl_model_hessian] [bdl_model_hessian_vector_product] */

  /* [bdl_model_jacobian] */
  double jacobian[4]; /* a row (x, 1) for each example */
  CHECK(bdl_model_jacobian(model, bdl_f64(theta, 1, 2), bdl_f64(x, 2, 1),
                           bdl_f64_out(jacobian, 2, 2)));
  printf("(%g, %g) and (%g, %g)\n", jacobian[0], jacobian[1], jacobian[2],
         jacobian[3]);
  /* [bdl_model_jacobian] */
  EXPECT(jacobian[0] == 1 && jacobian[1] == 1 && jacobian[2] == 3 &&
         jacobian[3] == 1);

  /* [bdl_model_hessian] */
  double hessian[4];
  CHECK(bdl_model_hessian(model, bdl_f64(theta, 1, 2), bdl_f64(x, 2, 1),
                          bdl_f64(y, 2, 1), bdl_f64_out(hessian, 2, 2)));
  printf("(%g, %g; %g, %g)\n", hessian[0], hessian[1], hessian[2],
         hessian[3]);
  /* [bdl_model_hessian] */
  EXPECT(near_to(hessian[0], 10.0 / 4, 1e-15) &&
         near_to(hessian[1], 4.0 / 4, 1e-15));
  EXPECT(hessian[2] == hessian[1] && near_to(hessian[3], 2.0 / 4, 1e-15));

  /* [bdl_model_hessian_vector_product] */
  const double vectors[] = {
      1, 0, 0, 1}; /* two vectors, one a row; H itself is not formed */
  double products[4];
  CHECK(bdl_model_hessian_vector_product(
      model, bdl_f64(theta, 1, 2), bdl_f64(x, 2, 1), bdl_f64(y, 2, 1),
      bdl_f64(vectors, 2, 2), bdl_f64_out(products, 2, 2)));
  printf("H (1, 0) = (%g, %g)\n", products[0], products[1]);
  /* [bdl_model_hessian_vector_product] */
  for (int k = 0; k < 4; ++k)
    EXPECT(near_to(products[k], hessian[k], 1e-15));
  bdl_model_free(model);
}

/* f = u tanh(w x) has curvature even if its fit is perfect. At y = f only the part
   of the Jacobian is left; elsewhere the residual adds to it. */
static void indefinite_hessian(void) {
  const int64_t sizes[] = {1, 1, 1};
  const double theta[] = {0, 2}, x = 1, fitted = 0,
               far = 5; /* w = 0, u = 2 */
  double h[4];
  bdl_model* model;
  CHECK(bdl_model_create_mlp(BDL_F64, sizes, 3, BDL_TANH, 0, BDL_GAUSSIAN,
                             &model));
  CHECK(bdl_model_hessian(model, bdl_f64(theta, 1, 2), bdl_f64(&x, 1, 1),
                          bdl_f64(&fitted, 1, 1), bdl_f64_out(h, 2, 2)));
  EXPECT(h[0] == 4 && h[1] == 0 &&
         h[3] == 0); /* J = (u x, tanh(w x)) = (2, 0) */
  CHECK(bdl_model_hessian(model, bdl_f64(theta, 1, 2), bdl_f64(&x, 1, 1),
                          bdl_f64(&far, 1, 1), bdl_f64_out(h, 2, 2)));
  EXPECT(h[0] == 4 && h[1] == -5 &&
         h[3] == 0); /* (f - y) d^2 f / dw du = -5 */
  bdl_model_free(model);
}

/* [bdl_model_create_user] */
/* Exponential decay f(t) = exp(-rate t), with its one parameter. */
static int32_t decay(void* user_data, bdl_matrix parameters,
                     bdl_matrix inputs, bdl_matrix_out outputs) {
  const double rate = *(const double*)parameters.data;
  (void)user_data;
  for (int64_t i = 0; i < inputs.rows; ++i) {
    const double t = ((const double*)inputs.data)[i * inputs.row_stride];
    ((double*)outputs.data)[i * outputs.row_stride] = exp(-rate * t);
  }
  return 0;
}

/* The derivative with respect to the rate, times the gradient of the loss by the
 * output. */
static int32_t decay_gradients(void* user_data, bdl_matrix parameters,
                               bdl_matrix inputs,
                               bdl_matrix output_gradients,
                               bdl_matrix_out rows) {
  const double rate = *(const double*)parameters.data;
  (void)user_data;
  for (int64_t i = 0; i < inputs.rows; ++i) {
    const double t = ((const double*)inputs.data)[i * inputs.row_stride];
    const double g =
        ((const double*)
             output_gradients.data)[i * output_gradients.row_stride];
    ((double*)rows.data)[i * rows.row_stride] = g * -t * exp(-rate * t);
  }
  return 0;
}
/* [bdl_model_create_user] */

static void user_model(void) {
  /* [bdl_model_create_user] */
  const bdl_model_callbacks callbacks = {.struct_size = sizeof callbacks,
                                         .outputs = decay,
                                         .gradients = decay_gradients};
  bdl_model* model;
  CHECK(bdl_model_create_user(BDL_F64, 1, 1, 1, BDL_GAUSSIAN, &callbacks,
                              &model));

  const double rate = 2, times[] = {0, 1};
  double f[2];
  CHECK(bdl_model_evaluate(model, bdl_f64(&rate, 1, 1),
                           bdl_f64(times, 2, 1), bdl_f64_out(f, 2, 1)));
  printf("f(0) = %g, f(1) = %.4f\n", f[0], f[1]);
  /* [bdl_model_create_user] */
  EXPECT(f[0] == 1 && near_to(f[1], exp(-2.0), 1e-15));
  bdl_model_free(model);
}

/* One output layer for several tasks. */
static void classes(void) {
  bdl_model* model;
  CHECK(bdl_model_create_network(BDL_F64, "input 2; dense 8; tanh; dense 4",
                                 BDL_CATEGORICAL, &model));
  /* [bdl_model_set_classes] */
  const double head[] = {
      2, 3}; /* y has classes 2 and 3 only; the softmax goes over these */
  CHECK(bdl_model_set_classes(model, bdl_f64(head, 1, 2)));
  /* [bdl_model_set_classes] */
  /* [bdl_model_class_count] [bdl_model_get_classes] */
  double numbers[4];
  int64_t count = bdl_model_class_count(model);
  CHECK(bdl_model_get_classes(model, bdl_f64_out(numbers, 1, count)));
  printf("%d classes: %g and %g\n", (int)count, numbers[0], numbers[1]);
  /* [bdl_model_class_count] [bdl_model_get_classes] */
  EXPECT(count == 2 && numbers[0] == 2 && numbers[1] == 3);
  CHECK(bdl_model_set_classes(model, bdl_none())); /* all again */
  EXPECT(bdl_model_class_count(model) == 4);
  bdl_model_free(model);
}

/* Counts of successes in trials, and counts with an exposure. */
static void rows(void) {
  bdl_model *logistic, *poisson;
  const int64_t sizes[] = {1, 1};
  CHECK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_IDENTITY, 1,
                             BDL_BERNOULLI, &logistic));
  /* [bdl_model_set_row_weights] */
  CHECK(bdl_model_set_row_weights(logistic, 1));
  const double dose[] = {0, 1, 2};
  const double deaths[] = {0.1, 20, /* 2 of 20 */
                           0.5, 20, 0.9, 10};
  bdl_posterior* posterior;
  bdl_optimizer* optimizer;
  CHECK(bdl_posterior_create_full(BDL_F64, 2, &posterior));
  CHECK(bdl_optimizer_create(logistic, posterior, "exact-full", 3,
                             &optimizer));
  CHECK(bdl_optimizer_fit(optimizer, bdl_f64(dose, 3, 1),
                          bdl_f64(deaths, 3, 2), 100, NULL, NULL));
  /* [bdl_model_set_row_weights] */
  double theta[2];
  CHECK(bdl_posterior_mean(posterior, bdl_f64_out(theta, 1, 2)));
  printf("log odds: %.2f + %.2f dose\n", theta[1], theta[0]);
  EXPECT(theta[0] > 0);
  /* [bdl_model_has_row_weights] */
  if (bdl_model_has_row_weights(logistic))
    printf("the last column of y is a weight\n");
  /* [bdl_model_has_row_weights] */
  EXPECT(bdl_model_has_row_weights(logistic) == 1);
  bdl_optimizer_free(optimizer);
  bdl_posterior_free(posterior);
  bdl_model_free(logistic);

  CHECK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_IDENTITY, 1,
                             BDL_POISSON, &poisson));
  /* [bdl_model_set_offsets] */
  CHECK(bdl_model_set_offsets(poisson, 1));
  const double slope_and_bias[] = {0, 1};
  const double x[] = {
      0.5, log(100)}; /* a feature, and the log of the exposure */
  double log_rate;
  CHECK(bdl_model_evaluate(poisson, bdl_f64(slope_and_bias, 1, 2),
                           bdl_f64(x, 1, 2), bdl_f64_out(&log_rate, 1, 1)));
  printf("%.1f events are expected\n", exp(log_rate));
  /* [bdl_model_set_offsets] */
  EXPECT(near_to(log_rate, 1 + log(100), 1e-14));
  /* [bdl_model_offset_count] */
  const int64_t columns_of_x =
      bdl_model_inputs(poisson) + bdl_model_offset_count(poisson);
  /* [bdl_model_offset_count] */
  EXPECT(columns_of_x == 2);
  bdl_model_free(poisson);
}

/* Few rows, whose noise is an estimate. */
static void degrees_of_freedom(void) {
  bdl_model* model;
  bdl_posterior* posterior;
  bdl_optimizer* optimizer;
  const int64_t sizes[] = {1, 1};
  const double x[] = {-2, -1, 0, 1, 2}, y[] = {-4.1, -1.8, 0.2, 1.9, 4};
  CHECK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_IDENTITY, 1,
                             BDL_GAUSSIAN, &model));
  CHECK(bdl_posterior_create_full(BDL_F64, 2, &posterior));
  CHECK(
      bdl_optimizer_create(model, posterior, "exact-full", 5, &optimizer));
  CHECK(bdl_optimizer_set_text(
      optimizer, "prior_precision=1e-8 learn_prior=0 learn_noise=1"));
  CHECK(bdl_optimizer_fit(optimizer, bdl_f64(x, 5, 1), bdl_f64(y, 5, 1),
                          100, NULL, NULL));
  /* [bdl_model_noise_degrees_of_freedom] */
  double degrees;
  CHECK(bdl_model_noise_degrees_of_freedom(model,
                                           bdl_f64_out(&degrees, 1, 1)));
  printf("intervals are those of Student's t, %.1f degrees\n", degrees);
  /* [bdl_model_noise_degrees_of_freedom] */
  EXPECT(near_to(degrees, 3, 1e-6)); /* 5 rows, 2 parameters */
  bdl_optimizer_free(optimizer);
  bdl_posterior_free(posterior);
  bdl_model_free(model);
}

/* Counts with more variance than Poisson's, and ordered levels. */
static void shapes(void) {
  bdl_model *counts, *ratings;
  const int64_t sizes[] = {1, 1};
  CHECK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_IDENTITY, 1,
                             BDL_NEGATIVE_BINOMIAL, &counts));
  /* [bdl_model_set_shape] */
  CHECK(bdl_model_set_shape(counts, 2)); /* variance mu + mu^2 / 2 */
  /* [bdl_model_set_shape] */
  /* [bdl_model_get_shape] */
  double shape;
  CHECK(bdl_model_get_shape(counts, &shape));
  printf("theta of MASS::glm.nb: %g\n", shape);
  /* [bdl_model_get_shape] */
  EXPECT(shape == 2);
  bdl_model_free(counts);

  CHECK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_IDENTITY, 1,
                             BDL_ORDINAL, &ratings));
  /* [bdl_model_set_levels] */
  CHECK(bdl_model_set_levels(ratings, 3)); /* bad, fair, good */
  /* [bdl_model_set_levels] */
  /* [bdl_model_set_cut_points] */
  const double start[] = {-1, 1}; /* P(bad) = 1 / (1 + exp(f + 1)) */
  CHECK(bdl_model_set_cut_points(ratings, bdl_f64(start, 1, 2)));
  /* [bdl_model_set_cut_points] */
  /* [bdl_model_level_count] [bdl_model_get_cut_points] */
  double cut_points[2];
  int64_t levels = bdl_model_level_count(ratings);
  CHECK(bdl_model_get_cut_points(ratings,
                                 bdl_f64_out(cut_points, 1, levels - 1)));
  printf("%d levels, cut at %g and %g\n", (int)levels, cut_points[0],
         cut_points[1]);
  /* [bdl_model_level_count] [bdl_model_get_cut_points] */
  EXPECT(levels == 3 && cut_points[0] == -1 && cut_points[1] == 1);
  bdl_model_free(ratings);
}

int main(void) {
  rows();
  degrees_of_freedom();
  shapes();
  perceptron();
  network();
  published();
  copy();
  values();
  standardization();
  heteroscedastic();
  student_t();
  noise_covariance();
  derivatives();
  indefinite_hessian();
  user_model();
  classes();
  return 0;
}
