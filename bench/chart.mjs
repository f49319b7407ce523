// Draws the ratios of RESULTS.md as an SVG. After a new measurement:
//
//   node bench/chart.mjs > bench/ratios.svg
//
// A dot is one figure of one row: xdskit's divided by go-control-plane's, on a logarithmic axis. Left of 1 xdskit needs
// less.
import { readFileSync } from "node:fs";
import { argv } from "node:process";
import { pathToFileURL } from "node:url";

const shownRows = [
  "fan-delta-1000",
  "fan-sotw-1000",
  "fan-sotw-cds-1000",
  "fan-delta-5000",
  "fan-delta-100",
  "fan-delta-1-cluster",
  "wide-delta-1000",
  "storm-delta-1000",
  "size-delta-100",
  "size-delta-10000",
  "groups-delta-all",
  "groups-delta-one",
];

const series = [
  { column: "CPU a push", label: "CPU of a push", colour: "#0969da" },
  { column: "last stream", label: "last stream has it", colour: "#8250df" },
  { column: "connect, by the clock", label: "connect", colour: "#bf8700" },
  { column: "memory of an idle stream", label: "memory of an idle stream", colour: "#1a7f37" },
];

/** The table of ratios in RESULTS.md: of each row its cells by the beginning of their column's name. */
export function readRatios(markdown) {
  const lines = markdown.split("\n");
  const start = lines.findIndex((line) => line.startsWith("| row | CPU a push"));
  if (start < 0) throw new Error("no table of ratios");
  const cells = (line) =>
    line
      .slice(1, -1)
      .split(" | ")
      .map((cell) => cell.trim());
  const columns = cells(lines[start]);
  const rows = new Map();
  for (const line of lines.slice(start + 2)) {
    if (!line.startsWith("|")) break;
    const [name, ...values] = cells(line);
    rows.set(
      name,
      new Map(values.map((value, index) => [columns[index + 1], value === "" ? undefined : Number(value)])),
    );
  }
  return rows;
}

const least = 0.01;
const most = 4;
const width = 760;
const left = 170;
const right = 24;
const top = 58;
const rowHeight = 24;

/** Where a ratio lies on the logarithmic axis. */
function xOf(ratio) {
  const share = Math.log(Math.max(ratio, least) / least) / Math.log(most / least);
  return Number((left + share * (width - left - right)).toFixed(1));
}

export function drawRatios(rows) {
  const bottom = top + shownRows.length * rowHeight;
  const ticks = [0.01, 0.03, 0.1, 0.3, 1, 3];
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${bottom + 46}" font-family="sans-serif" font-size="12">`,
    "<title>xdskit as a share of go-control-plane; left of 1 xdskit needs less</title>",
    `<rect width="${width}" height="${bottom + 46}" rx="6" fill="#ffffff"/>`,
  ];
  let legend = left;
  for (const { label, colour } of series) {
    parts.push(`<circle cx="${legend}" cy="22" r="5" fill="${colour}"/>`);
    parts.push(`<text x="${legend + 10}" y="26" fill="#1f2328">${label}</text>`);
    legend += 36 + label.length * 6.4;
  }
  for (const tick of ticks) {
    const isEven = tick === 1;
    const x = xOf(tick);
    const stroke = isEven ? 'stroke="#cf222e" stroke-width="1.5"' : 'stroke="#d0d7de"';
    parts.push(`<line x1="${x}" y1="${top - 12}" x2="${x}" y2="${bottom}" ${stroke}/>`);
    parts.push(`<text x="${x}" y="${bottom + 16}" text-anchor="middle" fill="#57606a">${tick}</text>`);
  }
  parts.push(`<text x="${xOf(1) - 6}" y="${bottom + 34}" text-anchor="end" fill="#57606a">xdskit needs less</text>`);
  parts.push(`<text x="${xOf(1) + 6}" y="${bottom + 34}" fill="#cf222e">xdskit needs more</text>`);
  for (const [index, name] of shownRows.entries()) {
    const row = rows.get(name);
    if (row === undefined) throw new Error(`no row ${name}`);
    const y = top + index * rowHeight + 8;
    parts.push(`<text x="${left - 12}" y="${y + 4}" text-anchor="end" fill="#1f2328">${name}</text>`);
    for (const { column, label, colour } of series) {
      const [, ratio] = [...row].find(([title]) => title.startsWith(column)) ?? [];
      if (ratio === undefined) continue;
      parts.push(
        `<circle cx="${xOf(ratio)}" cy="${y}" r="5" fill="${colour}" fill-opacity="0.85"><title>${label}: ${ratio}</title></circle>`,
      );
    }
  }
  return `${[...parts, "</svg>"].join("\n")}\n`;
}

if (import.meta.url === pathToFileURL(argv[1] ?? "").href) {
  const markdown = readFileSync(new URL("RESULTS.md", import.meta.url), "utf8");
  process.stdout.write(drawRatios(readRatios(markdown)));
}
