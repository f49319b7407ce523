import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import { XdskitError } from "@xdskit/api";
import { type Secret, SecretSchema } from "@xdskit/api/envoy/extensions/transport_sockets/tls/v3/secret";
import { SPIFFECertValidatorConfigSchema } from "@xdskit/api/envoy/extensions/transport_sockets/tls/v3/tls_spiffe_validator_config";
import { createServer } from "@xdskit/server";
import { type Certificate, contentLines, createAuthority } from "../../../api/src/testing/certificates.js";
import { eventually } from "../testing/command.js";
import { clusterYaml, testFolder } from "../testing/folder.js";
import { inProcess, inProcessEnds } from "../testing/in-process.js";
import { served } from "../testing/served.js";
import { clustersByGrpc, serialAt } from "../testing/tls-client.js";
import { sdsCertificates } from "./sds-certificates.js";
import { authoritiesIn, certificateIn } from "./secret-contents.js";

const authority = createAuthority("of the mesh");
const [first, second, third] = [1, 2, 3].map(() => authority.issue("localhost")) as [
  Certificate,
  Certificate,
  Certificate,
];
const known = { ca: authority.certificate, own: authority.issue("client.test") };

const inline = (text: string) => ({ specifier: { case: "inlineBytes", value: Buffer.from(text) } }) as const;
const pair = ({ certificate, key }: Certificate, name = "default") =>
  create(SecretSchema, {
    name,
    type: { case: "tlsCertificate", value: { certificateChain: inline(certificate), privateKey: inline(key) } },
  });
const bundle = (text: string, name = "ROOTCA") =>
  create(SecretSchema, { name, type: { case: "validationContext", value: { trustedCa: inline(text) } } });

/** What stands on the machine for SPIRE's agent: SDS over a Unix socket. */
async function agentAt(socket: string, secrets: readonly Secret[]) {
  const agent = createServer({ references: "warn" });
  agent.config.set([...secrets]);
  await agent.listen({ grpc: `unix:${socket}` });
  return agent;
}

const portOf = (address: string) => Number(address.split(":")[1]);

describe("certificates by SDS", () => {
  it("are the server's, are renewed without a stream's end, and stay while the agent is away", async () => {
    await using beside = await testFolder();
    const socket = `${beside.path}/agent.sock`;
    let agent = await agentAt(socket, [pair(first), bundle(authority.certificate)]);
    try {
      const settings = `tls: { sds: "unix://${socket}" }\n`;
      await using server = await served({ "a.yaml": clusterYaml("web"), "xdskit.yaml": settings });
      const port = portOf(server.grpc);
      assert.deepEqual(await clustersByGrpc(port, known), ["web"]);
      assert.equal(typeof (await clustersByGrpc(port, { ca: known.ca })), "string");
      const files = [
        "--tls-ca",
        await beside.write("ca.pem", known.ca),
        "--tls-server-name",
        "localhost",
        "--tls-cert",
        await beside.write("c.pem", known.own.certificate),
        "--tls-key",
        await beside.write("c.key", known.own.key),
      ];
      await using watch = inProcess(["watch", "cluster", "--server", server.grpc, ...files, "--output", "jsonl"]);
      await watch.seen(({ name }) => name === "web");

      agent.config.set([pair(second), bundle(authority.certificate)]);
      await eventually(
        () => serialAt(port, known),
        (serial) => serial === second.serial,
      );
      await server.folder.write("a.yaml", clusterYaml("web2"));
      await watch.seen(({ name }) => name === "web2");
      assert.ok(!watch.events().some(({ event }) => event === "disconnected"));

      await agent.close({ timeoutMs: 200 });
      await server.running.seen(/certificates cannot be renewed: those that were good before stay in use/, "err");
      assert.equal(await serialAt(port, known), second.serial);
      agent = await agentAt(socket, [pair(third), bundle(authority.certificate)]);
      await eventually(
        () => serialAt(port, known),
        (serial) => serial === third.serial,
      );

      // A certificate with the key of another one.
      agent.config.set([pair({ ...first, key: second.key }), bundle(authority.certificate)]);
      await server.running.seen(/the certificate and the key do not fit together/, "err");
      assert.equal(await serialAt(port, known), third.serial);
      for (const line of contentLines(second.key)) assert.ok(!server.running.err().includes(line));
    } finally {
      await agent.close({ timeoutMs: 200 });
    }
  });

  it("may have other names, and an agent that gives nothing ends the start with a reason", async () => {
    await using beside = await testFolder();
    const socket = `${beside.path}/agent.sock`;
    const [svid, domain] = ["spiffe://mesh.example/xdskit", "spiffe://mesh.example"];
    const agent = await agentAt(socket, [pair(first, svid), bundle(authority.certificate, domain)]);
    try {
      const named = { sds: `unix:${socket}`, sds_certificate: svid, sds_bundle: domain };
      const source = sdsCertificates(named);
      assert.equal(String((await source.read()).ca), authority.certificate);
      source.close();
      const none = sdsCertificates({ sds: `unix:${socket}` }, 500);
      await assert.rejects(none.read(), (error) => error instanceof XdskitError && error.message.includes(socket));
      none.close();
      const closed = sdsCertificates(named, 100);
      closed.close();
      await assert.rejects(closed.read(), { code: "XDSKIT_CREDENTIALS_FILE" });
    } finally {
      await agent.close({ timeoutMs: 200 });
    }
  });

  it("are renewed while the bundle on offer cannot be used, and that is reported until it can", async () => {
    await using beside = await testFolder();
    const socket = `${beside.path}/agent.sock`;
    const good = bundle(authority.certificate);
    const agent = await agentAt(socket, [pair(first), good]);
    const source = sdsCertificates({ sds: `unix:${socket}` });
    const problem = async () => source.problem?.message ?? "";
    try {
      await source.read();
      agent.config.set([pair(first), bundle("no certificate")]);
      await eventually(problem, (message) => message.includes("holds no certificates"));
      agent.config.set([pair(second), bundle("no certificate")]);
      await eventually(
        async () => String((await source.read()).certificate),
        (certificate) => certificate === second.certificate,
      );
      assert.match(await problem(), /holds no certificates/);
      agent.config.set([pair(second), good]);
      await eventually(problem, (message) => message === "");
    } finally {
      source.close();
      await agent.close({ timeoutMs: 200 });
    }
  });

  it("need settings that fit together", async () => {
    await using folder = await testFolder({ "a.yaml": clusterYaml("web") });
    const wrong: [string, RegExp][] = [
      ["tls: { sds: 'https://agent' }", /tls\.sds: expected a Unix socket/],
      ["tls: { sds: 'unix:/a', cert: c.pem }", /tls\.cert: sds gives the certificates/],
      ["tls: { cert: c.pem }", /tls\.key: is missing/],
      ["tls: { cert: c.pem, key: c.key, sds_bundle: ALL }", /tls\.sds_bundle: this is for sds/],
    ];
    for (const [settings, reason] of wrong) {
      const file = await folder.write("xdskit.yaml", settings);
      const { status, err } = await inProcessEnds("serve", folder.path, "--settings", file, "--state", "off");
      assert.equal(status, 2);
      assert.match(err, reason);
    }
  });
});

describe("a secret", () => {
  const reason = (run: () => unknown) => {
    try {
      run();
    } catch (error) {
      if (error instanceof XdskitError) return error.message;
    }
    return assert.fail("it was taken");
  };
  const validator = (...names: readonly string[]) => {
    const trustDomains = names.map((name) => ({ name, trustBundle: inline(`bundle of ${name}`) }));
    const value = toBinary(SPIFFECertValidatorConfigSchema, create(SPIFFECertValidatorConfigSchema, { trustDomains }));
    const typeUrl = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig";
    const customValidatorConfig = { name: "envoy.tls.cert_validator.spiffe", typedConfig: { typeUrl, value } };
    return create(SecretSchema, { type: { case: "validationContext", value: { customValidatorConfig } } });
  };

  it("may hold the bundle of one trust domain in SPIFFE's form, and not of several", () => {
    assert.equal(String(authoritiesIn(validator("a"), "here")), "bundle of a");
    assert.match(
      reason(() => authoritiesIn(validator("a", "b"), "here")),
      /several trust domains/,
    );
    assert.match(
      reason(() => authoritiesIn(validator(), "here")),
      /names no trust domain/,
    );
    const torn = validator("a");
    if (torn.type.case === "validationContext" && torn.type.value.customValidatorConfig?.typedConfig !== undefined)
      torn.type.value.customValidatorConfig.typedConfig.value = Uint8Array.of(0x0a, 0xff);
    assert.match(
      reason(() => authoritiesIn(torn, "here")),
      /has a validator that cannot be read/,
    );
  });

  it("of another kind, or with a file's name, is refused", () => {
    assert.match(
      reason(() => certificateIn(bundle("x"), "here")),
      /tls_certificate/,
    );
    assert.match(
      reason(() => authoritiesIn(pair(first), "here")),
      /validation_context/,
    );
    const source = { specifier: { case: "filename", value: "/etc/passwd" } } as const;
    const named = create(SecretSchema, { type: { case: "validationContext", value: { trustedCa: source } } });
    assert.match(
      reason(() => authoritiesIn(named, "here")),
      /no content of its own/,
    );
  });
});
