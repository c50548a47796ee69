#!/usr/bin/env bash
# install_test.sh BUILD_DIR SOURCE_DIR CXX CXX_FLAGS
# Installs into an empty prefix, builds a program outside the house against it, runs both.
set -euo pipefail
build_dir=$1
source_dir=$2
compiler=$3
flags=$4

prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
model=$source_dir/tests/goldens/hf_vit

cmake --install "$build_dir" --prefix "$prefix/usr" >"$prefix/log"
cmake -S "$source_dir/tests/tools/outside" -B "$prefix/outside" -G Ninja \
  -DCMAKE_PREFIX_PATH="$prefix/usr" -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_CXX_FLAGS="$flags" \
  >>"$prefix/log" 2>&1 || { cat "$prefix/log"; exit 1; }
cmake --build "$prefix/outside" >>"$prefix/log" 2>&1 || { cat "$prefix/log"; exit 1; }

expect() {
  if [[ $2 != "$3" ]]; then
    printf '%s: got\n%s\nexpected\n%s\n' "$1" "$2" "$3"
    exit 1
  fi
}

labels=$("$prefix/usr/bin/vit" classify -m "$model" -k 3 "$model/image.png" |
  sed -nE 's/^ +[0-9]+  (.*[^ ]) +[0-9.]+%.*/\1/p')
[[ $(wc -l <<<"$labels") == 3 ]] || { echo "the installed program named no classes"; exit 1; }
expect "the outside program" \
  "$("$prefix/outside/outside" "$model" "$model/image.png" | sed -E 's/ [^ ]*$//')" "$labels"
if grep -rlF "$source_dir" "$prefix/usr/lib"*/cmake "$prefix/usr/lib"/*/cmake 2>/dev/null; then
  echo "the installed package points into the source tree"
  exit 1
fi
