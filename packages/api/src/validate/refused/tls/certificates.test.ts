import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { readResources } from "../../../files/resource-file.js";
import {
  authority,
  ca,
  certificate,
  chain,
  encrypted,
  key,
  other,
  paired,
  refused,
  served,
  taken,
  text,
  trusted,
  upstream,
} from "../../../testing/certificate-cases.js";
import { contentLines } from "../../../testing/certificates.js";
import { type Fields, findings, testRefusals } from "../../../testing/refusals.js";

testRefusals("certificates", refused, taken);

suite("Certificates that are not valid now", () => {
  const said = (resource: Fields) => {
    const file = { path: "a.json", bytes: Buffer.from(JSON.stringify(resource)) };
    const { resources, findings } = readResources(file);
    assert.equal(resources.length, 1);
    return findings.map(({ code, severity, field, message }) => {
      assert.equal(code, "XDSKIT_CERTIFICATE_TIME");
      assert.equal(severity, "warning");
      return `${field} ${message}`;
    });
  };
  const expired = authority.issueFor("old.example", [-10, -5]);
  const early = authority.issueFor("new.example", [5, 10]);

  test("An expired certificate is a warning that says when it expired, and so is one that is not valid yet", () => {
    const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
    const [late = "", ...none] = said(served(paired(expired.certificate, expired.key)));
    assert.deepEqual(none, []);
    assert.ok(late.startsWith(`${chain} expired at ${day(-5)}T`), late);
    const [soon = ""] = said(served(paired(early.certificate, early.key)));
    assert.ok(soon.startsWith(`${chain} is not valid before ${day(5)}T`), soon);
    assert.equal(said(served(paired(certificate + expired.certificate, key))).length, 1);
  });

  test("Authorities give a warning only if none of them is valid, and not if expired ones are allowed", () => {
    const [late = ""] = said(trusted({ trusted_ca: text(expired.certificate + early.certificate) }));
    assert.ok(late.startsWith(`${ca} expired at`), late);
    assert.deepEqual(said(trusted({ trusted_ca: text(expired.certificate + certificate) })), []);
    assert.deepEqual(said(trusted({ trusted_ca: text(expired.certificate), allow_expired_certificate: true })), []);
  });
});

test("No finding has a line of a key", () => {
  for (const [resource] of refused) {
    const said = JSON.stringify(findings(resource));
    for (const pem of [key, other.key, encrypted])
      for (const line of contentLines(pem)) assert.ok(!said.includes(line));
  }
});

test("A certificate in many clusters is parsed once", () => {
  const bundle = Array.from({ length: 20 }, (_, index) => authority.issue(`${index}.example`).certificate).join("");
  /** The processor time of reading clusters, in microseconds for each. */
  const cost = (count: number, bundleOf: (index: number) => string) => {
    const clusters = Array.from({ length: count }, (_, index) => ({
      ...upstream({ validation_context: { trusted_ca: text(bundleOf(index)) } }),
      name: `cluster-${index}`,
    }));
    const file = { path: "a.json", bytes: Buffer.from(JSON.stringify(clusters)) };
    const before = process.cpuUsage();
    assert.equal(readResources(file).resources.length, count);
    return process.cpuUsage(before).user / count;
  };
  const one = () => bundle;
  const each = (index: number) => `# ${index}\n${bundle}`;
  cost(10, one);
  const [own, shared] = [cost(100, each), cost(500, one)];
  assert.ok(shared < own / 2, `${shared} µs with the same certificates, ${own} µs with other ones in each`);
});
