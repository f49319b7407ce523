#!/bin/sh
# A fleet reconnects at once while another one gets changes. Measures the server's own figures of its event loop, and
# the delay of the changes.
#   ./storm.sh [STREAMS [delta|sotw]]
# Run it after ./run.sh -list and npm run build. It prints one line of JSON; VERBOSE=1: every block.
# The first fleet (50 nodes of group 0) gets a change every 100 ms. The second one (5,000 nodes of group 1, with 1,000
# clusters) is cut and comes back.
set -e
cd "$(dirname "$0")"
streams=${1:-5000} variant=${2:-delta}
dir=$(mktemp -d)
node --expose-gc ${SERVER_JS:-dist/main.js} --control 127.0.0.1:28702 --grpc 127.0.0.1:28700 > "$dir/server" 2>&1 &
server=$!
trap 'kill $server 2>/dev/null; rm -r "$dir"' EXIT
for _ in $(seq 100); do grep -q ready "$dir/server" && break; sleep 0.1; done
at="-addr 127.0.0.1:28700 -control http://127.0.0.1:28702 -clusters 1000 -variant $variant -json"
curl -sf -X POST "http://127.0.0.1:28702/load?clusters=1000&endpoints=2&groups=2" > /dev/null
sleep 1
stats() { curl -sf http://127.0.0.1:28702/stats > "$dir/stats$1"; }
${XDSLOAD:-bin/xdsload} $at -streams 50 -touch 'type=eds&k=1&group=0' -warmup 3 -rounds 30 -every 100ms -settle=false > "$dir/calm"
stats 1
${XDSLOAD:-bin/xdsload} $at -streams "$streams" -node-prefix bench-g1 -churn 1 -timeout 100s > "$dir/storm" & storm=$!
${XDSLOAD:-bin/xdsload} $at -streams 50 -touch 'type=eds&k=1&group=0' -warmup 3 -rounds "${ROUNDS:-150}" -every 100ms -settle=false > "$dir/told"
wait $storm
stats 2
node - "$dir" <<'JS'
const { readFileSync } = require("node:fs");
const read = (name) => JSON.parse(readFileSync(`${process.argv[2]}/${name}`, "utf8"));
const latency = ({ touch: { p50_ms, p99_ms } }) => ({ p50: p50_ms, p99: p99_ms });
const { connect, churn } = read("storm");
const [before, after] = [read("stats1").event_loop, read("stats2").event_loop];
// A block without any work comes from the generator, which collects the garbage.
const isWork = ({ work }) => Object.values(work).some((count) => count > 0);
const blocks = after.recent.filter((block) => block.at > (before.recent.at(-1)?.at ?? "") && isWork(block));
const eventLoop = {
  blocks: blocks.length,
  longestMs: Math.max(0, ...blocks.map(({ ms }) => ms)),
  longestCpuMs: Math.max(0, ...blocks.map(({ ms, cpuMs }) => Math.min(ms, cpuMs))),
  p50Ms: after.p50Ms,
  p99Ms: after.p99Ms,
};
const changes = { calm: latency(read("calm")), storm: latency(read("told")) };
if (process.env.VERBOSE) for (const block of blocks) console.error(JSON.stringify(block));
console.log(JSON.stringify({ connect, churn, changes, eventLoop }));
JS
