# Published networks, and images as rows: channel by channel, row by row.

"""
    networks()

Returns the published networks that libbdl knows by name: `(name, rows, columns, channels, outputs, doc, source)` of each, with the
images and the number of classes that it was published for.

# Examples
```julia
[network.name for network in networks()]
```
"""
function networks()
    name, doc, source = (Ref{Ptr{UInt8}}(C_NULL) for _ in 1:3)
    channels, rows, columns, outputs = (Ref{Int64}(0) for _ in 1:4)
    return map(1:LibBDL.bdl_network_count()) do i
        check(LibBDL.bdl_network_describe(i - 1, name, channels, rows, columns, outputs, doc, source))
        (name = unsafe_string(name[]), rows = Int(rows[]), columns = Int(columns[]), channels = Int(channels[]),
            outputs = Int(outputs[]), doc = unsafe_string(doc[]), source = unsafe_string(source[]))
    end
end

"""
    network_description(name; rows, columns, channels, outputs)

Returns the layers of a published network as text for [`Model`](@ref), which you can edit. Sizes that you do not give are the published
sizes.

# Examples
```julia
text = network_description("lenet5"; outputs = 5)
nparameters(Model(text; likelihood = :categorical))  # 44001
```
"""
function network_description(name::AbstractString; sizes...)
    table = networks()
    i = findfirst(network -> network.name == name, table)
    known = i === nothing ? (rows = 1, columns = 1, channels = 1, outputs = 1) :
            (; (key => table[i][key] for key in (:rows, :columns, :channels, :outputs))...)
    unknown = setdiff(keys(sizes), keys(known))
    isempty(unknown) || throw(InvalidArgumentError("network_description has no keyword $(first(unknown))"))
    size = merge(known, values(sizes))
    return read_text(out -> LibBDL.bdl_network_description(name, size.channels, size.rows, size.columns, size.outputs, out))
end

"Rows, columns and channels."
const ImageShape = NTuple{3,Int}

"Returns the shape of images: of an array in the order `layout`, `:hwcn` or `:whcn`; of the rows of a matrix, `said`."
image_shape(X::AbstractArray{<:Any,3}, layout, said) = image_shape(reshape(X, size(X, 1), size(X, 2), 1, :), layout, said)
image_shape(X::AbstractArray{<:Any,4}, layout, said) =
    several_pixels(known_layout(layout) === :hwcn ? size(X)[1:3] : (size(X, 2), size(X, 1), size(X, 3)))
image_shape(X, layout, said) = said === nothing ? nothing : several_pixels(ImageShape(said))

"Channels of one pixel are features."
several_pixels(shape::ImageShape) = shape[1] == shape[2] == 1 ? nothing : shape

known_layout(layout) = layout in (:hwcn, :whcn) ? layout :
                       throw(InvalidArgumentError("layout is $(brief(layout)); it must be :hwcn or :whcn"))

"One image per row; `:whcn` is read where it lies."
image_rows(X::AbstractArray{<:Any,3}, layout) = image_rows(reshape(X, size(X, 1), size(X, 2), 1, :), layout)
image_rows(X::AbstractArray{<:Any,4}, layout) =
    transpose(reshape(known_layout(layout) === :hwcn ? permutedims(X, (2, 1, 3, 4)) : X, :, size(X, 4)))
image_rows(X, layout) = X

in_words(shape::ImageShape) = "images of $(shape[1]) x $(shape[2]) pixels and $(shape[3]) channels"
in_words(::Nothing) = "features"

"Returns the shape of a network's images, `nothing` for features."
function image_shape(model::Model)
    sizes = parse.(Int, split(first(split(description(model), '\n')))[2:end])
    return length(sizes) == 3 ? (sizes[2], sizes[3], sizes[1]) : nothing
end

"Whether `network` has its ends, and so a number of outputs."
is_whole(network) = occursin(r"^[\s;]*input[\s;]", network isa AbstractString ? network : join(network, '\n'))

"The whole description, where `network` leaves out the ends or is a name."
function network_text(network, image, inputs, outputs)
    text = network isa AbstractString ? network : join(network, '\n')
    words = split(replace(text, ';' => " ; "))
    if length(words) == 1
        image === nothing &&
            throw(InvalidArgumentError("network $(brief(text)) is for images, X is a matrix: say image = (rows, columns, channels)"))
        return network_description(strip(text); rows = image[1], columns = image[2], channels = image[3], outputs = outputs)
    end
    is_whole(network) && return text
    shape = image === nothing ? inputs : join((image[3], image[1], image[2]), ' ')
    return "input $shape\n$text\ndense $outputs"
end

function network_model(s, likelihood, image, inputs, outputs)
    model = Model(network_text(s.network, image, inputs, outputs); likelihood = likelihood, dtype = s.dtype)
    noutputs(model) == outputs ||
        throw(ShapeError("the network has $(noutputs(model)) outputs, expected $outputs for these y"))
    (image_shape(model), ninputs(model)) == (image, inputs) ||
        throw(ShapeError("the network is for $(in_words(image_shape(model))), X has $(in_words(image)) in $inputs columns"))
    return model
end
