/* Prints docs/methods.md from the library's own table: build/release/examples/methods > docs/methods.md */
#include <bdl/bdl.h>
#include <stdio.h>

/* A cell of a Markdown table, in which a bar must be escaped. */
static void print_cell(const char* text) {
  printf(" ");
  for (; *text; ++text) printf(*text == '|' ? "\\%c" : "%c", *text);
  printf(" |");
}

int main(void) {
  printf(
      "# Methods\n\n"
      "What `bdl_optimizer_create` takes, as `bdl_method_describe` says it; printed by "
      "`build/release/examples/methods`. "
      "A method\nlearns one or more families of posteriors, diagonal ones being low-rank ones of rank 0: in "
      "batches by "
      "`bdl_optimizer_fit` and\n`bdl_optimizer_step`; on streams by `bdl_optimizer_observe`; or exactly, "
      "going to the "
      "optimum within one `bdl_optimizer_fit`.\n`bdl_training_suggest` chooses where you have no wish. "
      "A baseline of its paper is there to compare with: by\ndefault it does not pass the bar of the "
      "[scorecard](scorecard.md), and its first fit in Python, R and Julia says so "
      "(`bdl_method_standing`).\n\n"
      "| method | standing | learns | posteriors | what it is | source |\n| --- | --- | --- | --- | --- | "
      "--- |\n");
  for (int64_t i = 0; i < bdl_method_count(); ++i) {
    const char *families, *doc, *source, *name = bdl_method_name(i);
    int32_t is_stream, is_exact, is_baseline;
    if (bdl_method_describe(name, &families, &is_stream, &is_exact, NULL, &doc, &source) != BDL_OK) return 1;
    if (bdl_method_standing(name, &is_baseline, NULL) != BDL_OK) return 1;
    printf("| `%s` | %s | %s |", name, is_baseline ? "baseline" : "advised",
           is_stream  ? "streams"
           : is_exact ? "exactly"
                      : "in batches");
    print_cell(families);
    print_cell(doc);
    print_cell(source);
    printf("\n");
  }
  return 0;
}
