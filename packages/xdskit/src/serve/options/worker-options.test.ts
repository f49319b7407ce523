import assert from "node:assert/strict";
import { test } from "node:test";
import { workersOf } from "./worker-options.js";

const etcd = { kind: "etcd", endpoints: ["a:2379"], prefix: "/mesh" } as const;
const folder = { kind: "folder", directory: "state" } as const;
const replica = { host: "127.0.0.1", port: 0 };

test("workers share a store of their machine", () => {
  assert.equal(workersOf({ workers: 4, store: folder, replica: undefined }), 4);
  assert.equal(workersOf({ workers: 1, store: etcd, replica }), 1);
  assert.equal(workersOf({ workers: undefined, store: etcd, replica }), 1);
});

test("workers on etcd, and with an address for other servers, are refused", () => {
  assert.throws(() => workersOf({ workers: 2, store: etcd, replica: undefined }), /and no etcd: run several servers/);
  assert.throws(() => workersOf({ workers: 2, store: undefined, replica }), /cannot share the address of --replica/);
});
