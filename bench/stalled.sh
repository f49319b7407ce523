#!/bin/sh
# Some streams of a fleet stop reading for a minute while it gets 10 changes a second, and go on. Measures the delay of
# the others' changes against the time when all read, the memory of a stalled stream, and the responses that it gets
# when it goes on.
#   ./stalled.sh [STREAMS [SHARE [delta|sotw]]]
# Run it after npm run build. Default: 1000 0.01 delta. It takes two minutes and a half, and prints one line of JSON.
# RSS, heap and external are those with the stall minus the mean of before and after it, each after a garbage
# collection.
# With a SHARE of 0 nobody stalls, and the differences are noise. SPREAD=N: they stop one after the other over N rounds.
# WINDOW=N: receive window of stalled clients.
set -e
cd "$(dirname "$0")"
[ -x bin/xdsload ] || go build -o bin/ ./xdsload
streams=${1:-1000} share=${2:-0.01} variant=${3:-delta}
# SotW sends all clusters if one of them changes, and only the changed load assignments.
[ "$variant" = sotw ] && type=cds || type=eds
server=${SERVER:-node --expose-gc dist/main.js --control 127.0.0.1:28712 --grpc 127.0.0.1:28710}
dir=$(mktemp -d)
$server > "$dir/server" 2>&1 &
pid=$!
trap 'kill $pid 2>/dev/null; rm -r "$dir"' EXIT
for _ in $(seq 100); do grep -q ready "$dir/server" && break; sleep 0.1; done
for_rounds=${ROUNDS:-600}
bin/xdsload -addr 127.0.0.1:28710 -control http://127.0.0.1:28712 -load 'clusters=100&endpoints=1&payload=1000' -json -verify \
  -variant "$variant" -streams "$streams" -stalled "$share" -stalled-window "${WINDOW:-65535}" -touch "type=$type&k=1" -every 100ms \
  -warmup "${WARMUP:-100}" -rounds $((for_rounds * 2)) -stall-for "$for_rounds" -stall-spread "${SPREAD:-1}" > "$dir/report"
node - "$dir/report" <<'JS'
const { touch, stall } = JSON.parse(require("node:fs").readFileSync(process.argv[2], "utf8"));
const { before, meanwhile, after, streams } = stall;
const cost = (what) => {
  const more = meanwhile[what] - (before[what] + after[what]) / 2;
  return { more, perStream: streams === 0 ? undefined : Math.round((100 * more) / streams) / 100 };
};
const ratio = (what) => Math.round((1000 * stall.stalled[what].median) / stall.reading[what].median) / 1000;
console.log(JSON.stringify({
  ...{ stalledStreams: streams, stalledRounds: stall.rounds, bytesPerPush: touch.bytes_per_push },
  p99Ms: { allRead: stall.reading.p99_ms, othersMeanwhile: stall.stalled.p99_ms },
  ratio: { p50: ratio("p50_ms"), p99: ratio("p99_ms"), last: ratio("last_ms") },
  kB: { rss: cost("rss_kb"), heap: cost("heap_kb"), external: cost("external_kb") },
  ...{ memory: { before, meanwhile, after } },
  onReturn: { hadTheNewest: stall.back, messages: stall.messages, ofThemComposed: stall.composed },
}));
JS
