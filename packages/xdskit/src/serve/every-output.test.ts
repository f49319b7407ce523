import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { hashOfToken, newToken } from "@xdskit/admin/tokens";
import { createAuthority } from "../../../api/src/testing/certificates.js";
import { clusterWithSecrets } from "../../../api/src/testing/sensitive-fields.js";
import { eventually } from "../testing/command.js";
import { testFolder } from "../testing/folder.js";
import { inProcess, inProcessEnds } from "../testing/in-process.js";
import { served } from "../testing/served.js";

/** Every secret below has this mark, in clear or in base64. */
const mark = "S3CR3T-7f3a-mark";
const token = newToken();
const marks = [
  mark,
  Buffer.from(mark).toString("base64").slice(0, 20),
  token,
  hashOfToken(token).slice("sha256:".length),
];

/** A key in PEM form, which may have any text before it. */
const { key } = createAuthority("an authority").issue("own.test");
const keyOf = (n: number) => JSON.stringify(`${mark}-${n}\n${key}`);

const secret = (name: string, body: string) =>
  `"@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret\nname: ${name}\n${body}\n---\n`;
/** The first two are in the secrets below, as Envoy needs them. */
const needMore = ["TlsCertificate.private_key", "TlsSessionTicketKeys.keys"].map(
  (name) => `envoy.extensions.transport_sockets.tls.v3.${name}`,
);
const everyField = (n: number) => JSON.stringify(clusterWithSecrets("every", `${mark}-${n}`, needMore));
const resources = (n: number) => `${everyField(n)}
---
${secret(
  "own",
  `tls_certificate: { certificate_chain: { filename: c.pem }, private_key: { inline_string: ${keyOf(n)} } }`,
)}${secret("generic", `generic_secret: { secret: { inline_bytes: ${Buffer.from(`${mark}-${n}`).toString("base64")} } }`)}${secret(
  "tickets",
  `session_ticket_keys: { keys: [{ inline_string: "${`${mark}-${n}`.padEnd(80, "x")}" }] }`,
)}"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster
name: web
transport_socket:
  name: tls
  typed_config:
    "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext
    common_tls_context:
      tls_certificates: [{ certificate_chain: { filename: c.pem }, private_key: { inline_string: ${keyOf(n)} } }]
---
"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster
name: struct
transport_socket:
  name: tls
  typed_config:
    "@type": type.googleapis.com/xds.type.v3.TypedStruct
    type_url: type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext
    value:
      common_tls_context:
        tls_certificates: [{ certificate_chain: { filename: c.pem }, private_key: { inline_string: ${keyOf(n)} } }]
`;

test("no output of a server has a secret of its resources, or a token", { timeout: 240_000 }, async () => {
  await using beside = await testFolder({ "own.yaml": resources(3), "token.txt": `${token}\n` });
  const at = (name: string) => `${beside.path}/${name}`;
  const settings = `audit: { file: ${at("audit.jsonl")} }\ntokens: { ci: "${hashOfToken(token)}" }\nroles: [{ when: { token: ci }, may: [read, operate, write] }]\n`;
  await using server = await served({ "a.yaml": resources(1), "xdskit.yaml": settings }, "--log-level", "debug");
  const ask = ["watch", "--ads", "--variant", "delta", "--type", "cluster", "--also", "secret=own,generic,tickets"];
  await using client = inProcess([...ask, "--node-id", "n1", "--server", server.grpc, "--output", "jsonl"]);
  await client.seen(({ event, name }) => event === "upsert" && name === "tickets");
  const whole = await inProcessEnds("get", "--server", server.grpc, "--type", "secret", "own", "--show-secrets");
  assert.ok(whole.out.includes(mark), "a client gets what no output shows");

  const said: [where: string, text: string][] = [];
  const run = async (...args: readonly string[]) => {
    const { out, err } = await server.run(args[0] ?? "", ...args.slice(1), "--token-file", at("token.txt"));
    said.push([args.join(" "), out + err]);
    return out;
  };
  // An edit, a refused one, a write of the API, a refused one, and one that goes back.
  await server.folder.write("a.yaml", resources(2));
  await server.running.seen(/configuration applied.*revision=2/, "err");
  await server.folder.write("b.yaml", `${resources(2)}connect_timeout: "${mark}"\n`);
  await server.running.seen(/XDSKIT_/, "err");
  await server.folder.remove("b.yaml");
  await run("apply", "-f", at("own.yaml"), "--dry-run");
  await run("apply", "-f", at("own.yaml"), "--message", "a change");
  const broken = await beside.write("broken.yaml", `${resources(3)}no_such_field: { private_key: "${mark}" }\n`);
  await run("apply", "-f", broken);
  const [first = ""] = JSON.parse(await run("history", "--output", "json")).revisions.map(
    ({ id }: { id: string }) => id,
  );
  for (const output of ["text", "json"]) {
    await run("show", first, "--output", output);
    await run("diff", "--from", first, "--output", output);
    await run("diff", server.folder.path, "--output", output);
    await run("export", "--output", output).catch(() => {});
    await run("top", "--count", "1", "--output", output);
  }
  await run("rollback", "--layer", "folder");
  for (const args of [["n1", "--json"], ["n1"], []]) {
    const { out, err } = await inProcessEnds("status", ...args, "--server", server.grpc);
    said.push([`status ${args.join(" ")}`, out + err]);
  }
  // Every page of the API, with what there is.
  const headers = { authorization: `Bearer ${token}` };
  const page = async (path: string) => {
    const abort = new AbortController();
    const response = await fetch(`${server.admin}${path}`, { headers, signal: abort.signal });
    if (path.endsWith("/events")) abort.abort();
    else said.push([path, await response.text()]);
    return response.status;
  };
  const api = (await (await fetch(`${server.admin}/api/v1/openapi.json`, { headers })).json()) as {
    readonly paths: Record<string, Record<string, unknown>>;
  };
  let answered = 0;
  for (const [path, methods] of Object.entries(api.paths)) {
    if (!("get" in methods)) continue;
    for (const [type, name] of [
      ["secret", "own"],
      ["secret", "generic"],
      ["cluster", "web"],
      ["cluster", "struct"],
      ["cluster", "every"],
    ]) {
      for (const layer of ["folder", "api"]) {
        const values: Record<string, string | undefined> = { layer, type, name, group: "all" };
        values.id = path.includes("nodes") ? "n1" : first;
        const query = path.endsWith("/diff") ? `?from=${first}` : "";
        const status = await page(`${path.replaceAll(/\{(\w+)\}/g, (_, key: string) => values[key] ?? "x")}${query}`);
        if (status === 200) answered += 1;
      }
    }
  }
  assert.ok(answered > 100, `${answered} pages`);
  for (const path of ["/", "/metrics", "/readyz"]) await page(path);
  const audit = await eventually(
    () => readFile(at("audit.jsonl"), "utf8"),
    (text) => text.includes('"rollback"'),
  );
  said.push(
    ["audit", audit],
    ["standard output", server.running.out()],
    ["log", server.running.err()],
    ["watch", client.out()],
  );
  for (const [where, text] of said)
    for (const one of marks)
      assert.ok(
        !text.includes(one),
        `${where} shows ${one}: ${text.slice(Math.max(0, text.indexOf(one) - 300), text.indexOf(one) + 40)}`,
      );
});
