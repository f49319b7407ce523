import assert from "node:assert/strict";
import { test } from "node:test";
import { resourceTypes } from "@xdskit/api";
import fc from "fast-check";
import { createStream, defaultStreamLimits, emptySnapshot, updateSnapshot } from "../../index.js";
import { times } from "../../testing/effort.js";
import { sampleResource, urlOf } from "../../testing/sample-resources.js";
import { splitBraces } from "../../testing/variant-words.js";
import { decodeResponse, encodeRequest } from "../../testing/wire.js";

const xdstp = "xdstp://x/envoy.config.endpoint.v3.LbEndpoint";
const bases = ["a", "b", `${xdstp}/d/a?k=1&l=2`, `${xdstp}/d/b?k=1&l=2`, `${xdstp}/e/a`];
const forms = ["", "{env=prod}", "{!env}"];
const aliases = ["", "@w", "@v"];
/** As clients may spell them: the order of parameters does not matter. */
const spellings = [...bases.slice(0, 2), `${xdstp}/d/a?l=2&k=1`, `${xdstp}/d/*?l=2&k=1`, `${xdstp}/e/*`, "w", "v", "*"];
const type = resourceTypes.find("locality-endpoint") ?? assert.fail();
const typeUrl = urlOf("lb-endpoint", "v3");

interface There {
  readonly base: string;
  readonly form: string;
  readonly content: string;
  readonly alias: string;
}

/** The meaning of a spelling, computed as plainly as possible. */
function means(spelling: string, { base, alias }: There): boolean {
  if (spelling === "*") return true;
  if (spelling === `${xdstp}/d/a?l=2&k=1`) return base.includes("/d/a");
  if (spelling.endsWith("/e/*")) return base.includes("/e/");
  if (spelling.includes("/d/*")) return base.includes("/d/");
  return base === spelling || alias === spelling;
}

function variantFor(env: string | undefined, variants: readonly There[]): There | undefined {
  const holds = (form: string) => form === "" || (form === "{env=prod}" ? env === "prod" : env === undefined);
  return variants.filter(({ form }) => form !== "" && holds(form))[0] ?? variants.find(({ form }) => form === "");
}

function expected(all: readonly There[], asked: ReadonlySet<string>, env: string | undefined): Map<string, string> {
  const found = new Map<string, string>();
  for (const base of bases) {
    const variants = all.filter((one) => one.base === base);
    const wanted = [...asked].some((spelling) => variants.some((one) => means(spelling, one)));
    const one = wanted ? variantFor(env, variants) : undefined;
    if (one !== undefined) found.set(base, one.content);
  }
  return found;
}

const step = fc.oneof(
  fc.record({
    kind: fc.constant("set" as const),
    base: fc.constantFrom(...bases),
    form: fc.constantFrom(...forms),
    content: fc.constantFrom("1", "2"),
    gone: fc.boolean(),
  }),
  fc.record({ kind: fc.constant("ask" as const), spelling: fc.constantFrom(...spellings), drops: fc.boolean() }),
);

test("a client holds exactly what it asks for, by name, alias, collection, wildcard or locator, in its variant", () => {
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 25 }),
      // An alias stays with its name here: other tests decide which of several bearers answers.
      fc.array(fc.constantFrom(...aliases), { minLength: 1, maxLength: 1 }),
      fc.constantFrom(undefined, "prod", "test"),
      (steps, [alias = ""], env) => {
        const limits = defaultStreamLimits;
        const stream = createStream({
          variant: "delta",
          api: "v3",
          types: resourceTypes,
          only: type,
          limits,
          defaultNode: undefined,
        });
        const locator = env === undefined ? "" : `{env=${env}}`;
        let snapshot = emptySnapshot();
        let all: There[] = [];
        const asked = new Set<string>();
        const held = new Map<string, string>();
        const send = (subscribe: readonly string[], unsubscribe: readonly string[], first = false) => {
          const node = first ? { id: "n" } : undefined;
          stream.step({ kind: "request", bytes: encodeRequest("delta", { typeUrl, node, subscribe, unsubscribe }) });
        };
        send([`b${locator}`], [], true);
        asked.add("b");
        stream.step({ kind: "snapshot", snapshot });
        for (const one of steps) {
          if (one.kind === "set") {
            const { base, form, content, gone } = one;
            const word = `${base}${form}`;
            const said = `${form}${content}`.replaceAll(/[{}=!]/g, "");
            const carried = base === bases[0] && alias !== "" ? `${said}${alias}` : said;
            const resource = sampleResource("lb-endpoint", word, carried);
            all = all.filter((other) => other.base !== base || other.form !== form);
            if (gone) snapshot = updateSnapshot(snapshot, { remove: [{ type: resource.type, name: resource.key }] });
            else {
              all.push({ base, form, content: said, alias: base === bases[0] ? alias.slice(1) : "" });
              snapshot = updateSnapshot(snapshot, { upsert: [resource] });
            }
            stream.step({ kind: "snapshot", snapshot });
          } else if (one.drops) {
            asked.delete(one.spelling);
            send([], [`${one.spelling}${locator}`]);
          } else {
            asked.add(one.spelling);
            send([`${one.spelling}${locator}`], []);
          }
          for (let out = stream.next(); out !== undefined; out = stream.next()) {
            const { resources, removed } = decodeResponse("delta", out);
            for (const name of removed) held.delete(splitBraces(name)[0]);
            for (const { name, content = "" } of resources) held.set(splitBraces(name)[0], content);
          }
          const should = expected(all, asked, env);
          // The client itself drops names that it no longer asks for (rule 90).
          for (const name of held.keys()) if (one.kind === "ask" && one.drops && !should.has(name)) held.delete(name);
          assert.deepEqual(new Map([...held].sort()), new Map([...should].sort()));
        }
      },
    ),
    { numRuns: times(150) },
  );
});
