import assert from "node:assert/strict";
import { test } from "node:test";
import { readResources } from "@xdskit/api";
import { refused, taken } from "../../packages/api/src/testing/certificate-cases.js";
import { cluster, type Fields, listener, tcp, tls } from "../../packages/api/src/testing/refusals.js";
import { type EnvoyJudge, startEnvoyJudge } from "./corpus/envoy-judge.js";
import { candidateOf } from "./corpus/judged.js";
import { peer } from "./harness/basics/peers.js";

/** What uses a secret, so that Envoy looks at it. */
function userOf(resource: Fields): Fields {
  const { tls_certificate: certificate, validation_context, session_ticket_keys } = resource as Fields;
  if (certificate === undefined && validation_context === undefined && session_ticket_keys === undefined)
    return resource;
  if (session_ticket_keys === undefined) {
    const common = { ...(certificate === undefined ? { validation_context } : { tls_certificates: [certificate] }) };
    return cluster({ transport_socket: tls("Upstream", common) });
  }
  // It needs a certificate.
  const [own] = taken as readonly [Fields, ...Fields[]];
  const socket = tls("Downstream", { tls_certificates: [own.tls_certificate] });
  const typed_config = { ...socket.typed_config, session_ticket_keys };
  return listener({ filter_chains: [{ filters: [tcp], transport_socket: { ...socket, typed_config } }] });
}

test("xdskit refuses certificates and keys that Envoy refuses, and no others", { timeout: 120_000 }, async (t) => {
  const envoy = peer("envoy", t);
  if (envoy === undefined) return;
  let judge: EnvoyJudge | undefined;
  t.after(() => judge?.close());
  judge = await startEnvoyJudge(envoy);
  // What is in files, the environment or PKCS #12 is Envoy's alone to judge.
  const isOnlyForEnvoy = /"(?:filename|environment_variable)"|"pkcs12":\{"\w+":"[^"]/;
  const isInline = (resource: Fields) => !isOnlyForEnvoy.test(JSON.stringify(resource));
  const resources = [...refused.map(([resource]) => resource), ...taken].filter(isInline).map((resource, index) => {
    const user = userOf(resource);
    const isListener = String(user["@type"]).endsWith("Listener");
    return { ...user, name: `case-${index}`, ...(isListener ? { bind_to_port: false } : { connect_timeout: "1s" }) };
  });
  const candidates = resources.map((resource) => {
    const type = String((resource as Fields)["@type"]).replace("type.googleapis.com/", "");
    return candidateOf({ type, resource } as never);
  });
  const verdicts = await judge.judge(candidates);
  const said = (refuses: boolean, index: number) =>
    `${refuses ? "refused" : "taken"}: ${JSON.stringify(resources[index])}`;
  const ours = resources.map((resource, index) => {
    const { findings } = readResources({ path: "a.json", bytes: Buffer.from(JSON.stringify(resource)) });
    return said(
      findings.some(({ severity }) => severity === "error"),
      index,
    );
  });
  const envoys = verdicts.map(({ is }, index) => said(is === "refused", index));
  const differs = (_: string, index: number) => ours[index] !== envoys[index];
  assert.deepEqual(ours.filter(differs), envoys.filter(differs));
  assert.ok(verdicts.filter(({ is }) => is === "refused").length > 25);
});
