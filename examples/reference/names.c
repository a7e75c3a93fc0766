/* Names of columns and classes stay with the model. */
#include "example.h"

int main(void) {
  const int64_t sizes[] = {2, 3};
  bdl_model *model, *copy;
  CHECK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_IDENTITY, 1,
                             BDL_CATEGORICAL, &model));

  /* [bdl_model_set_name] */
  CHECK(bdl_model_set_name(model, BDL_INPUT, 0, "petal length"));
  CHECK(bdl_model_set_name(model, BDL_INPUT, 1, "petal width"));
  CHECK(bdl_model_set_name(model, BDL_TARGET, 0, "size"));
  CHECK(bdl_model_set_name(model, BDL_CLASS, 0, "small"));
  CHECK(bdl_model_set_name(model, BDL_CLASS, 2, "large"));
  /* [bdl_model_set_name] */

  /* [bdl_model_set_class_type] */
  CHECK(bdl_model_set_class_type(
      model, BDL_CLASS_ORDERED)); /* small < medium < large */
  /* [bdl_model_set_class_type] */

  CHECK(bdl_model_copy(model, &copy)); /* copies and files keep the names */
  bdl_model_free(model);
  /* [bdl_model_get_name] */
  const char *input, *unnamed;
  CHECK(bdl_model_get_name(copy, BDL_INPUT, 0, &input));
  CHECK(
      bdl_model_get_name(copy, BDL_CLASS, 1, &unnamed)); /* never set: "" */
  printf("input 0 is \"%s\", class 1 is \"%s\"\n", input, unnamed);
  /* [bdl_model_get_name] */
  EXPECT(strcmp(input, "petal length") == 0 && strcmp(unnamed, "") == 0);

  /* [bdl_model_get_class_type] */
  int32_t type;
  CHECK(bdl_model_get_class_type(copy, &type));
  printf("the classes are %s\n",
         type == BDL_CLASS_ORDERED ? "ordered" : "not ordered");
  /* [bdl_model_get_class_type] */
  EXPECT(type == BDL_CLASS_ORDERED);
  bdl_model_free(copy);
  return 0;
}
