import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { XdskitError } from "@xdskit/api";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { ClusterLoadAssignmentSchema } from "@xdskit/api/envoy/config/endpoint/v3/endpoint";
import { createServer, type ServerEvent, type ServerOptions, type XdsServer } from "@xdskit/server";
import type { RestServerSettings } from "../../options/client-options.js";
import { type RecordedUpstream, recordUpstream, typeNamed } from "../../testing/scripted/recorded-upstream.js";
import { waitFor } from "../../testing/wait-for.js";
import type { UpstreamContext, UpstreamSink } from "../contract/upstream.js";
import { createRestUpstream } from "./rest-upstream.js";

const cds = typeNamed("cds");
const eds = typeNamed("eds");

interface Running extends RecordedUpstream {
  readonly server: XdsServer;
  readonly events: readonly ServerEvent[];
  told(...lines: readonly string[]): Promise<void>;
}

async function withServer(
  run: (running: Running) => Promise<void>,
  options: {
    server?: ServerOptions;
    settings?: Partial<RestServerSettings>;
    context?: Partial<UpstreamContext>;
    sink?: Partial<Pick<UpstreamSink, "acknowledge">>;
  } = {},
): Promise<void> {
  const server = createServer(options.server);
  const events: ServerEvent[] = [];
  server.on((event) => events.push(event));
  const { rest } = await server.listen({ rest: "127.0.0.1:0" });
  // A busy machine answers late, too.
  const always = { kind: "rest" as const, requestTimeoutMs: 30_000, refreshDelayMs: 20 };
  const settings = { ...always, url: `http://${rest}`, ...options.settings };
  const recorded = recordUpstream(
    (context, sink) => createRestUpstream(settings, context, sink),
    options.context,
    options.sink,
  );
  let at = 0;
  try {
    await run({
      ...recorded,
      server,
      events,
      async told(...expected) {
        const { lines } = recorded;
        await waitFor(
          () => `${expected.join("\n")}\nbut there is\n${lines.slice(at).join("\n")}`,
          () => lines.length >= at + expected.length,
        );
        const since = lines.slice(at).map((line) => line.replaceAll(/@\w+/g, ""));
        at = lines.length;
        assert.deepEqual(since, expected);
      },
    });
  } finally {
    await recorded.upstream.close();
    await server.close({ timeoutMs: 500 });
  }
}

const cluster = (name: string, altStatName = "") => create(ClusterSchema, { name, altStatName });

/** The clients' texts about their rejections. */
function rejections(events: readonly ServerEvent[]): readonly string[] {
  return events.flatMap((event) => (event.kind === "rejected" ? [event.message] : []));
}

suite("polls of our own server", () => {
  for (const api of ["v3", "v2"] as const) {
    test(`polls bring the resources, their changes and removals (${api})`, () =>
      withServer(
        async ({ upstream, server, told, updates }) => {
          server.config.set([cluster("a"), cluster("b")]);
          upstream.subscribe(cds, ["*"]);
          await told("connected cluster", "+a +b");
          const [resource] = updates[0]?.upserted ?? [];
          assert.equal(resource?.message.$typeName, "envoy.config.cluster.v3.Cluster");
          assert.match(resource?.typeUrl ?? "", api === "v3" ? /config\.cluster\.v3/ : /envoy\.api\.v2/);
          assert.notEqual(resource?.version, "");
          server.config.set([cluster("a", "2"), cluster("b")]);
          await told("+a");
          server.config.remove({ type: "cds", name: "b" });
          await told("-b");
          const [status] = upstream.status();
          assert.equal(status?.wildcard, true);
          assert.deepEqual([...(status?.resources.keys() ?? [])], ["a"]);
        },
        { settings: { api } },
      ));
  }

  test("polls ask anew when names come, also while a poll is parked", () =>
    withServer(
      async ({ upstream, server, told }) => {
        const assignment = (clusterName: string) => create(ClusterLoadAssignmentSchema, { clusterName });
        server.config.set([assignment("a"), assignment("b"), assignment("c")]);
        upstream.subscribe(eds, ["a"]);
        await told("connected endpoint", "+a");
        await waitFor("the poll to be parked", () => server.stats().polls.some(({ parked }) => parked > 0));
        upstream.subscribe(eds, ["b"]);
        upstream.subscribe(eds, ["c"]);
        await told("+b +c");
      },
      { server: { rest: { holdMs: 60_000 } }, settings: { requestTimeoutMs: 60_000 } },
    ));

  test("polls report that a name does not exist when its time is over (rule 166)", () =>
    withServer(
      async ({ upstream, server, told }) => {
        server.config.set([create(ClusterLoadAssignmentSchema, { clusterName: "a" })]);
        upstream.subscribe(eds, ["a", "none"]);
        await told("connected endpoint", "+a", "!none(timer)");
      },
      { server: { rest: { holdMs: 0 } }, context: { absentAfterMs: 300 } },
    ));

  test("polls say why a resource is rejected, keep the good content, and do not spin (rule 150)", () =>
    withServer(
      async ({ upstream, server, lines, events }) => {
        server.config.set([cluster("a")]);
        upstream.subscribe(cds, ["*"]);
        await waitFor("a", () => lines.some((line) => line.startsWith("+a")));
        server.config.set([cluster("a", "forbidden"), cluster("b")]);
        await waitFor("the rejection at the server", () => rejections(events).length > 0);
        assert.match(rejections(events)[0] ?? "", /it is forbidden/);
        assert.match(lines.join("\n"), /rejected cluster \S+: .*a: .*it is forbidden/);
        const [status] = upstream.status();
        assert.deepEqual([status?.states("a"), status?.states("b")], ["rejected", "current"]);
        server.config.set([cluster("a", "good again")]);
        await waitFor("what is good again", () => upstream.status()[0]?.states("a") === "current");
      },
      {
        context: {
          check: (_, __, message) =>
            (message as { altStatName?: string }).altStatName === "forbidden"
              ? [{ code: "XDSKIT_RULE_BROKEN", severity: "error", message: "it is forbidden" }]
              : [],
        },
      },
    ));

  test("polls acknowledge when they are told to", async () => {
    let release: (error?: Error) => void = () => {};
    const acknowledge = () =>
      new Promise<void>((resolve, reject) => (release = (error) => (error ? reject(error) : resolve())));
    await withServer(
      async ({ upstream, server, told, events }) => {
        server.config.set([cluster("a")]);
        upstream.subscribe(cds, ["*"]);
        await told("connected cluster", "+a");
        assert.ok(!events.some(({ kind }) => kind === "acknowledged"));
        release();
        await waitFor("the acknowledgement", () => events.some(({ kind }) => kind === "acknowledged"));
        server.config.set([cluster("a", "2")]);
        await told("+a");
        release(new Error("downstream says no"));
        await waitFor("the rejection", () => rejections(events).includes("downstream says no"));
      },
      { sink: { acknowledge } },
    );
  });

  test("polls survive an absence of the server", async () => {
    const server = createServer();
    const { rest } = await server.listen({ rest: "127.0.0.1:0" });
    server.config.set([cluster("a")]);
    const settings = { kind: "rest" as const, url: `http://${rest}/`, refreshDelayMs: 20 };
    const { upstream, lines } = recordUpstream((context, sink) => createRestUpstream(settings, context, sink));
    let again: XdsServer | undefined;
    try {
      upstream.subscribe(cds, ["*"]);
      await waitFor("a", () => lines.some((line) => line.startsWith("+a")));
      await server.close({ timeoutMs: 100 });
      await waitFor("the failure", () => lines.some((line) => line.startsWith("failed cluster:")));
      assert.match(lines.find((line) => line.startsWith("disconnected")) ?? "", /ECONNREFUSED|hang up|503|closing/i);
      again = createServer();
      await again.listen({ rest: rest ?? "" });
      again.config.set([cluster("b")]);
      await waitFor(
        () => `what is there now: ${lines.join("\n")}`,
        () => lines.some((line) => /^\+b\S* -a$/.test(line)),
      );
      assert.equal(lines.filter((line) => line === "connected cluster").length, 2);
    } finally {
      await upstream.close();
      await server.close({ timeoutMs: 100 });
      await again?.close({ timeoutMs: 100 });
    }
  });

  test("polls ask for everything again after an unsubscription, also in v2, whose servers are not told of it", () =>
    withServer(
      async ({ upstream, server, lines }) => {
        server.config.set([cluster("a"), cluster("b")]);
        const have = () => [...(upstream.status()[0]?.resources.keys() ?? [])].sort().join(" ");
        upstream.subscribe(cds, ["*"]);
        upstream.subscribe(cds, ["a"]);
        await waitFor("all", () => have() === "a b");
        upstream.unsubscribe(cds, ["*"]);
        assert.equal(have(), "a");
        upstream.subscribe(cds, ["*"]);
        await waitFor(
          () => `all again, and there is ${have()}\n${lines.join("\n")}`,
          () => have() === "a b",
        );
        assert.ok(!lines.some((line) => line.startsWith("failed")), lines.join("\n"));
      },
      { settings: { api: "v2" } },
    ));

  test("polls end when nobody wants anything any more", () =>
    withServer(async ({ upstream, server, told }) => {
      server.config.set([cluster("a")]);
      upstream.subscribe(cds, ["a"]);
      await told("connected cluster", "+a");
      upstream.unsubscribe(cds, ["a"]);
      await told("disconnected cluster");
      await waitFor("the poll to be gone", () => server.stats().polls.every(({ parked }) => parked === 0));
      upstream.subscribe(cds, ["a"]);
      await told("connected cluster", "+a");
    }));
});

test("a type that has no path is refused with a clear error", async () => {
  for (const [type, api, error] of [
    ["vhds", "v3", "failed virtual-host: virtual-host: VHDS has no path over REST [XDSKIT_POLL_UNSUPPORTED]"],
    ["ecds", "v2", "failed extension-config: extension-config: ECDS does not exist in v2 [XDSKIT_POLL_UNSUPPORTED]"],
  ] as const) {
    const settings = { kind: "rest" as const, url: "http://127.0.0.1:1", api };
    const { upstream, lines } = recordUpstream((context, sink) => createRestUpstream(settings, context, sink));
    upstream.subscribe(typeNamed(type), ["a"]);
    await waitFor("the error", () => lines.length > 0);
    assert.deepEqual(lines, [error]);
    await upstream.close();
  }
});

test("unusable settings are refused, and the error shows no secret", () => {
  const make = (settings: Partial<RestServerSettings>) => () =>
    recordUpstream((context, sink) =>
      createRestUpstream({ kind: "rest", url: "http://a", ...settings }, context, sink),
    );
  const refused = (code: string) => (error: unknown) =>
    error instanceof XdskitError && error.code === code && !error.message.includes("hunter2");
  assert.throws(make({ url: "hunter2" }), refused("XDSKIT_CLIENT_OPTION"));
  assert.throws(make({ url: "ftp://user:hunter2@a" }), refused("XDSKIT_CLIENT_OPTION"));
  assert.throws(make({ headers: { authorization: "hunter2\n" } }), refused("XDSKIT_CREDENTIALS"));
  assert.throws(make({ headers: { "a b": "hunter2" } }), refused("XDSKIT_CREDENTIALS"));
  assert.throws(make({ tls: {} }), refused("XDSKIT_CREDENTIALS"));
  const { upstream } = make({ url: "https://user:hunter2@xds.example:8443/base/" })();
  assert.equal(upstream.server, "https://xds.example:8443/base");
});
