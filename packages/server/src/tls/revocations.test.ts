import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { test } from "node:test";
import { XdskitError } from "@xdskit/api";
import { createAuthority, deltaExtension, indirectExtension } from "../../../api/src/testing/certificates.js";
import { temporaryFolder } from "../testing/basics/temporary-folder.js";
import { tlsSource } from "./server-tls.js";

const authority = createAuthority("an authority");
const other = createAuthority("another");
/** Of the same name, with another key. */
const impostor = createAuthority("an authority");
const [good, bad] = [authority.issue("good"), authority.issue("bad")];

async function reading(t: Parameters<typeof temporaryFolder>[0], crl: string, more = "") {
  const folder = await temporaryFolder(t);
  const own = authority.issue("server");
  await folder.write("own.pem", own.certificate);
  await folder.write("own.key", own.key);
  await folder.write("ca.pem", authority.certificate + other.certificate + more);
  await folder.write("crl.pem", crl);
  const source = tlsSource({
    certificateFile: folder.at("own.pem"),
    keyFile: folder.at("own.key"),
    clientCaFile: folder.at("ca.pem"),
    crlFile: folder.at("crl.pem"),
  });
  const isRevoked = async ({ certificate }: { readonly certificate: string }) => {
    const shown = new X509Certificate(certificate);
    return (await source.read()).revocations?.isRevoked([shown.serialNumber], () => [shown]);
  };
  return { folder, source, isRevoked };
}

test("a list of revoked certificates names those of the authority that signed it, and no others", async (t) => {
  // Serial numbers tell the certificates of one authority apart.
  const crl = authority.revoke([bad]) + other.revoke([good]);
  const { folder, source, isRevoked } = await reading(t, crl);
  assert.deepEqual([await isRevoked(good), await isRevoked(bad)], [false, true]);
  const before = await source.read();
  assert.equal(await source.read(), before);
  assert.ok((before.revocations?.dates?.notAfter.getTime() ?? 0) > Date.now());
  await folder.write("crl.pem", authority.revoke([]));
  assert.deepEqual([await isRevoked(good), await isRevoked(bad)], [false, false]);
  assert.notEqual(await source.read(), before);
});

test("a list signed by RSASSA-PSS counts, and only with the signature of its authority", async (t) => {
  const [signer, another] = [createAuthority("of RSA", "rsa-pss"), createAuthority("of RSA", "rsa-pss")];
  const [stays, goes] = [signer.issue("stays"), signer.issue("goes")];
  const { folder, source, isRevoked } = await reading(t, signer.revoke([goes]), signer.certificate);
  assert.deepEqual([await isRevoked(stays), await isRevoked(goes)], [false, true]);
  await folder.write("crl.pem", another.revoke([stays]));
  assert.deepEqual([await isRevoked(stays), await isRevoked(goes)], [false, true]);
  assert.match(source.problem?.message ?? "", /none of client_ca signed/);
});

test("a list that cannot be used leaves the last good one, and says why and in which file", async (t) => {
  const { folder, source, isRevoked } = await reading(t, authority.revoke([bad]));
  assert.equal(await isRevoked(bad), true);
  const whole = authority.revoke([good]);
  const body = (pem: string) => pem.split("\n").slice(1, -2).join("\n");
  const block = (base64: string) => `-----BEGIN X509 CRL-----\n${base64}\n-----END X509 CRL-----\n`;
  for (const [content, why] of [
    ["", /is empty/],
    ["nothing", /holds no CRL in PEM form/],
    [authority.certificate, /holds no CRL in PEM form/],
    [whole.replace("BEGIN X509 CRL", "BEGIN CERTIFICATE"), /holds no CRL/],
    [block("MAA="), /cannot be read/],
    [block(Buffer.from(body(whole), "base64").subarray(0, -40).toString("base64")), /cannot be read/],
    [block(Buffer.concat([Buffer.from(body(whole), "base64"), Buffer.alloc(9)]).toString("base64")), /cannot be read/],
    [block(body(authority.certificate)), /CRL/],
    [block("MIAwgDCAMIAwgA=="), /cannot be read/],
    [impostor.revoke([good]), /none of client_ca signed/],
    [authority.revoke([good]) + impostor.revoke([]), /none of client_ca signed/],
    [authority.revoke([good], [-1, 1], deltaExtension()), /delta CRL/],
    [authority.revoke([good], [-1, 1], indirectExtension()), /indirect CRL/],
    [whole.repeat(4_000), /more than 1048576 bytes/],
  ] as const) {
    await folder.write("crl.pem", content);
    assert.deepEqual([await isRevoked(good), await isRevoked(bad)], [false, true]);
    assert.match(source.problem?.message ?? "", why);
    assert.equal(source.problem?.findings[0]?.file, folder.at("crl.pem"));
  }
  await folder.write("crl.pem", whole);
  assert.deepEqual([await isRevoked(good), await isRevoked(bad)], [true, false]);
  assert.equal(source.problem, undefined);
});

test("a first list must be good, and one that has expired still counts", async (t) => {
  const { source } = await reading(t, "nothing");
  await assert.rejects(source.read(), XdskitError);
  const expired = await reading(t, authority.revoke([bad], [-3, -1]));
  assert.equal(await expired.isRevoked(bad), true);
  assert.throws(() => tlsSource({ certificateFile: "a", keyFile: "b", crlFile: "c" }), /without clientCaFile/);
});
