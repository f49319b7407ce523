import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { type Certificate, contentLines, createAuthority } from "../../packages/api/src/testing/certificates.js";
import { createConfigFolder, type ResourceText } from "./harness/basics/config-folder.js";
import { someVariants } from "./harness/basics/effort.js";
import { answering, listener, typeUrl } from "./harness/basics/resources.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { type StageOptions, setStage } from "./harness/peers/stage.js";
import { handshake, startHandshakes } from "./harness/traffic/handshakes.js";
import { serve, type XdskitServer, xdskitCommand } from "./harness/xdskit/xdskit.js";

const host = "envoy.test";
const secretType = typeUrl("envoy.extensions.transport_sockets.tls.v3.Secret");

const tlsCertificate = (name: string, { certificate, key }: Omit<Certificate, "serial">): ResourceText => ({
  "@type": secretType,
  name,
  tls_certificate: { certificate_chain: { inline_string: certificate }, private_key: { inline_string: key } },
});

const validationContext = (name: string, trusted: string): ResourceText => ({
  "@type": secretType,
  name,
  validation_context: { trusted_ca: { inline_string: trusted } },
});

/** A listener that shows a certificate, and lets in only those whom an authority has certified: both come by SDS. */
const files: StageOptions["files"] = ({ port, source }) => ({
  "listeners.yaml": [
    listener({
      name: "tls",
      port,
      routes: { route_config: { name: "inline", virtual_hosts: [answering("all", "hello")] } },
      tls: {
        require_client_certificate: true,
        common_tls_context: {
          tls_certificate_sds_secret_configs: [{ name: "server", sds_config: source }],
          validation_context_sds_secret_config: { name: "clients", sds_config: source },
        },
      },
    }),
  ],
});

for (const variant of someVariants) {
  test(`Envoy's secrets, ${variant}`, { timeout: 120_000 }, async (t) => {
    const authority = createAuthority("servers");
    const clients = createAuthority("clients");
    const otherClients = createAuthority("other clients");
    const first = authority.issue(host);
    const stage = await setStage(t, {
      variant,
      service: "secret",
      serveArgs: ["--log-level", "debug"],
      files: (props) => ({
        ...files(props),
        "server.yaml": [tlsCertificate("server", first)],
        "clients.yaml": [validationContext("clients", clients.certificate)],
      }),
    });
    if (stage === undefined) return;
    const { scene, folder, server, port } = stage;
    const keys = [first.key];
    const client = clients.issue("client");
    const options = { port, host, trusted: authority.certificate, client };
    const rotate = async (): Promise<Certificate> => {
      const next = authority.issue(host);
      keys.push(next.key);
      await folder.put({ "server.yaml": [tlsCertificate("server", next)] });
      return next;
    };

    await scene.step("exchanges a certificate ten times without a failed handshake", async () => {
      assert.equal(await handshake(options), first.serial);
      const handshakes = startHandshakes(scene, options);
      const started = performance.now();
      for (let rotation = 0; rotation < 10; rotation += 1) {
        const { serial } = await rotate();
        await eventually(`certificate ${rotation} at the client`, () => handshakes.serial() === serial, {
          everyMs: 10,
        });
        const seen = handshakes.count();
        await eventually("more handshakes with it", () => handshakes.count() >= seen + 20, { everyMs: 10 });
      }
      await handshakes.stop();
      const perSecond = Math.round((handshakes.count() / (performance.now() - started)) * 1_000);
      t.diagnostic(`${handshakes.count()} handshakes, ${perSecond} a second`);
      assert.deepEqual(handshakes.failures(), []);
    });

    await scene.step("exchanges the certificates that it trusts", async () => {
      const other = { ...options, client: otherClients.issue("client") };
      await assert.rejects(handshake(other));
      await folder.put({ "clients.yaml": [validationContext("clients", otherClients.certificate)] });
      await eventually("clients of the other authority let in", () => handshake(other));
      await assert.rejects(handshake(options));
      await folder.put({ "clients.yaml": [validationContext("clients", clients.certificate)] });
      await eventually("clients of the first authority let in again", () => handshake(options));
    });

    await scene.step("keeps the old certificate when the key does not belong to the new one", async () => {
      const before = await handshake(options);
      const key = createAuthority("another").issue(host).key;
      keys.push(key);
      const { certificate } = authority.issue(host);
      await folder.put({ "server.yaml": [tlsCertificate("server", { certificate, key })] });
      await server.process.errorLine(/is not the key of certificate_chain's first certificate/);
      assert.equal(await handshake(options), before);
      const { serial } = await rotate();
      await eventually("the fixed certificate", async () => (await handshake(options)) === serial);
    });

    await scene.step("has shown nobody a private key", async () => {
      mustNotTell(keys, await toldBy(server));
    });
  });
}

for (const variant of ["ads-delta", "per-type-delta"] as const) {
  test(`Envoy boots without secrets, and takes them later, ${variant}`, { timeout: 60_000 }, async (t) => {
    // It is told at once that there are none: it does not wait for its 15 s to be over.
    const stage = await setStage(t, { variant, service: "secret", files, withinMs: 8_000 });
    if (stage === undefined) return;
    const authority = createAuthority("servers");
    const clients = createAuthority("clients");
    const options = { port: stage.port, host, trusted: authority.certificate, client: clients.issue("client") };
    await assert.rejects(handshake(options));
    await stage.folder.put({
      "server.yaml": [tlsCertificate("server", authority.issue(host))],
      "clients.yaml": [validationContext("clients", clients.certificate)],
    });
    await eventually("a handshake with what came later", () => handshake(options));
  });
}

test("nobody is shown a private key of a bad file", { timeout: 60_000 }, async (t) => {
  const scene = await createScene(t);
  const authority = createAuthority("servers");
  const { key } = authority.issue(host);
  const good = validationContext("clients", authority.certificate);
  const quoted = JSON.stringify(key);
  const indented = key.trimEnd().replaceAll("\n", "\n      ");
  const secret = (privateKey: string) =>
    `"@type": ${secretType}\nname: bad\ntls_certificate:\n  private_key: ${privateKey}\n`;
  const texts = [
    secret(quoted),
    secret(`[${quoted}]`),
    secret(`{ inline_string: [${quoted}] }`),
    secret(`{ inline_strin: ${quoted} }`),
    secret(`{ ${quoted}: inline_string }`),
    secret(`{ inline_bytes: ${JSON.stringify(`${key}!`)} }`),
    secret(`{ inline_string: ${quoted}, filename: x }`),
    secret(`{ inline_string: ${quoted}, inline_string: ${quoted} }`),
    // Indented too little, or not at all: what follows is no part of the string.
    secret(`\n    inline_string: |\n      ${indented}\n  ${key}`),
    secret(`\n    inline_string: |\n${key}`),
    secret(`{ inline_string: "${key} }`),
    `{"@type": "${secretType}", "name": "bad", "generic_secret": {"secret": {"inline_string": "${key}"}}}`,
    key,
  ];
  const folder = await createConfigFolder(scene.directory, { "good.yaml": [good] });
  const server = await serve(scene, folder.path, { args: ["--log-level", "debug"] });
  for (const extension of ["yaml", "json", "pb_text", "pb"]) {
    for (const [number, text] of texts.entries()) await folder.putText(`bad-${number}.${extension}`, text);
  }
  // All of them, not the first of several readings.
  await eventually("every file refused", async () => {
    const sources = await page(`${server.admin}/api/v1/sources`);
    const silent = [...texts.keys()].filter((number) => !sources.includes(`bad-${number}.`));
    if (silent.length > 0) throw new Error(`nothing is said of ${silent.join(", ")}`);
    return true;
  });
  mustNotTell([key], [...(await toldBy(server)), await validate(folder.path)]);
});

/** All that a server has said so far: to its logs and on its pages. */
async function toldBy({ process, admin }: XdskitServer): Promise<readonly string[]> {
  return [...process.stdout, ...process.stderr, await page(`${admin}/api/v1/sources`), await page(`${admin}/metrics`)];
}

function mustNotTell(keys: readonly string[], told: readonly string[]): void {
  const text = told.join("\n");
  const secret = [...keys.flatMap(contentLines), "PRIVATE KEY"];
  const leaks = text.split("\n").filter((line) => secret.some((part) => line.includes(part)));
  assert.deepEqual(leaks, []);
}

const page = async (address: string): Promise<string> =>
  (await fetch(`http://${address}`, { signal: AbortSignal.timeout(5_000) })).text();

/** What `xdskit validate` says, on both outputs. */
function validate(directory: string): Promise<string> {
  const { command, args } = xdskitCommand();
  return new Promise((resolve) => {
    execFile(command, [...args, "validate", directory], (_, stdout, stderr) => resolve(stdout + stderr));
  });
}
