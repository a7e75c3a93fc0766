# Packages of libbdl: `make dist` fills dist/ with all of them and SHA256SUMS, `make check` tests each in a clean environment.
# CMake builds the library (docs/developers/building.md).
#
# PYTHONS: the interpreters that get a wheel; by default each Python 3.9 to 3.13 with headers that packaging/pythons.sh finds.
packages = wheels sdist r julia c deb source

dist: $(packages)
	cd dist && sha256sum -- *.whl *.tar.gz *.deb >SHA256SUMS

library:
	sh packaging/library.sh

wheels: library
	sh packaging/python/wheels.sh

sdist:
	sh packaging/python/sdist.sh

r: library
	sh packaging/r/build.sh

julia: library
	sh packaging/julia/build.sh

c: library
	sh packaging/c/build.sh

deb:
	sh packaging/debian.sh

source:
	sh packaging/source.sh

check:
	sh packaging/check.sh all

clean:
	rm -rf dist build/packages

.PHONY: dist $(packages) library check clean
.NOTPARALLEL:
