# Prints the docstrings of BDL's public names: for each a line \x01 with file, line and names, and then the text.

using BDL

is_public(binding, text) = Base.isexported(BDL, binding.var) || occursin(r"^    (BDL\.|copy|close|rand|Base\.)", text)

for (binding, found) in Docs.meta(BDL), doc in values(found.docs)
    text = join(doc.text)
    binding.var === :BDL && continue # the index page
    is_public(binding, text) || continue
    println("\x01", basename(doc.data[:path]), " ", doc.data[:linenumber], " ", binding.var)
    println(text)
end
