// `npm run weights` writes the table of reports/weights.md that says what each package weighs, and what its import
// costs: the tarballs are installed in an empty folder, and imported in turns with a program that imports nothing. It
// compares within one run; processor time hardly depends on what else the machine does.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { pinned } from "./packed/pinned.mjs";

const root = fileURLToPath(new URL("../", import.meta.url));
const rounds = 9;
const page = join(root, "reports/weights.md");
const [begin, end] = ["<!-- npm run weights -->\n", "<!-- end -->\n"];
const folder = mkdtempSync(join(tmpdir(), "xdskit-weights-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

const tarballs = join(folder, "tarballs");
execFileSync(process.execPath, [join(root, "scripts/tarballs.mjs"), tarballs], { stdio: "ignore" });
const files = readdirSync(tarballs).map((file) => join(tarballs, file));
writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, overrides: pinned([]) }));
execFileSync("npm", ["install", "--ignore-scripts", "--prefer-offline", ...files], { cwd: folder, stdio: "ignore" });

const names = Object.keys(manifestOf(folder).dependencies).sort();
const programs = new Map([["", ""], ...names.map((name) => [name, `import ${JSON.stringify(name)};`])]);
const times = new Map([...programs.keys()].map((name) => [name, []]));
for (let round = 0; round <= rounds; round++) {
  for (const [name, program] of programs) {
    const spent = "const { user, system } = process.cpuUsage(); console.log((user + system) / 1000); process.exit();";
    const args = ["--input-type=module", "-e", `${program}\n${spent}`];
    const milliseconds = Number(execFileSync(process.execPath, args, { cwd: folder, encoding: "utf8" }));
    // The first round brings the files into memory.
    if (round > 0) times.get(name).push(milliseconds);
  }
}
const median = (values) => values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)];
const alone = median(times.get(""));

const rows = names.map((name) => {
  const packages = needed(join(folder, "node_modules", name));
  const bytes = [...packages].map(sizeOf).reduce((sum, size) => sum + size, 0);
  const { version } = manifestOf(join(folder, "node_modules", name));
  const own = files.find((file) => file.includes(`/${name.replace("@", "").replace("/", "-")}-${version}.tgz`)) ?? "";
  const cells = [
    `\`${name}\``,
    Math.round(statSync(own).size / 1000),
    (bytes / 1e6).toFixed(1),
    packages.size - 1,
    (median(times.get(name)) / alone).toFixed(1),
  ];
  return `| ${cells.join(" | ")} |\n`;
});
const head =
  "| package | tarball, kB | installed with all that it needs, MB | packages that it needs | start |\n" +
  "| --- | --: | --: | --: | --: |\n";
const text = readFileSync(page, "utf8");
const [before, rest] = text.split(begin);
const [, after] = rest.split(end);
const note = `Node ${process.versions.node.split(".")[0]}, medians of ${rounds} starts in turns.\n\n`;
writeFileSync(page, `${before}${begin}\n${note}${head}${rows.join("")}\n${end}${after}`);

function manifestOf(path) {
  return JSON.parse(readFileSync(join(path, "package.json"), "utf8"));
}

/** The folders of a package and of all that it needs on this machine. */
function needed(path, found = new Set()) {
  if (found.has(path)) return found;
  found.add(path);
  const { dependencies = {}, optionalDependencies = {} } = manifestOf(path);
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
    const at = placesAbove(path).find((place) => existsSync(join(place, "node_modules", name)));
    if (at !== undefined) needed(join(at, "node_modules", name), found);
  }
  return found;
}

/** Where Node looks for what a package needs, from the inside. */
function placesAbove(path) {
  return path === folder ? [path] : [path, ...placesAbove(dirname(path))];
}

/** The bytes of a package, without those of packages in it. */
function sizeOf(path) {
  const sizes = readdirSync(path, { withFileTypes: true }).map((entry) => {
    const inside = join(path, entry.name);
    if (entry.isDirectory()) return entry.name === "node_modules" ? 0 : sizeOf(inside);
    return entry.isFile() ? statSync(inside).size : 0;
  });
  return sizes.reduce((sum, size) => sum + size, 0);
}
