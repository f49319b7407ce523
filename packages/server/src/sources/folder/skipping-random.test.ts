import { test } from "node:test";
import type { Resource } from "@xdskit/api";
import { createRepeatable } from "../../../../api/src/testing/repeatable.js";
import { clusters, startedSource, temporaryFolder } from "../../testing/basics/temporary-folder.js";

const names = ["a", "b", "c"];
const paths = ["1.yaml", "2.yaml"];
const broken = -1;
/** The content of a file: the timeout of each cluster in seconds, or `broken`; or an unreadable text. */
type Said = ReadonlyMap<string, number> | "syntax error";

test("the served contents are always the last good ones of all resources that are still named", async (t) => {
  const folder = await temporaryFolder(t);
  await folder.write("step.yaml", clusters(["step"]));
  const { sink } = await startedSource(t, { directory: folder.path, onInvalid: "skip", settleMs: 5 });
  const { below } = createRepeatable();
  const files = new Map<string, Said>();
  /** The names in each file when it could last be read. */
  const known = new Map<string, ReadonlySet<string>>();
  const served = new Map<string, number>();
  for (let step = 1; step <= 100; step += 1) {
    for (const path of below(3) === 0 ? paths : [paths[below(2)] as string]) {
      const kind = below(8);
      if (kind === 0) {
        if (files.delete(path)) await folder.remove(path);
        known.delete(path);
      } else if (kind === 1) {
        files.set(path, "syntax error");
        await folder.replace(path, `# ${step}\nname: [`);
      } else {
        const chosen = names.filter(() => below(3) > 0);
        const said = new Map(chosen.map((name) => [name, below(4) === 0 ? broken : 1 + below(50)]));
        files.set(path, said);
        known.set(path, new Set(said.keys()));
        const texts = Array.from(said, ([name, seconds]) => clusters([name], seconds));
        await folder.replace(path, `# ${step}\n${texts.join("") || "[]"}`);
      }
    }
    await folder.replace("step.yaml", clusters(["step"], step + 1));
    for (const name of names) {
      const said = [...files.values()].flatMap((file) => (file === "syntax error" ? [] : (file.get(name) ?? [])));
      const [good, ...others] = said.filter((seconds) => seconds !== broken);
      const mayHold = [...files].some(([path, file]) => file === "syntax error" && known.get(path)?.has(name));
      if (good !== undefined && others.length === 0) served.set(name, good);
      else if (said.length === 0 && !mayHold) served.delete(name);
    }
    const expected = new Map([...served, ["step", step + 1]]);
    await sink.until(`step ${step}: ${JSON.stringify([...expected])}`, () => {
      const isHeld = ([name, seconds]: readonly [string, number]) => holds(sink.resource(`cluster ${name}`), seconds);
      return sink.resources().length === expected.size && [...expected].every(isHeld);
    });
  }
});

/** Whether a cluster has `connect_timeout: { seconds }`, which is its field 4. */
function holds(cluster: Resource | undefined, seconds: number): boolean {
  return cluster !== undefined && Buffer.from(cluster.body).includes(Buffer.from([0x22, 0x02, 0x08, seconds]));
}
