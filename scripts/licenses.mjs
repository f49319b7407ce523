// The licenses that a program carries with it.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * The licenses of the packages that a bundle has parts of, and more texts behind them. `inputs`: the files that it is
 * made of, below `root`.
 */
export function licenses(root, inputs, ...more) {
  const folders = new Set(inputs.flatMap((input) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0] ?? []));
  const texts = [...folders].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
    const file = readdirSync(join(root, folder)).find((file) => /^licen[cs]e/i.test(file));
    const text = file === undefined ? "" : `\n${readFileSync(join(root, folder, file), "utf8").trim()}\n`;
    return `${name} ${version}: ${license}\n${text}`;
  });
  return [...texts, ...more].join(`\n${"-".repeat(80)}\n\n`);
}
