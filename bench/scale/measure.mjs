/**
 * Measures the cost of a stream, a push, a storm, a relay and a replica on this machine, and prints it as JSON.
 *
 *   node bench/scale/measure.mjs
 *
 * Needs `npm run build`, Go, and etcd (`bash e2e/peers/install.sh`). Nothing else should run meanwhile. Takes some five
 * minutes.
 */
import { execFileSync } from "node:child_process";
import { cpus } from "node:os";
import { measureReplicas } from "./replicas.mjs";
import { measureStreams } from "./streams.mjs";

const here = new URL("..", import.meta.url).pathname;
execFileSync("go", ["build", "-o", "bin/", "./xdsload"], { cwd: here, stdio: ["ignore", "ignore", "inherit"] });

const streams = 2_000;
const say = (text) => console.error(`${new Date().toISOString().slice(11, 19)} ${text}`);

say(`a server with ${streams} streams`);
const server = await measureStreams({ streams, relayed: false });
say(`a relay with ${streams} streams`);
const relay = await measureStreams({ streams, relayed: true });
say("ten times the configuration");
const large = await measureStreams({ streams: 100, relayed: false, clusters: 10_000 });
say("three replicas on three members of etcd");
const replicas = await measureReplicas();

const measured = {
  date: new Date().toISOString().slice(0, 10),
  machine: `${cpus().length} cores, ${cpus()[0]?.model ?? "unknown"}, Node.js ${process.version}`,
  configuration: "100 clusters with load assignments of 1 kB, a listener and a route; delta over ADS",
  streams,
  server,
  relay,
  large: { clusters: 10_000, baseMb: large.baseMb },
  replicas,
};
console.log(JSON.stringify(measured, null, 2));
