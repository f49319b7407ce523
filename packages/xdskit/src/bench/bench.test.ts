import assert from "node:assert/strict";
import { it } from "node:test";
import { create } from "@bufbuild/protobuf";
import { ServerCredentials } from "@grpc/grpc-js";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import type { BenchReport } from "@xdskit/fleet";
import { createServer } from "@xdskit/server";
import { xdskit, xdskitEnds } from "../testing/command.js";
import { inProcessEnds } from "../testing/in-process.js";
import { oddServer } from "../testing/odd-server.js";

const clusters = [create(ClusterSchema, { name: "a" }), create(ClusterSchema, { name: "b" })];

it("xdskit bench prints JSON of a known shape, and ends with 0 if all went well", async () => {
  const server = createServer();
  server.config.set(clusters);
  try {
    const { grpc } = await server.listen({ grpc: "127.0.0.1:0" });
    const args = ["--server", grpc, "--ads", "--type", "cluster", "--type", "endpoint", "--nodes", "5"];
    const ended = await xdskitEnds("bench", ...args, "--duration", "200ms", "--json");
    assert.equal(ended.status, 0, ended.err);
    const report = JSON.parse(ended.out) as BenchReport;
    assert.deepEqual(report.servers, [grpc]);
    assert.deepEqual(
      [report.nodes, report.connections, report.groups, report.variant, report.ads, report.types, report.ended],
      [5, 5, 1, "delta", true, ["cluster", "endpoint"], "done"],
    );
    assert.deepEqual(report.state, {
      connected: 5,
      complete: 5,
      unanswered: 0,
      withoutResources: 0,
      waitingFor: [],
    });
    assert.deepEqual(report.resources[0], { type: "cluster", fewest: 2, most: 2, differentSets: 1 });
    assert.equal(report.load.completeMs?.count, 5);
    assert.deepEqual(Object.keys(report.load.completeMs ?? {}), ["count", "p50", "p90", "p99", "max"]);
    assert.deepEqual([report.received.messages, report.received.resources], [5, 10]);
    assert.deepEqual([report.sent.messages, report.sent.acknowledgements, report.sent.rejections], [10, 5, 0]);
    assert.deepEqual(report.streams, { opened: 5, failed: 0, refused: 0, ended: 0 });
    assert.deepEqual([report.errors, report.reconnects, report.stalls.nodes], [[], { count: 0, connectMs: null }, 0]);
    assert.deepEqual(report.changes, { count: 0, spreadMs: null, newest: [] });
    assert.ok(report.generator.cpuSeconds > 0 && report.generator.memoryBytes > 0);
  } finally {
    await server.close({ timeoutMs: 500 });
  }
});

it("xdskit bench takes timeouts beyond the limit of Node's timers", async () => {
  const server = createServer();
  server.config.set(clusters);
  try {
    const { grpc } = await server.listen({ grpc: "127.0.0.1:0" });
    const args = ["--server", grpc, "--ads", "--type", "cluster", "--nodes", "2", "--timeout", "1000h"];
    const { status, err } = await inProcessEnds("bench", ...args, "--duration", "100ms");
    assert.equal(status, 0, err);
  } finally {
    await server.close({ timeoutMs: 500 });
  }
});

it("xdskit bench churns the requested number of nodes, even if nodes share connections", async () => {
  const server = createServer();
  server.config.set(clusters);
  try {
    const { grpc } = await server.listen({ grpc: "127.0.0.1:0" });
    const args = ["--server", grpc, "--ads", "--type", "cluster", "--nodes", "40", "--nodes-per-connection", "10"];
    const { out, status } = await inProcessEnds("bench", ...args, "--churn", "25%", "--duration", "1s", "--json");
    const { reconnects, seconds } = JSON.parse(out) as BenchReport;
    assert.equal(status, 0);
    // Ten a second, by the clock of the run, and whole connections.
    assert.ok(reconnects.count <= 10 * seconds.steady + 10, `${reconnects.count} in ${seconds.steady} s`);
    assert.ok(reconnects.count > 0);
  } finally {
    await server.close({ timeoutMs: 500 });
  }
});

it("xdskit bench ends on SIGINT, and prints the table", async () => {
  const server = createServer();
  server.config.set(clusters);
  try {
    const { grpc } = await server.listen({ grpc: "127.0.0.1:0" });
    await using running = xdskit("bench", "--server", grpc, "--type", "cluster", "--nodes", "3", "--duration", "10m");
    await running.seen(/3 hold everything/, "err");
    running.kill("SIGINT");
    const { status, out } = await running.ended();
    assert.equal(status, 0);
    assert.match(out, /^nodes +3 of 3 connected, 3 had everything$/m);
    assert.match(out, /^resources +2 of cluster each, 1 different set$/m);
    assert.match(out, /; stopped$/m);
  } finally {
    await server.close({ timeoutMs: 500 });
  }
});

it("xdskit bench ends with 1 if streams fail, and prints their status and message", async () => {
  await using server = await oddServer((stream) => stream.end(7, "you are nobody"), ServerCredentials.createInsecure());
  const args = ["--server", server.address, "--ads", "--type", "cluster", "--nodes", "2", "--timeout", "300ms"];
  const { status, out } = await inProcessEnds("bench", ...args, "--json");
  const report = JSON.parse(out) as BenchReport;
  assert.equal(status, 1);
  const [error] = report.errors;
  assert.deepEqual([error?.status, error?.message], ["PERMISSION_DENIED", "you are nobody"]);
  assert.equal(error?.count, report.streams.failed);
  assert.ok(report.streams.refused >= 2);
  assert.deepEqual([report.state.unanswered, report.state.complete], [2, 0]);
});

it("xdskit bench ends with 1 if no server listens, or a name does not come, and says so", async () => {
  const nowhere = ["--server", "127.0.0.1:1", "--nodes", "2", "--timeout", "1s"];
  const nobody = await inProcessEnds("bench", ...nowhere);
  assert.equal(nobody.status, 1);
  assert.match(nobody.out, /UNAVAILABLE: connect ECONNREFUSED/);
  const nobodyByTls = await inProcessEnds("bench", ...nowhere, "--tls");
  assert.match(nobodyByTls.out, /UNAVAILABLE: connect ECONNREFUSED/);

  const server = createServer();
  server.config.set(clusters);
  try {
    const { grpc } = await server.listen({ grpc: "127.0.0.1:0" });
    const gone = Array.from({ length: 12 }, (_, place) => `gone${place}`);
    const asked = ["--server", grpc, "--variant", "sotw", "--type", `cluster=a,${gone.join()}`, "--nodes", "2"];
    const { status, out } = await inProcessEnds("bench", ...asked, "--timeout", "3s", "--json");
    assert.equal(status, 1);
    // Its nodes have connected and were answered by then.
    const { state } = JSON.parse(out) as BenchReport;
    assert.deepEqual(state.waitingFor, [{ type: "cluster", nodes: 2, names: gone.slice(0, 10), more: 2 }]);
  } finally {
    await server.close({ timeoutMs: 500 });
  }
});

it("xdskit bench ends with 2 for wrong usage", async () => {
  const wrong: readonly (readonly [readonly string[], RegExp])[] = [
    [["--nodes", "0"], /whole number/],
    [["--churn", "200%"], /a share/],
    [["--server", "here"], /HOST:PORT/],
    [["--type", "clutser"], /there is no type "clutser"/],
    [["--type", "endpoint"], /nothing says which endpoint/],
    [["--type", "cluster", "--type", "cds"], /twice/],
    [["--tls-cert", "a.pem"], /--tls-cert and --tls-key need each other/],
    [["--locality", "eu/eu-1/a/b"], /REGION\/ZONE\/SUB/],
    [["--token-file", "t", "--server", "xds.example:80"], /in plaintext/],
  ];
  for (const [args, message] of wrong) {
    const { status, err, out } = await inProcessEnds("bench", ...args);
    assert.deepEqual([status, out], [2, ""], args.join(" "));
    assert.match(err, message);
  }
});
