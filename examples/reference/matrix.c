/* Arrays: views of the caller's memory, never copies. */
#include "example.h"

static void inputs(void) {
  /* [bdl_f64] */
  const double numbers[] = {1, 2, 3, 4, 5, 6};
  bdl_matrix rows =
      bdl_f64(numbers, 3, 2); /* 3 rows, 2 columns, row by row */
  printf("element (1, 0) is %g\n",
         ((const double*)rows.data)[1 * rows.row_stride]);
  /* [bdl_f64] */
  EXPECT(rows.row_stride == 2 && rows.col_stride == 1 &&
         rows.dtype == BDL_F64);

  /* [bdl_f32] */
  const float singles[] = {0.5f, 1.5f};
  bdl_matrix one_row = bdl_f32(singles, 1, 2);
  printf("%d row, %d columns of floats\n", (int)one_row.rows,
         (int)one_row.cols);
  /* [bdl_f32] */
  EXPECT(one_row.dtype == BDL_F32);

  /* [bdl_i32] */
  const int32_t labels[] = {0, 1, 1};
  bdl_matrix y = bdl_i32(labels, 3, 1); /* the classes of three examples */
  printf("%d labels\n", (int)y.rows);
  /* [bdl_i32] */
  EXPECT(y.dtype == BDL_I32);

  /* [bdl_u8] */
  const uint8_t pixels[2][4] = {{0, 80, 160, 255}, {255, 160, 80, 0}};
  bdl_matrix images =
      bdl_u8(pixels[0], 2, 4); /* two images of 2 x 2 pixels */
  printf("%d images of %d pixels\n", (int)images.rows, (int)images.cols);
  /* [bdl_u8] */
  EXPECT(images.dtype == BDL_U8);

  /* [bdl_column_major] */
  const double columns[] = {1, 3, 5, 2,
                            4, 6}; /* as R, Julia and Fortran store them */
  bdl_matrix same = bdl_column_major(columns, BDL_F64, 3, 2);
  printf("element (1, 0) is %g\n",
         ((const double*)same.data)[1 * same.row_stride]);
  /* [bdl_column_major] */
  EXPECT(same.row_stride == 1 && same.col_stride == 3);

  /* [bdl_strided] */
  bdl_matrix second =
      bdl_strided(numbers + 1, BDL_F64, 3, 1, 2, 1); /* column 1 */
  printf("the second column begins with %g\n", *(const double*)second.data);
  /* [bdl_strided] */
  EXPECT(second.row_stride == 2 && second.cols == 1);
}

/* Fills in outputs by a call that has a matrix to write: the mean of a posterior.
 */
static void outputs(void) {
  const double mean[] = {5, 7}, ones[] = {1, 1};
  bdl_posterior* q;
  CHECK(bdl_posterior_create_low_rank(BDL_F64, 2, 0, &q));
  /* [bdl_none] */
  /* A posterior of rank 0 has no low-rank part. */
  CHECK(bdl_posterior_set_low_rank(q, bdl_f64(mean, 1, 2), bdl_none(),
                                   bdl_f64(ones, 1, 2)));
  /* [bdl_none] */
  EXPECT(bdl_none().data == NULL);

  /* [bdl_f64_out] */
  double read[2];
  CHECK(bdl_posterior_mean(q, bdl_f64_out(read, 1, 2)));
  printf("mean %g %g\n", read[0], read[1]);
  /* [bdl_f64_out] */
  EXPECT(read[0] == 5 && read[1] == 7);

  /* [bdl_f32_out] */
  float single[2];
  CHECK(bdl_posterior_mean(q, bdl_f32_out(single, 1, 2)));
  printf("mean %g %g\n", (double)single[0], (double)single[1]);
  /* [bdl_f32_out] */
  EXPECT(single[1] == 7);

  /* [bdl_none_out] */
  double diagonal[2]; /* the low-rank part is not wanted */
  CHECK(bdl_posterior_get_low_rank(q, bdl_none_out(),
                                   bdl_f64_out(diagonal, 1, 2)));
  printf("diagonal %g %g\n", diagonal[0], diagonal[1]);
  /* [bdl_none_out] */
  EXPECT(diagonal[0] == 1 && bdl_none_out().data == NULL);

  /* [bdl_column_major_out] */
  double samples[3 *
                 2]; /* three samples of two parameters, column by column */
  CHECK(bdl_posterior_sample(q, 1, 0,
                             bdl_column_major_out(samples, BDL_F64, 3, 2)));
  printf("the second parameter is %.1f, %.1f, %.1f\n", samples[3],
         samples[4], samples[5]);
  /* [bdl_column_major_out] */

  /* [bdl_strided_out] */
  double table[3][4] = {{0}}; /* into columns 2 and 3 of a wider table */
  CHECK(bdl_posterior_sample(
      q, 1, 0, bdl_strided_out(&table[0][2], BDL_F64, 3, 2, 4, 1)));
  printf("row 0: %g %g %.1f %.1f\n", table[0][0], table[0][1], table[0][2],
         table[0][3]);
  /* [bdl_strided_out] */
  EXPECT(table[2][3] == samples[5] && table[2][1] == 0);
  bdl_posterior_free(q);
}

/* The output of one call is the input of the next. */
static void chained(void) {
  const int64_t sizes[] = {2, 1};
  const double x[] = {1, 1, 2, 4};
  bdl_model* model;
  CHECK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_IDENTITY, 0,
                             BDL_GAUSSIAN, &model));
  /* [bdl_as_input] */
  double theta[2], f[2];
  bdl_matrix_out parameters = bdl_f64_out(theta, 1, 2);
  CHECK(bdl_model_initialize(model, BDL_INIT_XAVIER, 1, parameters));
  CHECK(bdl_model_evaluate(model, bdl_as_input(parameters),
                           bdl_f64(x, 2, 2), bdl_f64_out(f, 2, 1)));
  printf("outputs %.3f %.3f\n", f[0], f[1]);
  /* [bdl_as_input] */
  EXPECT(near_to(f[1], 2 * theta[0] + 4 * theta[1], 1e-15));
  float single[2] = {0, 0};
  CHECK(bdl_model_evaluate(model, bdl_as_input(parameters),
                           bdl_f64(x, 2, 2), bdl_f32_out(single, 2, 1)));
  EXPECT(single[1] == (float)f[1]);
  /* There are no residuals if y is what the model gives, so the gradient rows are
   * 0, in any layout. */
  double columns[4] = {1, 1, 1, 1};
  CHECK(bdl_model_gradient_rows(
      model, bdl_as_input(parameters), bdl_f64(x, 2, 2), bdl_f64(f, 2, 1),
      bdl_column_major_out(columns, BDL_F64, 2, 2)));
  EXPECT(columns[0] == 0 && columns[3] == 0);
  bdl_model_free(model);
}

int main(void) {
  inputs();
  outputs();
  chained();
  return 0;
}
