#!/usr/bin/env bash
# install_test.sh BUILD_DIR SOURCE_DIR CXX CC FLAGS
# Installs into an empty prefix, moves it, builds outside programs in C++ and C against it, runs all of them.
set -euo pipefail
build_dir=$1
source_dir=$2
compiler=$3
c_compiler=$4
flags=$5

prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
model=$source_dir/tests/goldens/hf_vit

# The package must work where it is, not where it was installed.
cmake --install "$build_dir" --prefix "$prefix/first" >"$prefix/log"
mv "$prefix/first" "$prefix/usr"
cmake -S "$source_dir/tests/tools/outside" -B "$prefix/outside" -G Ninja \
  -DCMAKE_PREFIX_PATH="$prefix/usr" -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_C_COMPILER="$c_compiler" \
  -DCMAKE_CXX_FLAGS="$flags" -DCMAKE_C_FLAGS="$flags" \
  >>"$prefix/log" 2>&1 || { cat "$prefix/log"; exit 1; }
cmake --build "$prefix/outside" >>"$prefix/log" 2>&1 || { cat "$prefix/log"; exit 1; }

expect() {
  if [[ $2 != "$3" ]]; then
    printf '%s: got\n%s\nexpected\n%s\n' "$1" "$2" "$3"
    exit 1
  fi
}

labels=$("$prefix/usr/bin/vit" classify -m "$model" -k 3 "$model/image.png" |
  sed -nE 's/^ +[0-9]+  (.*[^ ]) +[0-9.]+ %.*/\1/p')
[[ $(wc -l <<<"$labels") == 3 ]] || { echo "the installed program named no classes"; exit 1; }
expect "the outside program" \
  "$("$prefix/outside/outside" "$model" "$model/image.png" | sed -E 's/ [^ ]*$//')" "$labels"
expect "the outside program in C" \
  "$("$prefix/outside/c_outside" "$model" "$model/image.png" "$model/config.json" | sed -E 's/ [^ ]*$//')" "$labels"
# A model by name, as `vit -m NAME` finds it; an unknown name fails with the same message.
export VIT_HOME=$prefix/home
folder=$VIT_HOME/models/facebook/deit-tiny-patch16-224
mkdir -p "$folder"
cp "$model"/* "$folder"
echo '{"hub": "facebook/deit-tiny-patch16-224", "revision": "main", "commit": "", "files": {}}' >"$folder/.pulled.json"
expect "the outside program, by name" \
  "$("$prefix/outside/outside" facebook/deit-tiny-patch16-224 "$model/image.png" | sed -E 's/ [^ ]*$//')" "$labels"
# The program adds its own command to what the library says.
for name in owner/other other; do
  advice=$([[ $name == */* ]] && echo "; if the hub has it: vit pull $name" || true)
  expect "an unknown name" "vit: $("$prefix/outside/outside" "$name" "$model/image.png" 2>&1)$advice" \
    "$("$prefix/usr/bin/vit" classify -m "$name" "$model/image.png" 2>&1)"
done
expect "the fields of an error" "$("$prefix/outside/outside" "$model" "$model/config.json" 2>&1)" \
  "the image $model/config.json $("$prefix/usr/bin/vit" classify -m "$model" --json "$model/config.json" | sed -nE 's/.*"error":"(.*)"}.*/\1/p')"
# Nothing but the public headers is installed.
expect "the installed headers" "$(cd "$prefix/usr/include/vit_toolkit" && find . -name '*.h' | sort | tr '\n' ' ')" \
  "./patch/image/image.h ./vit/base/config.h ./vit/base/enum_names.h ./vit/base/error.h ./vit/base/matrix.h ./vit/base/missing_download.h ./vit/base/precision.h ./vit/base/recipe.h ./vit/model/classifier.h ./vit/model/classifier_options.h ./vit/model/features.h ./vit/model/runner.h ./vit/model/words.h ./vit/text/prompts.h ./vit/version.h ./vit/vit.h ./vit/vit_c.h "
# The bundled model is installed, and found if no model is named.
answer=$(cd "$prefix" && VIT_MODEL="" "$prefix/usr/bin/vit" classify -k 1 "$source_dir/weights/default/pictures/school_bus.png")
[[ $answer == *"  school bus "* ]] || { echo "the installed program did not name the bus: $answer"; exit 1; }
[[ -f $prefix/usr/share/vit/default/model.safetensors ]] || { echo "no model was installed"; exit 1; }
# The outside program finds it beside the library, although the prefix was moved: what it names is broken on purpose.
mv "$prefix/usr/share/vit/default/model.safetensors" "$prefix/model.safetensors"
echo broken >"$prefix/usr/share/vit/default/model.safetensors"
bus=$source_dir/weights/default/pictures/school_bus.png
refusal=$(VIT_MODEL="" "$prefix/outside/outside" "" "$bus" 2>&1 || true)
[[ $refusal == "$prefix/usr/share/vit/default/model.safetensors: "* ]] ||
  { echo "the outside program looked for the model elsewhere: $refusal"; exit 1; }
mv "$prefix/model.safetensors" "$prefix/usr/share/vit/default/model.safetensors"
answer=$(VIT_MODEL="" "$prefix/outside/outside" "" "$bus")
[[ $answer == *"school bus"* ]] || { echo "the outside program did not name the bus: $answer"; exit 1; }
# A format that the program does not decode itself: the module must be found where it was installed.
bmp=$prefix/pixel.bmp
printf 'BM\x3a\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\1\0\0\0\1\0\0\0\1\0\x18\0\0\0\0\0\4\0\0\0' >"$bmp"
printf '\0%.0s' {1..16} >>"$bmp"
printf '\x10\x80\xf0\0' >>"$bmp"
for program in "$prefix/usr/bin/vit" "$prefix/outside/outside"; do
  if readelf -d "$program" | grep -F "$build_dir"; then
    echo "$program looks for modules in the build folder"
    exit 1
  fi
done
"$prefix/usr/bin/vit" classify -m "$model" "$bmp" >"$prefix/bmp.txt"
"$prefix/outside/outside" "$model" "$bmp" >>"$prefix/bmp.txt"
if ldd "$prefix/usr/bin/vit" "$prefix/outside/outside" | grep -q imgcodecs; then
  echo "OpenCV's codecs are loaded at every start"
  exit 1
fi
# No path of this machine is in the package: dependencies are looked for where it is used.
package=("$prefix/usr/lib"*/cmake/vit "$prefix/usr/lib"/*/cmake/vit)
if grep -rnE "$source_dir|$build_dir|$prefix|/usr/lib/[^$]*\\.(so|a)|/usr/include" "${package[@]}" 2>/dev/null |
  grep -v /FindVitBlas.cmake; then
  echo "the installed package holds paths of the machine that built it"
  exit 1
fi
[[ $(find "${package[@]}" -name vitTargets.cmake 2>/dev/null | wc -l) == 1 ]] || { echo "no package was looked at"; exit 1; }
