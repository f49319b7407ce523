import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { peer, root } from "./harness/basics/peers.js";

interface Measured {
  readonly name: string;
  readonly got: readonly {
    readonly fullMs: number;
    readonly fullMb: number;
    readonly changes: number;
    readonly arrivals: number;
    readonly missing: number;
    readonly fromBegin: { readonly p50: number; readonly p99: number };
  }[];
}

test("the benchmark of Services of Kubernetes measures both servers, and each change reaches all clients", {
  timeout: 240_000,
}, async (t) => {
  for (const name of ["kube-apiserver", "kube-etcd", "kube-load", "kube-go-control-plane"] as const)
    if (peer(name, t) === undefined) return;
  const size = ["--services", "120", "--seconds", "3", "--turns", "1", "--streams", "20", "--names", "12", "--json"];
  const { stdout } = await promisify(execFile)(process.execPath, [join(root, "bench/kubernetes.mjs"), ...size]);
  const servers: readonly Measured[] = JSON.parse(stdout);
  assert.deepEqual(
    servers.map(({ name }) => name),
    ["go-control-plane", "xdskit"],
  );
  for (const { name, got } of servers) {
    assert.equal(got.length, 1);
    for (const { fullMs, fullMb, changes, arrivals, missing, fromBegin } of got) {
      // Two clients ask for each Service.
      assert.deepEqual([changes, arrivals, missing], [300, 600, 0], name);
      assert.ok(fullMs > 0 && fullMb > 10, name);
      assert.ok(fromBegin.p50 > 0 && fromBegin.p50 <= fromBegin.p99, name);
    }
  }
});
