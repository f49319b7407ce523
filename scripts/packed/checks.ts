import { readFileSync } from "node:fs";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { entries } from "./checkout.js";

/** What publint says of a tarball: errors, warnings and suggestions. */
export async function publintOf(tarball: string): Promise<readonly string[]> {
  const bytes = new Uint8Array(readFileSync(tarball));
  const { messages, pkg } = await publint({ pack: { tarball: bytes.buffer }, strict: true });
  return messages.map((message) => formatMessage(message, pkg, { color: false }) ?? message.code);
}

/**
 * What `attw --profile esm-only` says of a tarball. It is the library under that command: the command brings thirty
 * packages more.
 */
export async function wrongTypesOf(tarball: string): Promise<readonly string[]> {
  const pack = createPackageFromTarballData(new Uint8Array(readFileSync(tarball)));
  const included = pack.packageName === "@xdskit/api" ? ["./envoy/config/cluster/v3/cluster"] : [];
  const result = await checkPackage(pack, { includeEntrypoints: included });
  if (!result.types) return [`${pack.packageName} has no types`];
  const expected = entries.filter((entry) => entry.replace(/^((?:@[^/]+\/)?[^/]+).*/, "$1") === pack.packageName);
  const missed = expected.length + included.length - Object.keys(result.entrypoints).length;
  const wrong = result.problems.filter(
    (problem) => !("resolutionKind" in problem) || !["node10", "node16-cjs"].includes(problem.resolutionKind),
  );
  return [...wrong.map((problem) => JSON.stringify(problem)), ...(missed > 0 ? [`${missed} entries not checked`] : [])];
}
