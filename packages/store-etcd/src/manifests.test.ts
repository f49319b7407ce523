import assert from "node:assert/strict";
import { it } from "node:test";
import type { Revision } from "@xdskit/server";
import type { EtcdClient } from "./client/etcd-client.js";
import { Keys } from "./keys.js";
import { Manifests } from "./manifests.js";

function revision(id: string, parent?: string): Revision {
  return { ...({ layer: "a", number: 1, time: 1 } as Revision), id, parent };
}

function change(key: string) {
  return { type: "t", key, from: undefined, to: "1" };
}

it("the copy of a manifest has nothing of a commit that comes before it is used", async () => {
  // It reads nothing: it knows the newest head.
  const manifests = new Manifests({} as EtcdClient, new Keys("/a"));
  const first = revision("first");
  manifests.committed(first, [change("one")], false);
  const copying = manifests.copyOf(first);
  manifests.committed(revision("second", "first"), [change("two")], false);
  assert.deepEqual(
    Array.from((await copying).values(), ({ key }) => key),
    ["one"],
  );
});
