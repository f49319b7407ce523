import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { connect, Server } from "node:net";
import { describe, it, mock } from "node:test";
import { create } from "@bufbuild/protobuf";
import { XdskitError } from "@xdskit/api";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { createServer, type ServerEvent, type ServerOptions, type XdsServer } from "@xdskit/server";
import { createTroubles } from "../../../admin/src/troubles/server-troubles.js";
import { contentLines, createAuthority } from "../../../api/src/testing/certificates.js";
import { manualClock } from "../../../server/src/testing/basics/manual-clock.js";
import { waitFor, within } from "../../../server/src/testing/basics/wait-for.js";
import type { Ended } from "../testing/command.js";
import { clusterYaml, type TestFolder, testFolder } from "../testing/folder.js";
import { inProcessEnds, servesHere } from "../testing/in-process.js";
import { clustersByGrpc, serialAt, statusByRest } from "../testing/tls-client.js";

const authority = createAuthority("an authority");
const [own, later] = [authority.issue("localhost"), authority.issue("localhost")];
const known = { ca: authority.certificate, own: authority.issue("client.test") };
const nobody = { ca: authority.certificate };
const stranger = { ca: authority.certificate, own: createAuthority("another").issue("client.test") };

const files = { "own.pem": own.certificate, "own.key": own.key, "clients.pem": authority.certificate };
const paths = ({ path }: TestFolder) => ({ certificateFile: `${path}/own.pem`, keyFile: `${path}/own.key` });
const mutual = (folder: TestFolder) => ({ ...paths(folder), clientCaFile: `${folder.path}/clients.pem` });

interface Serving extends AsyncDisposable {
  readonly server: XdsServer;
  readonly events: readonly ServerEvent[];
  readonly grpc: number;
  readonly rest: number;
}

async function serve(options: ServerOptions): Promise<Serving> {
  const server = createServer(options);
  const events: ServerEvent[] = [];
  server.on((event) => events.push(event));
  server.config.set([create(ClusterSchema, { name: "a" })]);
  const listening = await server.listen({ grpc: "127.0.0.1:0", rest: "127.0.0.1:0" });
  const port = (address: string) => Number(address.split(":")[1]);
  return {
    server,
    events,
    grpc: port(listening.grpc),
    rest: port(listening.rest),
    [Symbol.asyncDispose]: () => server.close({ timeoutMs: 500 }),
  };
}

const reasons = (events: readonly ServerEvent[]) =>
  events.flatMap((event) => (event.kind === "handshake-failed" ? event.reason : []));

describe("a server's certificates", () => {
  it("let in over gRPC and REST who shows one that is trusted, and say why others were not", async () => {
    await using folder = await testFolder(files);
    await using serving = await serve({ tls: mutual(folder) });
    const { grpc, rest, events } = serving;
    assert.deepEqual(await clustersByGrpc(grpc, known), ["a"]);
    assert.equal(await statusByRest(rest, known), 200);
    for (const port of [grpc, rest]) {
      const before = reasons(events).length;
      for (const client of [nobody, stranger]) {
        const answer = await (port === grpc ? clustersByGrpc : statusByRest)(port, client);
        assert.equal(typeof answer, "string");
      }
      const socket = connect(port, "127.0.0.1", () => socket.write("GET / HTTP/1.1\r\n\r\n"));
      socket.on("error", () => {}).resume();
      const untrusted = /^its certificate is not trusted \(/;
      await waitFor("the reasons to be told", () => {
        const told = reasons(events).slice(before);
        const isTold = ["it showed no certificate", "it does not speak TLS"].every((each) => told.includes(each));
        return isTold && told.some((each) => untrusted.test(each));
      });
      assert.ok(events.every((event) => event.kind !== "handshake-failed" || /^127\.0\.0\.1:\d+$/.test(event.peer)));
    }
  });

  it("let nobody in whose authority has expired, say so, and let in those of the others", async () => {
    const old = createAuthority("of last year", "ecdsa", [-300, -1]);
    const both = { ...files, "clients.pem": old.certificate + authority.certificate };
    await using folder = await testFolder(both);
    await using serving = await serve({ tls: mutual(folder) });
    const { grpc, rest, events } = serving;
    const ofOld = { ca: authority.certificate, own: old.issue("client.test") };
    for (const answer of [await clustersByGrpc(grpc, ofOld), await statusByRest(rest, ofOld)])
      assert.equal(typeof answer, "string");
    const why = "its certificate, or that of an authority, is not trusted (CERT_HAS_EXPIRED)";
    await waitFor("the reasons to be told", () => reasons(events).length >= 2);
    assert.ok(
      reasons(events).every((reason) => reason === why),
      reasons(events).join(),
    );
    assert.deepEqual(await clustersByGrpc(grpc, known), ["a"]);
  });

  it("are replaced by what was moved into their place", async () => {
    await using folder = await testFolder(files);
    await using serving = await serve({ tls: mutual(folder) });
    const { grpc, rest, events } = serving;
    const isRenewed = () => events.some(({ kind }) => kind === "certificates-renewed");
    await folder.write("own.pem", later.certificate);
    await folder.write("own.key", later.key);
    await waitFor("the renewal", isRenewed);
    assert.equal(await serialAt(rest, known), later.serial);
    const serials = await Promise.all(Array.from({ length: 20 }, () => serialAt(grpc, known)));
    assert.deepEqual([...new Set(serials)], [later.serial]);
  });

  it("stay as they were while what lies there does not fit, which is told once", async () => {
    await using folder = await testFolder(files);
    const clock = manualClock();
    await using serving = await serve({ clock, tls: paths(folder) });
    const { grpc, rest, events } = serving;
    assert.deepEqual(await clustersByGrpc(grpc, nobody), ["a"]);
    assert.equal(await statusByRest(rest, nobody), 200);
    /** Looks at the files, and waits until that is over: then the next look is waited for. */
    const look = async () => {
      const before = clock.waiting;
      clock.advance(2_000);
      await waitFor("the files to be looked at", () => clock.waiting === before);
    };
    const told = () => events.flatMap((event) => (event.kind === "certificates-refused" ? event.findings : []));

    await folder.write("own.pem", later.certificate);
    for (let round = 0; round < 3; round++) await look();
    assert.equal(await serialAt(grpc, nobody), own.serial);
    assert.deepEqual(
      told().map(({ code, file }) => ({ code, file })),
      [{ code: "XDSKIT_CREDENTIALS_FILE", file: `${folder.path}/own.pem, ${folder.path}/own.key` }],
    );
    await folder.remove("own.key");
    await look();
    assert.equal(told().length, 2);
    assert.match(told()[1]?.message ?? "", /it does not exist/);

    await folder.write("own.key", later.key);
    await look();
    assert.equal(await serialAt(grpc, nobody), later.serial);
    assert.equal(told().length, 2);
    const [renewed, ...more] = events.filter((event) => event.kind === "certificates-renewed");
    assert.ok(renewed !== undefined && more.length === 0 && renewed.notAfter > new Date());
    const all = JSON.stringify([told(), renewed, reasons(events)]);
    for (const line of [own, later].flatMap(({ key }) => contentLines(key))) assert.ok(!all.includes(line));
  });

  it("stay as they were, valid, while one lies there that has expired or is not valid yet", async () => {
    const valid = authority.issueFor("localhost", [-30, 30]);
    await using folder = await testFolder({ "own.pem": valid.certificate, "own.key": valid.key });
    const clock = manualClock();
    await using serving = await serve({ clock, tls: paths(folder) });
    const look = async () => {
      const before = clock.waiting;
      clock.advance(2_000);
      await waitFor("the files to be looked at", () => clock.waiting === before);
    };
    const place = async (days: readonly [number, number]) => {
      const next = authority.issueFor("localhost", days);
      await folder.write("own.pem", next.certificate);
      await folder.write("own.key", next.key);
      for (let round = 0; round < 2; round++) await look();
    };
    const told = () => serving.events.flatMap((event) => (event.kind === "certificates-refused" ? event.findings : []));
    const words = [/has expired/, /is not valid before/];
    for (const [index, days] of (
      [
        [-3, -1],
        [1, 3],
      ] as const
    ).entries()) {
      await place(days);
      assert.equal(await serialAt(serving.grpc, nobody), valid.serial);
      assert.equal(told().length, index + 1);
      assert.match(told()[index]?.message ?? "", words[index] ?? /^$/);
      assert.equal(told()[index]?.file, `${folder.path}/own.pem`);
    }
    await place([-1, 60]);
    assert.notEqual(await serialAt(serving.grpc, nobody), valid.serial);
    assert.equal(serving.events.filter(({ kind }) => kind === "certificates-renewed").length, 1);
  });

  it("are told to be right again once the files hold those in use", async () => {
    await using folder = await testFolder(files);
    const clock = manualClock();
    await using serving = await serve({ clock, tls: paths(folder) });
    const look = async () => {
      const before = clock.waiting;
      clock.advance(2_000);
      await waitFor("the files to be looked at", () => clock.waiting === before);
    };
    for (const text of ["", own.certificate]) {
      await folder.write("own.pem", text);
      for (let round = 0; round < 2; round++) await look();
    }
    assert.deepEqual(
      serving.events.map(({ kind }) => kind).filter((kind) => kind.startsWith("certificates-")),
      ["certificates-refused", "certificates-mended"],
    );
    assert.equal(await serialAt(serving.grpc, nobody), own.serial);
  });

  it("are told of once where clients do not trust them for the time that it is, or soon will not", async () => {
    const states = [
      ["expired", [-3, -1]],
      ["not-yet-valid", [1, 3]],
      ["expires-soon", [-30, 0.9]],
      [undefined, [-30, 1.1]],
      // For a few hours: it is renewed well before its last fifth.
      [undefined, [-0.1, 0.1]],
      ["expires-soon", [-0.1, 0.01]],
    ] as const;
    const [first, ...renewals] = states.map(([, days]) => days);
    const begun = authority.issueFor("localhost", first ?? [0, 0]);
    await using folder = await testFolder({ "own.pem": begun.certificate, "own.key": begun.key });
    const clock = manualClock();
    await using serving = await serve({ clock, tls: paths(folder) });
    const renewed = () => serving.events.filter(({ kind }) => kind === "certificates-renewed").length;
    const look = async () => {
      const before = clock.waiting;
      clock.advance(2_000);
      await waitFor("the files to be looked at", () => clock.waiting === before);
    };
    for (const [index, days] of renewals.entries()) {
      const next = authority.issueFor("localhost", days);
      await folder.write("own.pem", next.certificate);
      await folder.write("own.key", next.key);
      await look();
      await look();
      assert.equal(renewed(), index + 1);
    }
    const told = serving.events.filter((event) => event.kind === "certificate-untimely");
    assert.deepEqual(
      told.map(({ state, file }) => `${state} ${file}`),
      states.flatMap(([state]) => (state === undefined ? [] : `${state} ${folder.path}/own.pem`)),
    );
    assert.ok(told.every(({ notBefore, notAfter }) => notBefore < notAfter));
  });

  it("are told of again where only those of clients were replaced, which does not make them last longer", async () => {
    const soon = authority.issueFor("localhost", [-30, 0.9]);
    await using folder = await testFolder({ ...files, "own.pem": soon.certificate, "own.key": soon.key });
    const clock = manualClock();
    await using serving = await serve({ clock, tls: mutual(folder) });
    const troubles = createTroubles(serving.server);
    const look = async () => {
      const before = clock.waiting;
      clock.advance(2_000);
      await waitFor("the files to be looked at", () => clock.waiting === before);
    };
    await folder.write("clients.pem", createAuthority("another").certificate);
    await look();
    await look();
    assert.deepEqual(
      serving.events.map(({ kind }) => kind).filter((kind) => kind.startsWith("certificate")),
      ["certificate-untimely", "certificates-renewed", "certificate-untimely"],
    );
    assert.deepEqual(
      troubles.now().map(({ title }) => title),
      ["The server's certificate expires soon"],
    );
  });

  it("are the newest for REST too where they are renewed while gRPC begins to listen", async () => {
    await using folder = await testFolder(files);
    const clock = manualClock();
    const server = createServer({ clock, tls: paths(folder) });
    const renewed = new Promise<void>((resolve) => {
      server.on(({ kind }) => kind === "certificates-renewed" && resolve());
    });
    const listening = mock.method(Server.prototype, "listen", function (this: Server, ...args: never[]) {
      listening.mock.restore();
      void (async () => {
        await folder.write("own.pem", later.certificate);
        await folder.write("own.key", later.key);
        clock.advance(2_000);
        await within("the renewal", renewed);
        this.listen(...args);
      })();
      return this;
    });
    try {
      const { grpc, rest } = await server.listen({ grpc: "127.0.0.1:0", rest: "127.0.0.1:0" });
      for (const address of [grpc, rest])
        assert.equal(await serialAt(Number(address.split(":")[1]), nobody), later.serial);
    } finally {
      listening.mock.restore();
      await server.close({ timeoutMs: 500 });
    }
  });

  it("stand in the settings of a relay, relative to them, and those who ask show theirs", async () => {
    await using folder = await testFolder({
      ...files,
      "cds.yaml": `resources:\n- ${clusterYaml("a").trim().replaceAll("\n", "\n  ")}\n`,
      "client.pem": known.own.certificate,
      "client.key": known.own.key,
      "relay.yaml": "tls: { cert: own.pem, key: own.key, client_ca: clients.pem }\n",
    });
    const at = (name: string) => `${folder.path}/${name}`;
    const ports = ["--grpc", "127.0.0.1:0", "--rest", "off", "--admin", "127.0.0.1:0"];
    const origin = ["--path", `cluster=${at("cds.yaml")}`, "--wildcard", "cluster"];
    await using relay = servesHere("relay", ...origin, "--settings", at("relay.yaml"), ...ports);
    const [, port] = await relay.seen(/^grpc listening on 127\.0\.0\.1:(\d+)$/m);
    await relay.seen(/^ready$/m);
    await relay.seen(/bootstrap --server \S+ --tls-ca FILE --tls-cert FILE --tls-key FILE > envoy\.yaml/, "err");
    const ask = ["get", "--type", "cluster", "--server", `localhost:${port}`, "--output", "name"];
    const pair = ["--tls-cert", at("client.pem"), "--tls-key", at("client.key")];
    const told = await inProcessEnds(...ask, "--tls-ca", at("clients.pem"), ...pair);
    assert.deepEqual([told.status, told.out], [0, "cluster/a\n"], told.err);
    const tls = ["--tls-ca", at("clients.pem"), ...pair];
    const status = await inProcessEnds(
      "status",
      "--server",
      `127.0.0.1:${port}`,
      ...tls,
      "--tls-server-name",
      "localhost",
    );
    assert.deepEqual([status.status, status.out, status.err], [0, "no nodes\n", ""]);
    const wrong = await inProcessEnds("status", "--server", `localhost:${port}`, "--tls-ca", at("client.key"));
    assert.deepEqual([wrong.status, wrong.out], [2, ""]);
    assert.match(wrong.err, /client\.key: holds no certificates that can be read/);
    const unknown = await inProcessEnds(...ask, "--tls-ca", at("clients.pem"), "--timeout", "2s");
    assert.notEqual(unknown.status, 0);
    await relay.seen(/connection refused.*it showed no certificate/, "err");
  });

  it("are asked for and told of in words of ours by those who ask an IP address, and who have none of their own", async () => {
    const { certificate, key } = authority.issue("localhost", "IP:127.0.0.1");
    const { certificate: other } = createAuthority("another");
    await using folder = await testFolder({ ...files, "own.pem": certificate, "own.key": key, "other.pem": other });
    await using serving = await serve({ tls: mutual(folder) });
    const at = (name: string) => `${folder.path}/${name}`;
    const server = ["--server", `127.0.0.1:${serving.grpc}`];
    const pair = ["--tls-cert", at("own.pem"), "--tls-key", at("own.key")];
    const ask = inProcessEnds;
    const trusting = [...server, "--tls-ca", at("clients.pem")];
    /** The server's words may be lost, where it closes the connection upon what it was sent meanwhile. */
    const untilTold = async (attempts = 10): Promise<Ended> => {
      const ended = await ask("status", ...trusting);
      return attempts === 0 || ended.err.includes("TLS with") ? ended : await untilTold(attempts - 1);
    };
    const [known, bare, unknown, asked] = await Promise.all([
      ask("status", ...trusting, ...pair),
      untilTold(),
      ask("status", ...server, "--tls-ca", at("other.pem"), ...pair),
      ask("get", "--type", "cluster", ...trusting, "--timeout", "4s"),
    ]);
    assert.deepEqual([known.status, known.out, known.err], [0, "no nodes\n", ""]);
    for (const { status, out, err } of [bare, asked]) {
      assert.deepEqual([status, out], [1, ""]);
      assert.match(
        err,
        /TLS with 127\.0\.0\.1 failed: it wants a certificate of the client \(.*--tls-cert and --tls-key\)/,
      );
    }
    assert.match(unknown.err, /not signed by anyone who is trusted \(caFile, --tls-ca\)/);
    for (const { err } of [bare, unknown, asked])
      assert.doesNotMatch(err, /DEP0123|SSL routines|error:0A|nobody answers|XdskitError:/);
  });

  it("keep the command from starting where they cannot be used, which it says with the file", async () => {
    await using folder = await testFolder({
      "a.yaml": clusterYaml("a"),
      "own.pem": own.certificate,
      "own.key": later.key,
      "xdskit.yaml": "tls: { cert: own.pem, key: own.key }\n",
    });
    const ports = ["--grpc", "127.0.0.1:0", "--rest", "off", "--admin", "127.0.0.1:0"];
    const { status, out, err } = await inProcessEnds("serve", folder.path, ...ports);
    assert.equal(status, 2);
    assert.ok(err.includes(`${folder.path}/own.key: the certificate and the key do not fit together`), err);
    for (const line of contentLines(later.key)) assert.ok(!(out + err).includes(line));
  });

  it("are waited for by nobody when the server closes: who is in the middle of a handshake goes at once", async () => {
    await using folder = await testFolder(files);
    const serving = await serve({ tls: paths(folder) });
    const sockets = [serving.grpc, serving.rest].map((port) => connect(port, "127.0.0.1"));
    const gone = sockets.map((socket) => new Promise((resolve) => socket.on("error", () => {}).on("close", resolve)));
    await Promise.all(sockets.map((socket) => once(socket, "connect")));
    // The server knows of an accepted client a moment after the client does.
    assert.equal(typeof (await statusByRest(serving.rest, { ca: stranger.ca })), "number");
    assert.deepEqual(await clustersByGrpc(serving.grpc, nobody), ["a"]);
    await within("the server to close", serving.server.close({ timeoutMs: 600_000 }));
    await within("the connections to be gone", Promise.all(gone));
    // Not by the time that a handshake may take.
    assert.deepEqual(reasons(serving.events), []);
  });

  it("keep a server from listening where they cannot be used", async () => {
    await using folder = await testFolder({
      ...files,
      "broken.pem": "SECRET\n",
      "half.pem": authority.certificate + authority.certificate.slice(0, 100) + authority.certificate,
    });
    const binary = `${folder.path}/binary.pem`;
    await writeFile(binary, new X509Certificate(authority.certificate).raw);
    const lines = authority.certificate.split("\n").length;
    const cases = [
      [
        { ...paths(folder), certificateFile: `${folder.path}/gone.pem` },
        /gone\.pem: cannot be read: it does not exist/,
      ],
      [{ ...paths(folder), keyFile: `${folder.path}/broken.pem` }, /broken\.pem: holds no private key/],
      [{ ...paths(folder), clientCaFile: `${folder.path}/broken.pem` }, /broken\.pem: holds no certificates/],
      // Which would trust the first authority only, without a word.
      [
        { ...paths(folder), clientCaFile: `${folder.path}/half.pem` },
        new RegExp(`half\\.pem:${lines}: certificate 2 of 3 cannot`),
      ],
      // Which would let nobody in, without a word.
      [{ ...paths(folder), clientCaFile: binary }, /binary\.pem: holds no certificates/],
    ] as const;
    for (const [tls, expected] of cases) {
      await assert.rejects(serve({ tls }), (error) => {
        assert.ok(error instanceof XdskitError && error.code === "XDSKIT_CREDENTIALS_FILE", String(error));
        assert.match(error.message, expected);
        assert.doesNotMatch(error.message, /SECRET/);
        return true;
      });
    }
    // As a program without types may say it.
    for (const wrong of [{ certificateFile: "a" }, { keyFile: "a" }, null, {}]) {
      assert.throws(
        () => createServer({ tls: wrong as unknown as ServerOptions["tls"] }),
        (error) => error instanceof XdskitError && error.code === "XDSKIT_SERVER_OPTION",
        JSON.stringify(wrong),
      );
    }
    assert.throws(
      () => createServer({ tls: { certificateFile: "own.pem", keyFile: own.key } }),
      (error) => {
        assert.ok(error instanceof XdskitError && error.code === "XDSKIT_CREDENTIALS", String(error));
        for (const line of contentLines(own.key)) assert.ok(!error.message.includes(line));
        return true;
      },
    );
  });
});
