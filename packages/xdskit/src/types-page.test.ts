import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { envoyRegistry, type ResourceType, resourceTypes, typeUrlPrefix } from "@xdskit/api";
import { checkFolder } from "./checking/check-folder.js";
import { testFolder } from "./testing/folder.js";

const page = readFileSync(new URL("../../../docs/types.md", import.meta.url), "utf8");
const served = resourceTypes.all.filter(({ services }) => services.v3 !== undefined);

test("the table of docs/types.md equals the table of types, in its order", () => {
  const rows = page.split("\n").filter((line) => /^\| \[[A-Z]+\]/.test(line));
  assert.deepEqual(
    rows.map((row) => row.replace(/\]\([^)]*\)/, "").replace("[", "")),
    served.map(rowOf),
  );
});

test("every link of the table of docs/types.md leads to a part of the page", () => {
  const headings = [...page.matchAll(/^## (.*)$/gm)].map(([, text = ""]) => anchorOf(text));
  const links = [...page.matchAll(/\]\(#([^)]*)\)/g)].map(([, anchor]) => anchor ?? "");
  assert.deepEqual([...links].sort(), [...headings].sort());
});

test("the examples of docs/types.md are one valid folder with every type and without missing references", async () => {
  await using folder = await testFolder();
  for (const [number, [, example = ""]] of [...page.matchAll(/```yaml\n(.*?)```/gs)].entries()) {
    await folder.write(`example-${number}.yaml`, example);
  }
  const { path: directory } = folder;
  const { findings, groups } = await checkFolder({ directory, settings: {}, registry: envoyRegistry(), ignore: [] });
  // The page says so: what one of the types is for, Envoy refuses.
  const [leds, ...others] = findings;
  assert.match(String(leds?.message), /is a list of endpoints.* Envoy refuses it, but gRPC's clients accept it/);
  assert.deepEqual(others, []);
  const shown = new Set(groups.flatMap(({ resources }) => resources.map(({ type }) => type.name)));
  const expected = [...served.map(({ name }) => name), "locality-endpoint-collection"];
  assert.deepEqual([...shown].sort(), expected.sort());
});

function rowOf({
  name,
  abbreviation,
  typeUrl,
  emptyFirstRequest,
  services,
  restPath,
  v2TypeUrl,
}: ResourceType): string {
  const code = (text: string | undefined) => (text === undefined ? "–" : `\`${text}\``);
  const cells = [
    abbreviation.toUpperCase(),
    code(name),
    code(typeUrl.slice(typeUrlPrefix.length)),
    emptyFirstRequest === "wildcard" ? "all" : "nothing",
    code(services.v3?.stream),
    code(services.v3?.delta),
    code(restPath),
    v2TypeUrl === undefined ? "no" : "yes",
  ];
  return `| ${cells.join(" | ")} |`;
}

/** As GitHub makes it. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");
}
