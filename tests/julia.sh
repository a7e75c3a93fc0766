#!/bin/sh
# Installs Julia 1.5, the oldest that BDL.jl supports, if there is no Julia: from Debian 11, since Debian 12 has none. Nothing
# stays in apt's configuration. Root or sudo.
set -eu
command -v julia >/dev/null && exit 0
[ "$(id -u)" = 0 ] || exec sudo sh "$0"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/sources" "$work/preferences" "$work/lists/partial"
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Codename: bookworm' 'Component: main' | head -n 1)
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror bullseye main" >"$work/sources/bullseye.list"
printf 'Package: *\nPin: release n=bullseye\nPin-Priority: 100\n' >"$work/preferences/bullseye"
apt() {
  DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dir::Etc::sourcelist=/etc/apt/sources.list -o Dir::Etc::sourceparts="$work/sources" \
    -o Dir::Etc::preferencesparts="$work/preferences" -o Dir::State::lists="$work/lists" -o APT::Sandbox::User=root "$@"
}
[ ! -f /etc/apt/sources.list.d/debian.sources ] || cp /etc/apt/sources.list.d/debian.sources "$work/sources/"
apt update
apt install -y --no-install-recommends julia >/dev/null

# The first exception of this Julia would crash in Debian 12's libunwind, whose ABI has changed (JuliaLang/julia#43520).
cd "$work"
apt -o Dir::State::status=/dev/null download libunwind8/bullseye
dpkg -x libunwind8_*.deb unpacked
cp -a unpacked/usr/lib/*/libunwind.so.8* "$(dirname "$(dpkg -L libjulia1 | grep '/julia/sys\.so$')")/"
julia -e 'f(x) = x > 2 ? error("thrown") : f(x + 1); try f(0) catch end'
