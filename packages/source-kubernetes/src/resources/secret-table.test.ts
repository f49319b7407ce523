import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fromBinary } from "@bufbuild/protobuf";
import type { Resource } from "@xdskit/api";
import { SecretSchema } from "@xdskit/api/envoy/extensions/transport_sockets/tls/v3/secret";
import { createAuthority } from "../../../api/src/testing/certificates.js";
import { readTlsSecret } from "../objects/tls-secret.js";
import { SecretTable } from "./secret-table.js";

const authority = createAuthority("of the shop");
const [first, second] = [authority.issue("first", "DNS:a"), authority.issue("second", "DNS:a")];
const base64 = (text: string) => Buffer.from(text).toString("base64");

/** As the API server writes it. */
const object = (data: Readonly<Record<string, string>>, type = "kubernetes.io/tls") => ({
  metadata: { namespace: "shop", name: "cart", uid: "u" },
  type,
  data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, base64(text)])),
});
const pair = ({ certificate, key }: typeof first) => ({ "tls.crt": certificate, "tls.key": key });

/** A table with one Secret. */
function put(table: SecretTable, written: object | undefined) {
  table.setSecret("shop/cart", written && readTlsSecret(written));
  const steps = table.take();
  let step = steps.next();
  while (!step.done) step = steps.next();
  const { upsert, remove } = step.value;
  return [...upsert.map(({ name }) => `+${name}`), ...remove.map(({ name }) => `-${name}`)];
}

const served = (table: SecretTable, name: string) => {
  const all: readonly Resource[] = [...table.made];
  const { type } = fromBinary(SecretSchema, all.find((one) => one.name === name)?.body ?? new Uint8Array());
  const source =
    type.case === "tlsCertificate"
      ? type.value.certificateChain
      : type.case === "validationContext"
        ? type.value.trustedCa
        : undefined;
  return Buffer.from(source?.specifier.case === "inlineBytes" ? source.specifier.value : "").toString();
};

describe("the Secrets of certificates", () => {
  it("are secrets by namespace and name, with who issued them beside it", () => {
    const table = new SecretTable();
    assert.deepEqual(put(table, object(pair(first))), ["+shop/cart"]);
    assert.equal(served(table, "shop/cart"), first.certificate);
    assert.deepEqual(put(table, object({ ...pair(first), "ca.crt": authority.certificate })), ["+shop/cart/ca"]);
    assert.equal(served(table, "shop/cart/ca"), authority.certificate);
    assert.deepEqual(put(table, object(pair(second))), ["+shop/cart", "-shop/cart/ca"]);
    assert.deepEqual(put(table, undefined), ["-shop/cart"]);
    assert.deepEqual([...table.made], []);
  });

  it("that no client would take change nothing, and are told without a word of the key", () => {
    const table = new SecretTable();
    put(table, object(pair(first)));
    const changed = put(table, object({ ...pair(first), "tls.key": second.key }));
    assert.deepEqual(changed, []);
    assert.equal(served(table, "shop/cart"), first.certificate);
    const [fault] = table.faults;
    assert.deepEqual([fault?.object.kind, fault?.object.uid, fault?.field], ["Secret", "u", "tls.key"]);
    assert.equal(fault?.message, "is not the key of tls.crt's first certificate");
    for (const line of second.key.split("\n").slice(1, -2))
      assert.ok(!JSON.stringify([...table.faults]).includes(line));
    const wrong: readonly Readonly<Record<string, string>>[] = [
      {},
      { "tls.crt": "x", "tls.key": first.key },
      { ...pair(first), "ca.crt": "x" },
    ];
    for (const data of wrong) {
      assert.deepEqual(put(table, object(data)), []);
      assert.ok([...table.faults].length > 0, JSON.stringify(data));
    }
    assert.deepEqual(put(table, object(pair(second))), ["+shop/cart"]);
    assert.deepEqual([...table.faults], []);
  });

  it("are only those of that type", () => {
    assert.equal(readTlsSecret(object(pair(first), "Opaque")), undefined);
  });
});
