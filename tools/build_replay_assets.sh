#!/bin/sh
# Makes src/torsor/replay/assets/three.min.js.gz: the parts of three.js that the replay page uses, in one script.
# Needs npm and a network; run it only to change the version or what three.js is asked for (assets/three.js).
set -eu
THREE=0.187.0 ESBUILD=0.28.2
assets=$(cd "$(dirname "$0")/../src/torsor/replay/assets" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund "three@$THREE" "esbuild@$ESBUILD"
node node_modules/esbuild/install.js
cp "$assets/three.js" entry.js
npx esbuild entry.js --bundle --minify --format=iife --global-name=THREE --target=es2020 --legal-comments=none \
    --outfile=bundled.js
{ echo "/* three.js $THREE"; cat node_modules/three/LICENSE; echo "*/"; cat bundled.js; } >three.min.js
gzip -9 -n -c three.min.js >"$assets/three.min.js.gz"
ls -l "$assets/three.min.js.gz"
