import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import { createClient } from "@xdskit/client";
import { parse } from "yaml";
import { eventually } from "./testing/command.js";
import { clusterYaml, routesYaml } from "./testing/folder.js";
import { served } from "./testing/served.js";

// What `deploy/` plots and alerts on is there: checked against `/metrics` of a real server that served a client, was
// changed and was rejected, and against the table in docs/metrics.md, which has labels of what did not happen here.

const root = new URL("../../../", import.meta.url);
const text = (path: string) => readFileSync(new URL(path, root), "utf8");

/** An expression, and where it is. */
interface Expression {
  readonly where: string;
  readonly query: string;
}

/** By metric, its labels. */
type Known = Map<string, Set<string>>;

const functions = new Set(
  "sum min max count avg rate increase histogram_quantile clamp_max max_over_time time vector and or unless by on".split(
    " ",
  ),
);
/** Of Prometheus, of the scrape, and of several processes on one machine. */
const everywhere = ["job", "instance", "le", "worker"];

/** The metrics in an expression, each with the labels that it is selected by, and the labels of `by (…)`. */
function usedIn(query: string): { metrics: (readonly [string, readonly string[]])[]; by: string[]; others: string[] } {
  const plain = query.replace(/"[^"]*"/g, '""').replace(/\[[^\]]*\]/g, "");
  const by = [...plain.matchAll(/\b(?:by|on) \(([^)]*)\)/g)].flatMap(([, list = ""]) => list.split(/,\s*/));
  const rest = plain.replace(/\b(by|on) \([^)]*\)/g, "");
  const metrics: (readonly [string, readonly string[]])[] = [];
  const others: string[] = [];
  for (const [, name = "", selector = ""] of rest.matchAll(/([a-z_][a-z0-9_]*)(?:\{([^}]*)\})?/g)) {
    if (functions.has(name)) continue;
    const labels = [...selector.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = ""]) => label);
    if (/^(xdskit|process|nodejs)_/.test(name)) metrics.push([name, labels]);
    else others.push(name);
    if (others.length > 20) break;
  }
  // The labels inside of braces were read with their metric.
  return { metrics, by, others };
}

function expressions(): readonly Expression[] {
  const dashboard = JSON.parse(text("deploy/grafana/xdskit.json"));
  const panels = dashboard.panels.flatMap(({ title, targets = [] }: { title: string; targets?: { expr: string }[] }) =>
    targets.map(({ expr }) => ({ where: `panel "${title}"`, query: expr })),
  );
  const { groups } = parse(text("deploy/prometheus/alerts.yaml"));
  const rules = groups.flatMap(({ rules }: { rules: { alert: string; expr: string }[] }) =>
    rules.map(({ alert, expr }) => ({ where: `alert ${alert}`, query: expr })),
  );
  return [...panels, ...rules];
}

/** What a scrape has: each sample's name, and the names that histograms are made of, with their labels. */
function scraped(page: string): Known {
  const known: Known = new Map();
  const add = (name: string, labels: readonly string[]) => {
    const all = known.get(name) ?? new Set();
    for (const label of labels) all.add(label);
    known.set(name, all);
  };
  for (const [, name = "", kind] of page.matchAll(/^# TYPE (\S+) (\w+)$/gm)) {
    add(name, []);
    if (kind === "histogram") for (const part of ["bucket", "sum", "count"]) add(`${name}_${part}`, []);
  }
  for (const [, name = "", labels = ""] of page.matchAll(/^([a-z]\w*)(?:\{(.*)\})? \S+$/gm))
    add(
      name,
      [...labels.matchAll(/(\w+)="(?:[^"\\]|\\.)*"/g)].map(([, label = ""]) => label),
    );
  return known;
}

/** The labels that docs/metrics.md says. */
function documented(): Known {
  const rows = text("docs/metrics.md").matchAll(/^\| `(xdskit_\w+)` +\| \w+ +\| ([^|]*) +\|/gm);
  const found: Known = new Map();
  for (const [, name = "", labels = ""] of rows)
    found.set(name, new Set([...labels.matchAll(/`(\w+)`/g)].map(([, label = ""]) => label)));
  return found;
}

describe("what deploy/ plots and alerts on", () => {
  let page = "";
  before(async () => {
    // One file, so that a cluster and the route to it are one change.
    const moved = ["a", "b"]
      .map((name) => clusterYaml(name))
      .concat(routesYaml("b"))
      .join("---\n");
    await using server = await served({ "all.yaml": `${clusterYaml("a")}---\n${routesYaml("a")}` });
    const client = createClient({
      servers: [server.grpc],
      node: { id: "n1" },
      checks: { cluster: (message) => ("altStatName" in message && message.altStatName === "bad" ? "bad" : undefined) },
    });
    try {
      client.watch("cluster", "*", { onChanged() {} });
      client.watch("route", "routes", { onChanged() {} });
      const scrape = async () => {
        page = await (await fetch(`${server.admin}/metrics`)).text();
        return page;
      };
      await eventually(scrape, (said) => /^xdskit_acks_total\{type="route".*\} 1$/m.test(said));
      await server.folder.write("all.yaml", moved);
      await eventually(scrape, (said) => /^xdskit_stage_wait_seconds_count\{type="route"\} [1-9]/m.test(said));
      await server.folder.write("c.yaml", `${clusterYaml("c")}alt_stat_name: bad\n`);
      await eventually(scrape, (said) => /^xdskit_rejected_versions_total\{type="cluster".*\} 1$/m.test(said));
      await eventually(scrape, (said) => /^xdskit_store_commits_total\{cause="files",result="committed"\}/m.test(said));
    } finally {
      await client.close();
    }
  });
  after(() => {
    page = "";
  });

  it("is in the metrics of a real server, each metric and each label", () => {
    const [real, told] = [scraped(page), documented()];
    const missing: string[] = [];
    const all = expressions();
    assert.ok(all.length > 60, `${all.length} expressions`);
    for (const { where, query } of all) {
      const { metrics, by, others } = usedIn(query);
      assert.ok(metrics.length > 0, `${where} uses no metric`);
      const labels = new Set(everywhere);
      for (const [name, selected] of metrics) {
        const family = name.replace(/_(bucket|sum|count)$/, "");
        if (!real.has(name)) missing.push(`${where}: ${name}`);
        for (const label of [...(told.get(family) ?? told.get(name) ?? []), ...(real.get(name) ?? [])])
          labels.add(label);
        for (const label of selected) if (!labels.has(label)) missing.push(`${where}: ${name}{${label}}`);
      }
      for (const label of by) if (!labels.has(label)) missing.push(`${where}: by (${label})`);
      const words = others.filter((word) => !labels.has(word));
      if (words.length > 0) missing.push(`${where}: ${words}`);
    }
    assert.deepEqual(missing, []);
  });

  it("is also what the variables of the dashboard list", () => {
    const real = scraped(page);
    const variables = JSON.parse(text("deploy/grafana/xdskit.json")).templating.list;
    for (const { name, definition } of variables) {
      if (definition === undefined) continue;
      const [, metric = "", label = ""] = /^label_values\((\w+), (\w+)\)$/.exec(definition) ?? [];
      assert.ok(real.has(metric), `${name}: ${metric}`);
      assert.ok(everywhere.includes(label) || real.get(metric)?.has(label), `${name}: ${label}`);
    }
  });

  it("has the labels that docs/metrics.md says, where the server had something to count", () => {
    const differing: string[] = [];
    const real = scraped(page);
    for (const [name, labels] of documented()) {
      const found = real.get(`${name}_count`) ?? real.get(name) ?? new Set();
      if (found.size > 0 && [...found].sort().join() !== [...labels].sort().join())
        differing.push(`${name}: ${[...found]} and not ${[...labels]}`);
    }
    assert.deepEqual(differing, []);
  });

  it("would be found missing", () => {
    const { metrics, by, others } = usedIn('sum by (colour, le) (rate(xdskit_no_such_total{shape="x"}[5m])) > nothing');
    assert.deepEqual(metrics, [["xdskit_no_such_total", ["shape"]]]);
    assert.deepEqual([by, others], [["colour", "le"], ["nothing"]]);
    const real = scraped(page);
    assert.equal(real.has("xdskit_no_such_total"), false);
    assert.ok(real.get("xdskit_publish_to_ack_seconds_bucket")?.has("group"));
  });
});
