import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { Client, Server, ServerCredentials, type ServiceError, type UntypedHandleCall } from "@grpc/grpc-js";
import { XdskitError } from "@xdskit/api";
import { contentLines, createAuthority } from "../../../api/src/testing/certificates.js";
import type { GrpcServerSettings } from "../options/client-options.js";
import { credentialsOf, type GrpcCredentials } from "./grpc-credentials.js";

const authority = createAuthority("an authority");
const stranger = createAuthority("another authority");
const server = authority.issue("the server", "DNS:localhost", "DNS:xds.example", "IP:127.0.0.1");
const [first, second] = [authority.issue("first"), authority.issue("second")];

const folder = mkdtempSync(join(tmpdir(), "xdskit-tls-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const path = (name: string) => join(folder, name);
const write = (name: string, content: string) => {
  writeFileSync(path(name), content);
  return path(name);
};
const caFile = write("ca.pem", authority.certificate);

const asIs = (bytes: Buffer) => bytes;
/** Answers with the client's headers, and the name in its certificate. */
const tell = {
  path: "/test.Test/Tell",
  requestStream: false,
  responseStream: false,
  requestSerialize: asIs,
  requestDeserialize: asIs,
  responseSerialize: asIs,
  responseDeserialize: asIs,
} as const;

async function listen(credentials: ServerCredentials): Promise<{ port: number; close(): void }> {
  const server = new Server();
  const handle: UntypedHandleCall = ((
    call: { metadata: { getMap(): object }; getAuthContext(): { sslPeerCertificate?: { subject: { CN: string } } } },
    answer: (error: null, bytes: Buffer) => void,
  ) => {
    const told = { ...call.metadata.getMap(), client: call.getAuthContext().sslPeerCertificate?.subject.CN };
    answer(null, Buffer.from(JSON.stringify(told)));
  }) as UntypedHandleCall;
  server.addService({ Tell: tell }, { Tell: handle });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", credentials, (error, bound) => (error === null ? resolve(bound) : reject(error)));
  });
  return { port, close: () => server.forceShutdown() };
}

async function ask(address: string, { channel, metadata }: GrpcCredentials): Promise<Record<string, unknown>> {
  const client = new Client(address, channel, { "grpc.use_local_subchannel_pool": 1 });
  const headers = await metadata();
  try {
    return await new Promise((resolve, reject) => {
      const options = { deadline: Date.now() + 20_000 };
      client.makeUnaryRequest(tell.path, asIs, asIs, Buffer.alloc(0), headers, options, (error, answer) => {
        if (error === null) resolve(JSON.parse(String(answer)));
        else reject(error);
      });
    });
  } finally {
    client.close();
  }
}

const failure = async (address: string, credentials: GrpcCredentials): Promise<string> =>
  ask(address, credentials).then(
    () => assert.fail("it was answered"),
    (error: ServiceError) => error.details,
  );

describe("credentials of a gRPC server", () => {
  const pair = { private_key: Buffer.from(server.key), cert_chain: Buffer.from(server.certificate) };
  let plain: Awaited<ReturnType<typeof listen>>;
  let tls: typeof plain;
  let mutual: typeof plain;
  before(async () => {
    plain = await listen(ServerCredentials.createInsecure());
    tls = await listen(ServerCredentials.createSsl(null, [pair]));
    mutual = await listen(ServerCredentials.createSsl(Buffer.from(authority.certificate), [pair], true));
  });
  after(() => {
    for (const one of [plain, tls, mutual]) one?.close();
  });
  const settings = (port: number, more: Partial<GrpcServerSettings> = {}): GrpcServerSettings => ({
    kind: "grpc",
    address: `127.0.0.1:${port}`,
    ...more,
  });
  const askWith = (port: number, more: Partial<GrpcServerSettings>) =>
    ask(`127.0.0.1:${port}`, credentialsOf(settings(port, more)));
  const failWith = (port: number, more: Partial<GrpcServerSettings>) =>
    failure(`127.0.0.1:${port}`, credentialsOf(settings(port, more)));

  it("credentials send headers, in plaintext too", async () => {
    const told = await askWith(plain.port, { headers: { "X-Team": "one", "some-bin": "AQI=" } });
    assert.equal(told["x-team"], "one");
    assert.deepEqual(told["some-bin"], { type: "Buffer", data: [1, 2] });
  });

  it("a client trusts the given authorities, and checks the given name", async () => {
    await askWith(tls.port, { tls: { caFile } });
    await askWith(tls.port, { tls: { caFile, serverName: "xds.example" } });
    assert.match(
      await failWith(tls.port, { tls: { caFile, serverName: "other.example" } }),
      /another name \(serverName, --tls-server-name\)/,
    );
    assert.match(await failWith(tls.port, { tls: {} }), /not signed by anyone who is trusted \(caFile, --tls-ca\)/);
    const strange = write("stranger.pem", stranger.certificate);
    assert.match(await failWith(tls.port, { tls: { caFile: strange } }), /not signed by anyone who is trusted/);
    assert.match(await failWith(plain.port, { tls: { caFile } }), /TLS with 127\.0\.0\.1 failed/);
  });

  it("a client shows its certificate, and another one once the files hold it", async () => {
    const certificateFile = write("own.pem", first.certificate);
    const keyFile = write("own.key", first.key);
    const credentials = credentialsOf(settings(mutual.port, { tls: { caFile, certificateFile, keyFile } }));
    const address = `127.0.0.1:${mutual.port}`;
    assert.equal((await ask(address, credentials)).client, "first");
    write("own.pem", second.certificate);
    // The rotation is half done: the matching pair stays in use.
    assert.equal((await ask(address, credentials)).client, "first");
    write("own.key", second.key);
    assert.equal((await ask(address, credentials)).client, "second");
    assert.match(
      await failWith(mutual.port, { tls: { caFile } }),
      /it wants a certificate of the client|ECONNRESET|closed/,
    );
  });

  it("an error says which file is wrong and why, and shows nothing of its content", async () => {
    const certificateFile = write("first.pem", first.certificate);
    const keyFile = write("second.key", second.key);
    const noCertificate = write("none.pem", "SECRET\n");
    const empty = write("empty.pem", "");
    const cases = [
      [{ caFile: path("gone.pem") }, "gone.pem: cannot be read: it does not exist"],
      [{ caFile: folder }, `${folder}: cannot be read: it is a folder`],
      [{ caFile: empty }, "empty.pem: is empty"],
      [{ caFile: noCertificate }, "none.pem: holds no certificates that can be read"],
      [{ caFile: keyFile }, "second.key: holds no certificates that can be read"],
      [{ certificateFile: noCertificate, keyFile }, "none.pem: holds no certificate that can be read"],
      [{ certificateFile, keyFile: noCertificate }, "none.pem: holds no private key that can be read"],
      [{ certificateFile, keyFile }, "second.key: the certificate and the key do not fit together"],
    ] as const;
    for (const [own, expected] of cases) {
      const details = await failWith(tls.port, { tls: { caFile, ...own } });
      assert.ok(details.includes(expected), `${details}\ndoes not say: ${expected}`);
      assert.ok(details.includes("XDSKIT_CREDENTIALS_FILE"), details);
      for (const line of [...contentLines(second.key), ...contentLines(first.certificate), "SECRET"]) {
        assert.ok(!details.includes(line), details);
      }
    }
  });

  it("the token is read anew for each stream", async () => {
    const tokenFile = write("token", "t1\n");
    const credentials = credentialsOf(settings(tls.port, { tls: { caFile }, tokenFile }));
    assert.equal((await ask(`127.0.0.1:${tls.port}`, credentials)).authorization, "Bearer t1");
    write("token", "t2");
    assert.equal((await ask(`127.0.0.1:${tls.port}`, credentials)).authorization, "Bearer t2");
    write("token", "t 3");
    await assert.rejects(
      credentials.metadata(),
      (error) => error instanceof XdskitError && !error.message.includes("t 3"),
    );
    // Nobody else hears it.
    assert.equal((await askWith(plain.port, { tokenFile: write("token", "t4") })).authorization, "Bearer t4");
  });

  it("settings that would leak a secret or make no sense are refused", () => {
    const refused = (more: Partial<GrpcServerSettings>, expected: RegExp) =>
      assert.throws(
        () => credentialsOf({ kind: "grpc", address: "xds.example:80", ...more }),
        (error) => {
          assert.ok(error instanceof XdskitError && error.code === "XDSKIT_CREDENTIALS", String(error));
          assert.match(error.message, expected);
          return true;
        },
      );
    for (const address of [
      "xds.example:80",
      "dns:///10.0.0.1:80",
      "127.0.0.1.example:80",
      "ipv4:10.1.1.1:80",
      "[::2]:80",
    ]) {
      refused({ address, tokenFile: "/token" }, /in plaintext/);
    }
    for (const address of ["localhost:80", "dns:///127.0.0.1:80", "[::1]:80", "unix:/run/xds.sock", "::1"]) {
      credentialsOf({ kind: "grpc", address, tokenFile: "/token" });
    }
    refused({ tls: { keyFile: "/key" } }, /tls\.certificateFile: keyFile is given without certificateFile/);
    refused({ tls: { certificateFile: "/c" } }, /without keyFile/);
    refused({ headers: { "a b": "SECRET" } }, /^headers: "a b" is not a header that gRPC can send(?!.*SECRET)/);
    refused(
      { headers: { authorization: "SECRET\n" } },
      /^headers: "authorization" is not a header that gRPC can send(?!.*SECRET)/,
    );
  });
});
