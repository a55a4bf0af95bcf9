#!/bin/sh
# Makes ./configure. Needs autoconf, automake and pkg-config (m4 macros).
set -eu
cd "$(dirname "$0")"
mkdir -p build-aux m4
exec autoreconf --install --force --warnings=all,no-portability
