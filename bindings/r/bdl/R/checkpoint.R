# Checkpoints. The generated functions of the same names take and give each part apart.

save_checkpoint <- bdl_save
load_checkpoint <- bdl_load
checkpoint_parts <- bdl_checkpoint_parts

# A fit is saved as its optimizer, with which its model and posterior come.
bdl_save <- function(path, model = NULL, posterior = NULL, optimizer = NULL) {
  if (inherits(model, "bdl")) {
    if (!is.null(posterior) || !is.null(optimizer)) refuse("a fit is saved with its own posterior and optimizer: give no others")
    return(bdl_save(path, optimizer = bdl_handles(model)$optimizer))
  }
  save_checkpoint(file_name(path), model, posterior, optimizer)
  invisible(path)
}

bdl_checkpoint_parts <- function(path) {
  parts <- checkpoint_parts(file_name(path))
  vapply(parts, function(part) part == 1L, logical(1))
}

bdl_load <- function(path, user_model = NULL) {
  parts <- bdl_checkpoint_parts(path)
  load_checkpoint(file_name(path), user_model, parts[["model"]], parts[["posterior"]], parts[["optimizer"]])
}

# Passes on anything that is no string, as the wrapper then says what is wrong.
file_name <- function(path) if (is.character(path)) path.expand(path) else path

checkpoint_bytes <- function(optimizer) {
  size <- bdl_save_bytes(NULL, NULL, optimizer, NULL)$size
  bdl_save_bytes(NULL, NULL, optimizer, size)$buffer
}
