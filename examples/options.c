/* Prints docs/options.md from the library's own table: build/release/examples/options > docs/options.md */
#include <bdl/bdl.h>
#include <stdio.h>

/* A cell of a Markdown table, in which a bar must be escaped. */
static void print_cell(const char* text) {
  printf(" ");
  for (; *text; ++text) printf(*text == '|' ? "\\%c" : "%c", *text);
  printf(" |");
}

int main(void) {
  const char *name, *default_value, *range, *doc;
  bdl_option_type type;
  printf(
      "# Options of an optimizer\n\n"
      "Set with `bdl_optimizer_set_double`, `_int` or `_choice`, several at once with "
      "`bdl_optimizer_set_text` "
      "(\"learning_rate=0.1\nsamples=4\"); printed by `build/release/examples/options`. After each call the "
      "options "
      "must go together with the method, the\nmodel and the posterior: what does not is refused there, and "
      "not first by "
      "a step. So is an option that you\nchange although nothing reads it: who does is in the last column "
      "(`bdl_option_readers()`).\n\n"
      "| option | type | default | range | meaning | read by |\n| --- | --- | --- | --- | --- | --- |\n");
  for (int64_t i = 0; i < bdl_option_count(); ++i) {
    if (bdl_option_describe(i, &name, &type, &default_value, &range, &doc) != BDL_OK) return 1;
    printf("| `%s` | %s |", name,
           type == BDL_OPTION_DOUBLE ? "double"
           : type == BDL_OPTION_INT  ? "int"
                                     : "choice");
    print_cell(default_value);
    print_cell(range);
    print_cell(doc);
    print_cell(bdl_option_readers(i));
    printf("\n");
  }
  return 0;
}
