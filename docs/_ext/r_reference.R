# Writes a page for each help file of the R package: Rscript r_reference.R MAN PAGES, two folders. Internal pages are left out.

arguments <- commandArgs(TRUE)
files <- list.files(arguments[1], "[.]Rd$", full.names = TRUE)
read <- function(file) tools::parse_Rd(file, permissive = TRUE, warningCalls = FALSE)
tag_of <- function(part) attr(part, "Rd_tag")
parts_of <- function(rd, tag) Filter(function(part) identical(tag_of(part), tag), rd)
raw <- function(part) paste(unlist(part), collapse = "")
text_of <- function(rd, tag) trimws(vapply(parts_of(rd, tag), raw, ""))

# Markdown ---------------------------------------------------------------------------------------------------------------------

pages <- character(0) # the page of each topic

link <- function(topic, shown) {
  if (topic %in% names(pages)) sprintf("[%s](%s.md)", shown, pages[[topic]]) else shown
}

inline <- function(part) {
  tag <- tag_of(part)
  if (is.character(part) && tag == "USERMACRO") return(user_macro(raw(part)))
  if (is.character(part)) return(if (tag == "COMMENT") "" else plain(part, tag))
  switch(tag,
    "\\code" = , "\\verb" = , "\\command" = , "\\file" = , "\\env" = code(part),
    "\\link" = link(topic_of(part), raw(part)),
    "\\linkS4class" = raw(part),
    "\\pkg" = , "\\strong" = , "\\bold" = sprintf("**%s**", raw(part)),
    "\\emph" = sprintf("*%s*", raw(part)),
    "\\eqn" = sprintf("$%s$", raw(part[[1]])),
    "\\deqn" = sprintf("\n\n$$%s$$\n\n", raw(part[[1]])),
    "\\Sexpr" = "", # what a macro of R stands for
    "\\url" = sprintf("<%s>", raw(part)),
    "\\href" = sprintf("[%s](%s)", raw(part[[2]]), raw(part[[1]])),
    "\\dots" = , "\\ldots" = "...",
    "\\R" = "R",
    "\\itemize" = , "\\enumerate" = bullets(part),
    "\\describe" = definitions(part),
    "\\preformatted" = sprintf("\n\n```text\n%s\n```\n\n", gsub("^\n|\n$", "", raw(part))),
    stop(tag, " is not known: ", raw(part))
  )
}

plain <- function(text, tag) {
  if (tag %in% c("VERB", "RCODE")) return(text)
  gsub("([*_<$\\[])", "\\\\\\1", text)
}

user_macro <- function(text) {
  name <- sub('^.*doi\\("#1"\\)\\}', "", text)
  sprintf("[doi:%s](https://doi.org/%s)", name, name)
}

topic_of <- function(part) {
  option <- attr(part, "Rd_option")
  if (is.null(option)) raw(part) else sub("^=", "", raw(option))
}

code <- function(part) {
  shown <- sprintf("`%s`", gsub("\n *", " ", raw(part)))
  links <- parts_of(part, "\\link")
  if (length(links) == 1) link(topic_of(links[[1]]), shown) else shown
}

markdown <- function(part) {
  text <- paste(vapply(part, inline, ""), collapse = "")
  lines <- strsplit(text, "\n", fixed = TRUE)[[1]]
  fenced <- cumsum(grepl("^```", lines)) %% 2 == 1 # inside a block, spaces count
  lines[!fenced] <- sub("^ {1,3}(?! )|^ {4,}(?![-: ])", "", lines[!fenced], perl = TRUE)
  trimws(paste(lines, collapse = "\n"))
}

# Items of \itemize and \describe come after their tag.
items_of <- function(part) {
  starts <- which(vapply(part, function(p) identical(tag_of(p), "\\item"), NA))
  Map(function(from, to) part[seq_len(length(part)) > from & seq_len(length(part)) < to], starts,
      c(starts[-1], length(part) + 1))
}

one_line <- function(text) gsub(" *\n *", " ", text)

bullets <- function(part) {
  paste0("\n\n", paste0("- ", vapply(items_of(part), function(item) one_line(markdown(item)), ""), collapse = "\n"), "\n\n")
}

pairs_of <- function(part) Filter(function(p) identical(tag_of(p), "\\item") && length(p) == 2, part)

# Names and their meanings as a list.
definition <- function(item) {
  names <- trimws(strsplit(gsub("\\dots", "...", raw(item[[1]]), fixed = TRUE), ",")[[1]])
  if (!nzchar(raw(item[[1]]))) names <- "..."
  text <- one_line(markdown(item[[2]]))
  sprintf("%s\n: %s", paste0("`", names, "`", collapse = ", "), text)
}

definitions <- function(part) paste0("\n\n", paste(vapply(pairs_of(part), definition, ""), collapse = "\n\n"), "\n\n")

# A section's prose, with its \item{}{} as a list.
section <- function(part) {
  pieces <- list()
  prose <- list()
  for (p in part) {
    if (identical(tag_of(p), "\\item") && length(p) == 2) {
      if (nzchar(trimws(raw(prose)))) pieces <- c(pieces, markdown(prose))
      prose <- list()
      pieces <- c(pieces, definition(p))
    } else {
      prose <- c(prose, list(p))
    }
  }
  if (nzchar(trimws(raw(prose)))) pieces <- c(pieces, markdown(prose))
  paste(unlist(pieces), collapse = "\n\n")
}

# Code ------------------------------------------------------------------------------------------------------------------------

usage_of <- function(part) {
  text <- paste(vapply(part, function(p) {
    if (identical(tag_of(p), "\\method") || identical(tag_of(p), "\\S3method")) {
      sprintf("## S3 method for class '%s'\n%s", raw(p[[2]]), raw(p[[1]]))
    } else {
      raw(p)
    }
  }, ""), collapse = "")
  text <- gsub("\n\\[\\(x, (.*?)\\)\n", "\nx[\\1]\n", text, perl = TRUE)
  sprintf("```r\n%s\n```", trimws(text, whitespace = "[\n]"))
}

# Examples run when the site is built, a paragraph at a time, so that outputs stand below their code. (\dontrun{} does not.)
examples_of <- function(part, title) {
  is_kept <- vapply(part, function(p) tag_of(p) %in% c("RCODE", "COMMENT", "VERB"), NA)
  code <- raw(part[is_kept])
  kept <- vapply(parts_of(part, "\\dontrun"), raw, "")
  blocks <- vapply(paragraphs(paste0("library(bdl)\n", trimws(code, whitespace = "[\n]"))), function(text) {
    draws <- if (grepl("plot", text)) paste0("\n:alt: The plot of the example: ", title)
    paste0("```{run} r", draws, "\n", text, "\n```")
  }, "")
  if (length(kept)) {
    blocks <- c(blocks, "Code that needs more than one process, or another package:",
                sprintf("```r\n%s\n```", trimws(kept, whitespace = "[\n]")))
  }
  paste(blocks, collapse = "\n\n")
}

# Parts between empty lines, each of whole expressions.
paragraphs <- function(code) {
  found <- strsplit(trimws(code, whitespace = "[\n]"), "\n[ \t]*\n")[[1]]
  result <- character(0)
  open <- NULL
  for (text in found) {
    open <- paste(c(open, text), collapse = "\n\n")
    if (!inherits(try(parse(text = open), silent = TRUE), "try-error")) {
      result <- c(result, open)
      open <- NULL
    }
  }
  c(result, open)
}

# Pages -----------------------------------------------------------------------------------------------------------------------

sections <- c("\\arguments" = "Arguments", "\\details" = "Details", "\\value" = "Value", "\\format" = "Format",
              "\\source" = "Source", "\\note" = "Note", "\\references" = "References", "\\seealso" = "See also")

page <- function(rd) {
  title <- text_of(rd, "\\title")
  name <- text_of(rd, "\\name")
  text <- c(sprintf("# %s: %s", sub("-package$", "", name), title), markdown(parts_of(rd, "\\description")[[1]]))
  usage <- parts_of(rd, "\\usage")
  if (length(usage) && !"datasets" %in% text_of(rd, "\\keyword")) text <- c(text, "## Usage", usage_of(usage[[1]]))
  examples <- parts_of(rd, "\\examples")
  for (part in rd) {
    tag <- tag_of(part)
    if (tag %in% names(sections)) {
      text <- c(text, paste("##", sections[[tag]]), section(part))
    } else if (tag == "\\section") {
      text <- c(text, paste("##", raw(part[[1]])), section(part[[2]]))
    }
  }
  if (length(examples)) text <- c(text, "## Examples", examples_of(examples[[1]], title))
  paste0(paste(text, collapse = "\n\n"), "\n")
}

all <- lapply(files, read)
all <- Filter(function(rd) !"internal" %in% text_of(rd, "\\keyword"), all)
for (rd in all) pages[text_of(rd, "\\alias")] <- text_of(rd, "\\name")
for (rd in all) writeLines(page(rd), file.path(arguments[2], paste0(text_of(rd, "\\name"), ".md")), sep = "", useBytes = TRUE)
