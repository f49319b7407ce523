import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create } from "@bufbuild/protobuf";
import { createResource, writeResources, XdskitError } from "@xdskit/api";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { createMemoryStore, type Store } from "@xdskit/server";
import { cluster, runningApi } from "../testing/running-api.js";

const resource = (name: string, seconds = 1) =>
  createResource(create(ClusterSchema, { name, connectTimeout: { seconds: BigInt(seconds) } }));

const route = (to: string) => ({
  "@type": "type.googleapis.com/envoy.config.route.v3.RouteConfiguration",
  name: "routes",
  virtualHosts: [{ name: "all", domains: ["*"], routes: [{ match: { prefix: "/" }, route: { cluster: to } }] }],
});

const many = (count: number) => Array.from({ length: count }, (_, index) => cluster(`many-${index}`));

const info = { author: "me", cause: { kind: "api", caller: "" }, message: "", time: 1 } as const;

/** The variant of a cluster for the clients of an environment. */
const variant = (name: string, env: string) => ({
  "@type": "type.googleapis.com/envoy.service.discovery.v3.Resource",
  resourceName: { name, dynamicParameterConstraints: { constraint: { key: "env", value: env } } },
  resource: cluster(name),
});

describe("a change", () => {
  it("says what nodes are served before and after it where another layer has a resource, too", async () => {
    await using api = await runningApi({ folder: [resource("web", 1)] });
    const ask = async (layer: string, seconds: number) => {
      const change = { upsert: [{ ...cluster("web"), connectTimeout: `${seconds}s` }], dryRun: true };
      const { body } = await api.ask("POST", `layers/${layer}/changes`, change);
      const [{ change: kind, before, served }] = body.changed;
      const shown = served?.map(({ groups, before: from, after: to }: Record<string, { connectTimeout: string }>) => [
        groups,
        from?.connectTimeout,
        to?.connectTimeout,
      ]);
      return [kind, before?.connectTimeout ?? null, shown];
    };
    assert.deepEqual(await ask("api", 5), ["added", null, [[["all"], "1s", "5s"]]]);
    // Below the folder nobody is served it.
    assert.deepEqual(await ask("under", 5), ["added", null, []]);
    // What the folder itself is served needs no more words.
    assert.deepEqual(await ask("folder", 5), ["changed", "1s", undefined]);
  });

  it("makes one served revision of many resources, and answers with its stages", async () => {
    await using api = await runningApi();
    const upsert = [cluster("a"), route("a")];
    const { status, body } = await api.ask("POST", "layers/api/changes", { upsert, message: "first", author: "me" });
    assert.equal(status, 200, JSON.stringify(body));
    const { revision, changed, stages, findings } = body;
    const { layer, number, parent, author, cause, message, upserted } = revision;
    assert.deepEqual(
      { layer, number, parent, author, cause, message, upserted },
      {
        layer: "api",
        number: 1,
        parent: null,
        author: "me",
        message: "first",
        upserted: 2,
        cause: { kind: "api", caller: "127.0.0.1" },
      },
    );
    assert.deepEqual(
      changed.map(({ name, change, before }: { name: string; change: string; before: unknown }) => [
        name,
        change,
        before,
      ]),
      [
        ["a", "added", null],
        ["routes", "added", null],
      ],
    );
    assert.deepEqual(changed[0].after, cluster("a"));
    assert.equal(stages[0].group, "all");
    assert.equal(stages[0].stages.length, 2);
    assert.deepEqual(findings, []);
    assert.equal(api.server.snapshotOf("all")?.of(resource("a").type).get("a")?.version, resource("a").version);
    const shown = await api.ask("GET", `revisions/${revision.id}`);
    assert.deepEqual(shown.body, { ...revision, changes: changed });
  });

  it("removes by short names and type URLs, and replaces all on request", async () => {
    await using api = await runningApi();
    const post = (body: object) => api.ask("POST", "layers/api/changes", body);
    await post({ upsert: [cluster("a"), cluster("b"), cluster("c")] });
    const removed = await post({
      delete: [
        { type: "cds", name: "a" },
        { type: cluster("b")["@type"], name: "b" },
      ],
    });
    assert.equal(removed.body.revision.removed, 2);
    const replaced = await post({ upsert: [cluster("d")], replace: true });
    assert.deepEqual(
      replaced.body.changed.map(({ name, change }: { name: string; change: string }) => `${change} ${name}`),
      ["removed c", "added d"],
    );
    const { resources } = (await api.ask("GET", "layers/api/resources")).body;
    assert.deepEqual(
      resources.map(({ name }: { name: string }) => name),
      ["d"],
    );
  });

  it("makes no revision if it alters nothing", async () => {
    await using api = await runningApi();
    const { body: first } = await api.ask("POST", "layers/api/changes", { upsert: [cluster("a")] });
    const { body: second } = await api.ask("POST", "layers/api/changes", { upsert: [cluster("a")] });
    assert.deepEqual([second.revision, second.changed, second.stages], [first.revision, [], []]);
    const { body: none } = await api.ask("POST", "layers/under/changes", { delete: [{ type: "cds", name: "x" }] });
    assert.deepEqual([none.revision, none.changed], [null, []]);
  });

  it("can be sent in YAML and as a DiscoveryResponse, too", async () => {
    await using api = await runningApi();
    const yaml = `message: by yaml\nupsert:\n  - "@type": ${cluster("y")["@type"]}\n    name: y\n    connect_timeout: 1s\n`;
    const inYaml = await api.ask("POST", "layers/api/changes", yaml, { "content-type": "application/yaml" });
    assert.equal(inYaml.body.revision.message, "by yaml");
    const binary = writeResources([resource("p"), resource("q")], "binary");
    const sent = await api.ask("POST", "layers/api/changes?message=by%20protobuf", binary, {
      "content-type": "application/x-protobuf",
    });
    assert.equal(sent.body.revision.message, "by protobuf");
    assert.equal(sent.body.changed.length, 2);
    const other = await api.ask("POST", "layers/api/changes", "a,b", { "content-type": "text/csv" });
    assert.equal(other.status, 415);
    const long = `message: ${"x".repeat(5_000_000)}\n`;
    const large = await api.ask("POST", "layers/api/changes", long, { "content-type": "application/yaml" });
    assert.deepEqual([large.status, large.body.code], [413, "XDSKIT_API_REQUEST"]);
  });

  it("changes nothing if it has errors, and says where each of them is", async () => {
    await using api = await runningApi();
    const lines = ['{"upsert": [', JSON.stringify(cluster("good")), ",", JSON.stringify(cluster("bad", "-1s")), "]}"];
    const { status, headers, body } = await api.ask("POST", "layers/api/changes", lines.join("\n"), {
      "content-type": "application/json",
    });
    assert.deepEqual([status, headers.get("content-type")], [422, "application/problem+json"]);
    const [{ code, line, field, resource: name, file }] = body.findings;
    assert.deepEqual([code, file, line, field, name], ["XDSKIT_RULE_BROKEN", "body", 4, "connect_timeout", "bad"]);
    assert.equal(body.code, "XDSKIT_RULE_BROKEN");
    assert.equal((await api.ask("GET", "layers/api/resources")).body.resources.length, 0);
    const twice = await api.ask("POST", "layers/api/changes", { upsert: [cluster("a"), cluster("a", "2s")] });
    assert.deepEqual([twice.status, twice.body.code], [422, "XDSKIT_DUPLICATE_RESOURCE"]);
    assert.equal((await api.ask("GET", "revisions?layer=api")).body.revisions.length, 0);
  });

  it("has another status if it cannot be understood than if it breaks a rule", async () => {
    await using api = await runningApi();
    const wrong: readonly [body: string, code: string, field: string | undefined][] = [
      ['{"upsert": []', "XDSKIT_SYNTAX", undefined],
      ['{"upserts": []}', "XDSKIT_API_REQUEST", "upserts"],
      ['{"upsert": {}}', "XDSKIT_API_REQUEST", "upsert"],
      ['{"delete": [{"type": "cds"}]}', "XDSKIT_API_REQUEST", "delete[0]"],
      ['{"dryRun": "yes"}', "XDSKIT_API_REQUEST", "dryRun"],
      ["[]", "XDSKIT_API_REQUEST", undefined],
    ];
    for (const [text, code, field] of wrong) {
      const type = { "content-type": "application/json" };
      const { status, body } = await api.ask("POST", "layers/api/changes", text, type);
      assert.deepEqual([status, body.code], [400, code], text);
      assert.ok((body.findings[0].field ?? "").startsWith(field ?? ""), `${text}: ${JSON.stringify(body)}`);
    }
    const unknown = await api.ask("POST", "layers/api/changes?dry=true", {});
    assert.deepEqual([unknown.status, unknown.body.findings[0].field], [400, "parameter"]);
    const type = await api.ask("POST", "layers/api/changes", { delete: [{ type: "clutser", name: "a" }] });
    assert.deepEqual([type.status, type.body.code], [422, "XDSKIT_TYPE_NAME_UNKNOWN"]);
  });

  it("is refused if the head is another one than expected, and the answer names it", async () => {
    await using api = await runningApi();
    const first = await api.ask("POST", "layers/api/changes", { upsert: [cluster("a")] }, { "if-none-match": "*" });
    const { id } = first.body.revision;
    const again = await api.ask("POST", "layers/api/changes", { upsert: [cluster("b")] }, { "if-none-match": "*" });
    assert.deepEqual([again.status, again.body.code, again.body.revision.id], [412, "XDSKIT_REVISION_CONFLICT", id]);
    const second = await api.ask("POST", "layers/api/changes", { upsert: [cluster("b")] }, { "if-match": `"${id}"` });
    assert.equal(second.status, 200);
    const late = await api.ask("POST", "layers/api/changes", { upsert: [cluster("c")] }, { "if-match": `"${id}"` });
    assert.deepEqual([late.status, late.body.revision.id], [412, second.body.revision.id]);
  });

  it("is made with If-Match: * even if another writer is faster", async () => {
    await using api = await runningApi();
    const wanted = { "if-match": "*" };
    assert.equal((await api.ask("POST", "layers/api/changes", { upsert: [cluster("a")] }, wanted)).status, 412);
    await api.ask("POST", "layers/api/changes", { upsert: [cluster("a")] });
    const { written } = api;
    const head = written.head.bind(written);
    // Whoever looks at the head is too slow for this writer.
    written.head = (layer) => {
      written.head = head;
      const found = head(layer);
      void written.write({ layer, upsert: [resource("faster")], remove: [], replace: false, info });
      return found;
    };
    const { status, body } = await api.ask("POST", "layers/api/changes", { upsert: [cluster("b")] }, wanted);
    assert.deepEqual([status, body.revision?.number], [200, 3]);
  });

  it("loses no work of many writers with If-Match", async () => {
    await using api = await runningApi();
    const writer = async (name: string): Promise<number> => {
      for (let tries = 1; tries <= 200; tries += 1) {
        const { head } = (await api.ask("GET", "layers")).body.layers.find(
          (one: { name: string }) => one.name === "api",
        );
        const held = (await api.ask("GET", "layers/api/resources")).body.resources;
        // Everything that was there, and one more: a lost update would drop a resource of another writer.
        const upsert = [...held.map((one: { resource: object }) => one.resource), cluster(name)];
        const condition = head === null ? { "if-none-match": "*" } : { "if-match": `"${head.id}"` };
        const { status } = await api.ask("POST", "layers/api/changes", { upsert, replace: true }, condition as never);
        if (status === 200) return tries;
        assert.equal(status, 412);
      }
      return assert.fail("it never came through");
    };
    const names = Array.from({ length: 8 }, (_, index) => `w${index}`);
    await Promise.all(names.map(writer));
    const { resources } = (await api.ask("GET", "layers/api/resources")).body;
    assert.deepEqual(
      resources.map(({ name }: { name: string }) => name),
      names,
    );
    assert.equal((await api.ask("GET", "revisions?layer=api")).body.revisions.length, names.length);
  });

  it("says as a dry run what would happen, and changes nothing", async () => {
    await using api = await runningApi();
    api.folder(resource("a"), resource("b"));
    const body = { upsert: [cluster("a", "2s")], replace: true, dryRun: true };
    for (const layer of ["folder", "api"]) {
      const answer = await api.ask("POST", `layers/${layer}/changes`, body);
      assert.equal(answer.status, 200);
      assert.equal(answer.body.revision, null);
      const changes = answer.body.changed.map(({ change, name }: Record<string, string>) => `${change} ${name}`);
      assert.deepEqual(changes, layer === "folder" ? ["changed a", "removed b"] : ["added a"]);
    }
    assert.equal((await api.ask("GET", "revisions?layer=api")).body.revisions.length, 0);
    const real = await api.ask("POST", "layers/folder/changes", { ...body, dryRun: false });
    assert.deepEqual([real.status, real.body.code], [409, "XDSKIT_LAYER_READ_ONLY"]);
    assert.equal((await api.ask("GET", "layers/folder/resources")).body.resources.length, 2);
  });

  it("answers a page of what it changes, with the counts of all; a dry run has further pages", async () => {
    await using api = await runningApi();
    const names = ["a", "b", "c", "d", "e"];
    const change = { upsert: names.map((name) => cluster(name)), replace: true };
    const ask = (query: string, more: object = {}) =>
      api.ask("POST", `layers/api/changes?${query}`, { ...change, ...more });
    const seen: string[] = [];
    for (let after: string | undefined = ""; after !== undefined; ) {
      const { status, body } = await ask(`limit=2&names=3${after}`, { dryRun: true });
      assert.equal(status, 200, JSON.stringify(body));
      assert.deepEqual(body.counts, { added: 5, changed: 0, removed: 0 });
      const [group] = body.stages;
      if (after !== "") assert.equal(group, undefined);
      else
        assert.deepEqual(group.stages[0].changes, [
          {
            type: "cluster",
            added: ["a", "b", "c"],
            changed: [],
            removed: [],
            more: { added: 2, changed: 0, removed: 0 },
          },
        ]);
      seen.push(...body.changed.map(({ name }: { name: string }) => name));
      after = body.next && `&after=${body.next}`;
    }
    assert.deepEqual(seen, names);
    for (const [query, more] of [
      ["after=2", {}],
      ["after=x", { dryRun: true }],
      ["limit=10001", {}],
    ] as const)
      assert.deepEqual([(await ask(query, more)).status, query], [400, query]);
    assert.deepEqual((await api.ask("GET", "layers/api/resources")).body.resources, []);
    const { body } = await ask("limit=2");
    assert.deepEqual([body.changed.length, body.counts.added, body.next], [2, 5, "2"]);
    const usual = await api.ask("POST", "layers/api/changes", { upsert: many(1_001), replace: true });
    assert.deepEqual(
      [usual.body.changed.length, usual.body.counts, usual.body.stages[0].stages.length],
      [1_000, { added: 1_001, changed: 0, removed: 5 }, 1],
    );
    const back = await api.ask("POST", "layers/api/rollback?limit=1", {});
    assert.deepEqual([back.body.changed.length, back.body.counts.removed], [1, 1_001]);
  });

  it("reports its changes as of its turn, even if it is large and others come first", async () => {
    await using api = await runningApi();
    const post = (more: object) => api.ask("POST", "layers/api/changes?limit=1", more);
    const upsert = many(3_000);
    const answers = await Promise.all([post({ upsert }), post({ upsert })]);
    assert.deepEqual(answers.map(({ body }) => body.counts.added).sort(), [0, 3_000]);
    assert.equal(answers[0]?.body.revision.id, answers[1]?.body.revision.id);
    const rest = await post({ upsert: upsert.slice(1), replace: true });
    assert.deepEqual(rest.body.counts, { added: 0, changed: 0, removed: 1 });
    const twice = { upsert: [...upsert, ...upsert.slice(0, 1)], dryRun: true };
    assert.deepEqual((await post(twice)).body.code, "XDSKIT_DUPLICATE_RESOURCE");
  });

  it("warns of names that its resources lack", async () => {
    await using api = await runningApi();
    const { body } = await api.ask("POST", "layers/api/changes", { upsert: [route("nowhere")] });
    assert.deepEqual(
      body.findings.map(({ code, severity, resource: name }: Record<string, string>) => [code, severity, name]),
      [["XDSKIT_DANGLING_REFERENCE", "warning", "routes"]],
    );
  });

  it("warns of those that still name what it removes, and not of what was missing before", async () => {
    await using api = await runningApi();
    const post = (change: object) => api.ask("POST", "layers/api/changes", change);
    await post({ upsert: [cluster("a"), cluster("b"), route("a"), { ...route("nowhere"), name: "other" }] });
    const warning = {
      code: "XDSKIT_DANGLING_REFERENCE",
      severity: "warning",
      type: "route",
      resource: "routes",
      message: 'names cluster "a", which group all lacks',
    };
    for (const dryRun of [true, false]) {
      const { status, body } = await post({ delete: ["a", "b"].map((name) => ({ type: "cds", name })), dryRun });
      assert.deepEqual([status, body.findings], [200, [warning]]);
    }
    await post({ upsert: [cluster("a")] });
    const { body } = await post({ upsert: [route("a")], replace: true });
    assert.deepEqual(body.findings, [warning]);
    const back = await api.ask("POST", "layers/api/rollback", {});
    assert.deepEqual(
      back.body.findings.map((finding: Record<string, string>) => finding.resource),
      ["other"],
    );
  });

  it("warns of those that still name what it may remove with references: refuse", async () => {
    await using api = await runningApi({ server: { references: "refuse" } });
    const type = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment";
    const eds = { ...cluster("a"), type: "EDS", edsClusterConfig: { edsConfig: { ads: {} } } };
    await api.ask("POST", "layers/api/changes", { upsert: [eds, { "@type": type, clusterName: "a" }] });
    const { body } = await api.ask("POST", "layers/api/changes", { delete: [{ type: "eds", name: "a" }] });
    assert.deepEqual(
      body.findings.map(({ message }: Record<string, string>) => message),
      ['names endpoint "a", which group all lacks'],
    );
  });

  it("is refused if it removes a resource that others name, and says which do", async () => {
    await using api = await runningApi({ server: { references: "refuse" } });
    await api.ask("POST", "layers/api/changes", { upsert: [cluster("a"), route("a")] });
    for (const dryRun of [true, false]) {
      const change = { delete: [{ type: "cds", name: "a" }], dryRun };
      const { status, body } = await api.ask("POST", "layers/api/changes", change);
      assert.deepEqual([status, body.code, body.findings[0].resource], [422, "XDSKIT_REFERENCE_BROKEN", "routes"]);
    }
    assert.equal((await api.ask("GET", "layers/api/resources")).body.resources.length, 2);
    const whole = { upsert: [cluster("b"), route("b")], delete: [{ type: "cds", name: "a" }] };
    const moved = await api.ask("POST", "layers/api/changes", whole);
    assert.deepEqual([moved.status, moved.body.stages[0].stages.length], [200, 3]);
    // A comparison is not judged: the first revision lacks the cluster of the present route.
    const { revisions } = (await api.ask("GET", "revisions?layer=api")).body;
    assert.equal((await api.ask("GET", `diff?from=${revisions[1].id}`)).status, 200);
  });

  it("is refused with the layer of a resource that another layer has, and the body's line of one that it brings", async () => {
    await using api = await runningApi({ server: { references: "refuse" } });
    await api.ask("PUT", "layers/api/resources/cluster/a", cluster("a"));
    await api.ask("PUT", "layers/under/resources/route/routes", route("a"));
    for (const dryRun of [true, false]) {
      const { body } = await api.ask("DELETE", `layers/api/resources/cluster/a?dryRun=${dryRun}`);
      assert.deepEqual([body.code, body.findings[0].file], ["XDSKIT_REFERENCE_BROKEN", "layer under"]);
      const change = JSON.stringify({ upsert: [route("a")], delete: [{ type: "cds", name: "a" }], dryRun });
      const brought = await api.ask("POST", "layers/api/changes", change, { "content-type": "application/json" });
      assert.deepEqual([brought.body.findings[0].file, brought.body.findings[0].line], ["body", 1]);
    }
  });

  it("is refused if it puts a listener at an address of another layer's listener, and names both", async () => {
    await using api = await runningApi({ server: { addresses: "refuse" } });
    const listener = (name: string, port: number) => ({
      "@type": "type.googleapis.com/envoy.config.listener.v3.Listener",
      name,
      address: { socketAddress: { address: "10.0.0.1", portValue: port } },
      filterChains: [{}],
    });
    const put = (layer: string, ...upsert: object[]) => api.ask("POST", `layers/${layer}/changes`, { upsert });
    assert.equal((await put("under", listener("a", 80))).status, 200);
    for (const dryRun of [true, false]) {
      const change = { upsert: [cluster("c"), listener("b", 80)], dryRun };
      const { status, body } = await api.ask("POST", "layers/api/changes", change);
      assert.deepEqual([status, body.code, body.findings[0].resource], [422, "XDSKIT_CLIENTS_REFUSE", "b"]);
      assert.match(body.detail, /listens at 10\.0\.0\.1:80, as listener "a" \(layer under\) does .* only one of them/);
      assert.equal(body.findings[0].file, "body");
    }
    assert.deepEqual((await api.ask("GET", "layers/api/resources")).body.resources, []);
    assert.deepEqual((await api.ask("GET", "revisions?layer=api")).body.revisions, []);
    assert.equal((await put("api", listener("b", 81))).status, 200);
    const back = await put("under", listener("a", 81));
    assert.deepEqual([back.status, back.body.findings[0].resource], [422, "a"]);
    // A listener that replaces the other one may have its address.
    assert.equal((await put("api", listener("a", 80))).status, 200);
  });

  it("shows no secret, neither in what it changed nor later", async () => {
    await using api = await runningApi();
    const secret = {
      "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret",
      name: "s",
      genericSecret: { secret: { inlineString: "hunter2" } },
    };
    const { body } = await api.ask("POST", "layers/api/changes", { upsert: [secret] });
    const answers = [
      body,
      (await api.ask("GET", "layers/api/resources")).body,
      (await api.ask("GET", `revisions/${body.revision.id}`)).body,
      (await api.ask("GET", `diff?from=${body.revision.id}`)).body,
    ];
    for (const answer of answers) assert.doesNotMatch(JSON.stringify(answer), /hunter2/);
    const back = await api.ask("PUT", "layers/api/resources/secret/s", answers[1].resources[0].resource);
    assert.deepEqual([back.status, back.body.code], [422, "XDSKIT_SECRET_LEFT_OUT"]);
  });

  it("is answered with 503 if it cannot be stored, and changes nothing", async () => {
    const store = await createMemoryStore();
    let isFull = false;
    const commit: Store["commit"] = (...args) =>
      isFull ? Promise.reject(XdskitError.of("XDSKIT_STORE", "no space left on device")) : store.commit(...args);
    const full = new Proxy(store, {
      get(target, key) {
        if (key === "commit") return commit;
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    await using api = await runningApi({ store: full });
    await api.ask("POST", "layers/api/changes", { upsert: [cluster("a")] });
    isFull = true;
    const { status, body } = await api.ask("POST", "layers/api/changes", { upsert: [cluster("b")] });
    assert.equal(status, 503, JSON.stringify(body));
    assert.equal(body.code, "XDSKIT_STORE");
    isFull = false;
    assert.equal((await api.ask("GET", "layers/api/resources")).body.resources.length, 1);
    assert.equal((await api.ask("POST", "layers/api/changes", { upsert: [cluster("b")] })).status, 200);
  });
});

describe("one resource", () => {
  it("is put, shown with its version, and removed, under conditions", async () => {
    await using api = await runningApi();
    const path = `layers/api/resources/cluster/${encodeURIComponent("a/b?c")}`;
    const body = cluster("a/b?c");
    assert.equal((await api.ask("PUT", path, body, { "if-match": '"x"' })).status, 412);
    assert.equal((await api.ask("PUT", path, body, { "if-none-match": "*" })).status, 200);
    assert.equal((await api.ask("PUT", path, body, { "if-none-match": "*" })).status, 412);
    const shown = await api.ask("GET", path);
    const tag = shown.headers.get("etag") ?? "";
    assert.equal(tag, `"${shown.body.version}"`);
    assert.deepEqual(shown.body.resource, body);
    const byUrl = `layers/api/resources/${encodeURIComponent(String(body["@type"]))}/${encodeURIComponent("a/b?c")}`;
    assert.deepEqual((await api.ask("GET", byUrl)).body, shown.body);
    assert.equal((await api.ask("PUT", path, cluster("a/b?c", "2s"), { "if-match": tag })).status, 200);
    const late = await api.ask("DELETE", path, undefined, { "if-match": tag });
    assert.deepEqual([late.status, late.body.code], [412, "XDSKIT_REVISION_CONFLICT"]);
    assert.equal((await api.ask("DELETE", path)).status, 200);
    assert.equal((await api.ask("DELETE", path)).status, 404);
    assert.equal((await api.ask("GET", path)).status, 404);
    const other = await api.ask("PUT", path, cluster("other"));
    assert.deepEqual([other.status, other.body.code], [422, "XDSKIT_NAME_DIFFERS"]);
  });

  it("is put, shown and removed under conditions even if it is a variant", async () => {
    await using api = await runningApi();
    const path = "layers/api/resources/cluster/web";
    const put = async (env: string, headers: Record<string, string>) =>
      (await api.ask("PUT", path, variant("web", env), headers)).status;
    assert.equal(await put("prod", { "if-none-match": "*" }), 200);
    assert.equal(await put("prod", { "if-none-match": "*" }), 412);
    const shown = await api.ask("GET", path);
    assert.equal(shown.status, 200);
    assert.deepEqual(shown.body.resource, variant("web", "prod"));
    const tag = shown.headers.get("etag") ?? "";
    assert.equal(await put("prod", { "if-match": '"another"' }), 412);
    assert.equal(await put("prod", { "if-match": tag }), 200);
    assert.equal(await put("test", { "if-match": tag }), 412);
    assert.equal((await api.ask("DELETE", path, undefined, { "if-match": '"another"' })).status, 412);
    assert.equal((await api.ask("DELETE", path, undefined, { "if-match": tag })).status, 200);
    assert.equal((await api.ask("GET", path)).status, 404);
  });

  it("is neither shown nor removed by a name that several variants have", async () => {
    await using api = await runningApi();
    const path = "layers/api/resources/cluster/web";
    const put = async (body: object) => (await api.ask("PUT", path, body, { "if-none-match": "*" })).status;
    assert.deepEqual([await put(variant("web", "prod")), await put(cluster("web"))], [200, 200]);
    for (const method of ["GET", "DELETE"]) {
      const { status, body } = await api.ask(method, path);
      assert.deepEqual([status, body.code], [409, "XDSKIT_API_REQUEST"]);
    }
    const { resources } = (await api.ask("GET", "layers/api/resources?type=cluster&name=web")).body;
    assert.equal(resources.length, 2);
  });

  it("is listed by type and name, page by page", async () => {
    await using api = await runningApi();
    const names = Array.from({ length: 25 }, (_, index) => `c${String(index).padStart(2, "0")}`);
    await api.ask("POST", "layers/api/changes", { upsert: [...names.map((name) => cluster(name)), route("c00")] });
    const found: string[] = [];
    let after = "";
    for (let page = 0; page < 10; page += 1) {
      const { body } = await api.ask("GET", `layers/api/resources?limit=7${after}`);
      found.push(...body.resources.map(({ name }: { name: string }) => name));
      if (body.next === undefined) break;
      after = `&after=${body.next}`;
    }
    assert.deepEqual(found, [...names, "routes"]);
    const one = (await api.ask("GET", "layers/api/resources?type=cds&name=c03")).body;
    assert.deepEqual([one.resources.length, one.resources[0].name], [1, "c03"]);
    assert.equal((await api.ask("GET", "layers/api/resources?type=nothing")).status, 400);
    assert.equal((await api.ask("GET", "layers/api/resources?after=x")).status, 400);
    assert.equal((await api.ask("GET", "layers/api/resources?limit=0")).status, 400);
  });
});

describe("layers of the API", () => {
  it("lie over and under those of sources", async () => {
    await using api = await runningApi();
    const winner = () => api.server.snapshotOf("all")?.of(resource("a").type).get("a")?.version;
    await api.ask("POST", "layers/under/changes", { upsert: [cluster("a", "1s")] });
    assert.equal(winner(), resource("a", 1).version);
    api.folder(resource("a", 2));
    assert.equal(winner(), resource("a", 2).version);
    await api.ask("POST", "layers/api/changes", { upsert: [cluster("a", "3s")] });
    assert.equal(winner(), resource("a", 3).version);
    const under = await api.ask("POST", "layers/under/changes", { upsert: [cluster("a", "4s")] });
    assert.deepEqual(under.body.stages, []);
    await api.ask("DELETE", "layers/api/resources/cds/a");
    assert.equal(winner(), resource("a", 2).version);
    const { layers } = (await api.ask("GET", "layers")).body;
    assert.deepEqual(
      layers.map(({ name, writable, place, head }: Record<string, unknown>) => [name, writable, place, head !== null]),
      [
        ["under", true, "under", true],
        ["folder", false, null, true],
        ["api", true, "over", true],
      ],
    );
  });

  it("keep their content over a restart", async () => {
    const store = await createMemoryStore();
    {
      await using api = await runningApi({ store });
      await api.ask("POST", "layers/api/changes", { upsert: [cluster("a"), cluster("b")] });
      await api.ask("DELETE", "layers/api/resources/cds/b");
    }
    await using api = await runningApi({ store });
    const { resources } = (await api.ask("GET", "layers/api/resources")).body;
    assert.deepEqual(
      resources.map(({ name }: { name: string }) => name),
      ["a"],
    );
    assert.equal(api.server.snapshotOf("all")?.of(resource("a").type).size, 1);
    assert.equal((await api.ask("POST", "layers/api/changes", { upsert: [cluster("c")] })).body.revision.number, 3);
  });
});

describe("a lease", () => {
  it("is taken with a change, renewed, shown and ended", async () => {
    await using api = await runningApi();
    const put = await api.ask("PUT", "layers/api/resources/cds/a?lease=30s", cluster("a"));
    const { lease } = put.body;
    assert.deepEqual(
      [lease.ttl, lease.layer, lease.resources],
      ["30s", "api", [{ type: cluster("a")["@type"], name: "a" }]],
    );
    const more = await api.ask("POST", `layers/api/changes?lease=${lease.id}`, {
      upsert: [cluster("b"), cluster("c")],
    });
    assert.equal(more.body.lease.resources.length, 3);
    assert.equal((await api.ask("POST", `leases/${lease.id}/renew`)).status, 200);
    assert.equal((await api.ask("GET", "leases")).body.leases.length, 1);
    assert.equal((await api.ask("GET", `leases/${lease.id}`)).body.resources.length, 3);
    assert.equal((await api.ask("DELETE", `leases/${lease.id}`)).status, 200);
    assert.equal((await api.ask("GET", "layers/api/resources")).body.resources.length, 0);
    const [head, changed, first] = (await api.ask("GET", "revisions?layer=api")).body.revisions;
    assert.deepEqual(head.cause, { kind: "lease-ended", lease: lease.id });
    assert.deepEqual([changed.cause.leased, first.cause.leased], [true, true]);
    for (const [method, path] of [
      ["POST", "/renew"],
      ["GET", ""],
      ["DELETE", ""],
    ] as const) {
      const { status, body } = await api.ask(method, `leases/${lease.id}${path}`);
      assert.deepEqual([status, body.code], [404, "XDSKIT_LEASE_UNKNOWN"]);
    }
    const wrong = await api.ask("PUT", "layers/api/resources/cds/a?lease=10ms", cluster("a"));
    assert.deepEqual([wrong.status, wrong.body.code], [400, "XDSKIT_API_REQUEST"]);
    const unknown = await api.ask("PUT", "layers/api/resources/cds/a?lease=nobody-has-it-16", cluster("a"));
    assert.deepEqual([unknown.status, unknown.body.code], [404, "XDSKIT_LEASE_UNKNOWN"]);
  });

  it("is refused if its value is neither a time nor an id", async () => {
    await using api = await runningApi();
    for (const wanted of ["30", "30sec", "nobody", "", "1d"]) {
      const { status, body } = await api.ask("PUT", `layers/api/resources/cds/a?lease=${wanted}`, cluster("a"));
      assert.deepEqual([status, body.code], [400, "XDSKIT_API_REQUEST"], wanted);
      assert.match(body.detail, /expected a time from 1s to 24h, or the id of a lease/);
    }
  });

  it("is shown with the time that it has left when it gets more to hold", async () => {
    let now = 0;
    const clock = { now: () => now, after: () => () => {} };
    await using api = await runningApi({ clock });
    const { lease } = (await api.ask("PUT", "layers/api/resources/cds/a?lease=1h", cluster("a"))).body;
    now = 40 * 60_000;
    const before = Date.now();
    const more = await api.ask("PUT", `layers/api/resources/cds/b?lease=${lease.id}`, cluster("b"));
    const left = Date.parse(more.body.lease.expires) - before;
    assert.ok(left >= 20 * 60_000 && left < 21 * 60_000, `${left} ms`);
  });
});
