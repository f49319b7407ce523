import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { etcdCredentials } from "./etcd-credentials.js";

describe("the credentials for etcd", () => {
  it("come from the environment, and a file that is missing is named", async () => {
    assert.deepEqual(etcdCredentials({}), {});
    assert.deepEqual(etcdCredentials({ XDSKIT_ETCD_USER: "me:a:b" }), { user: { name: "me", password: "a:b" } });
    const { tls } = etcdCredentials({ XDSKIT_ETCD_CA: "/nowhere/ca.pem" });
    await assert.rejects(tls?.() ?? assert.fail(), {
      code: "XDSKIT_STORE",
      message: /\/nowhere\/ca\.pem.*XDSKIT_ETCD_CA cannot be read: ENOENT/,
    });
  });
});
