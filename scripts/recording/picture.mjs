// Rows of a terminal as a picture that moves: SVG with CSS, light and dark, without a script.

const [charWidth, rowHeight, edge] = [8.4, 19, 14];

/**
 * @param {readonly (readonly (import("./screen.mjs").Cell | undefined)[])[]} rows
 * @param {{ columns: number, height: number, title: string }} options `height` in rows
 */
export function picture(rows, { columns, height, title }) {
  const [width, tall] = [Math.ceil(columns * charWidth) + 2 * edge, height * rowHeight + 2 * edge];
  const lines = rows.map((row, index) => line(row, index)).filter((text) => text !== "");
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${tall}" font-size="14">
  <title>${escaped(title)}</title>
  <style>
    text { font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #1d2433; white-space: pre }
    .box { fill: #f6f7fa; stroke: #d5dae6 } .bold { font-weight: 600 } .faint { opacity: 0.7 }
    .c1 { fill: #b3261e } .c2 { fill: #1a7335 } .c3 { fill: #8a5a00 } .c4 { fill: #2f5fc4 } .c5 { fill: #8a3ea8 } .c6 { fill: #0b7285 }
    @media (prefers-color-scheme: dark) {
      text { fill: #dfe4f0 } .box { fill: #161b28; stroke: #2c3448 }
      .c1 { fill: #ff8a80 } .c2 { fill: #7fd99a } .c3 { fill: #f0c674 } .c4 { fill: #8fb4ff } .c5 { fill: #d9a6f0 } .c6 { fill: #7fd4e0 }
    }
    tspan { visibility: hidden; animation: 0.01s forwards show }
    @keyframes show { to { visibility: visible } }
    .rows { animation: ${seconds(lastOf(rows))} step-end forwards scroll }
    @keyframes scroll { ${scrolling(rows, height)} }
    @media (prefers-reduced-motion: reduce) {
      tspan, .rows { animation-delay: 0s !important; animation-duration: 0.01s !important }
    }
  </style>
  <clipPath id="window"><rect width="${width}" height="${tall - edge}" /></clipPath>
  <rect class="box" x="0.5" y="0.5" width="${width - 1}" height="${tall - 1}" rx="8" />
  <g clip-path="url(#window)"><g class="rows">
${lines.join("\n")}
  </g></g>
</svg>
`;
}

/** One row: what came at one time in one style is one piece. */
function line(row, index) {
  const pieces = [];
  for (let column = 0; column < row.length; column += 1) {
    const { text, style, at } = row[column] ?? { text: " ", style: "", at: 0 };
    const last = pieces.at(-1);
    if (last !== undefined && last.style === style && last.at === at) last.text += text;
    else pieces.push({ column, text, style, at });
  }
  const said = pieces
    .filter(({ text }) => text.trim() !== "")
    .map(({ column, text, style, at }) => {
      const x = (edge + column * charWidth).toFixed(1);
      const styled = style === "" ? "" : ` class="${style}"`;
      return `<tspan x="${x}"${styled} style="animation-delay:${seconds(at)}">${escaped(text.trimEnd())}</tspan>`;
    });
  return said.length === 0 ? "" : `    <text y="${edge + (index + 1) * rowHeight - 5}">${said.join("")}</text>`;
}

/** The rows move up whenever one came that the window has no place for. */
function scrolling(rows, height) {
  const total = lastOf(rows);
  // Of rows that came together, the last one counts.
  const steps = new Map([["0%", 0]]);
  for (let index = height; index < rows.length; index += 1) {
    const first = Math.min(...rows[index].flatMap((cell) => (cell === undefined ? [] : [cell.at])));
    if (Number.isFinite(first)) steps.set(`${((first / total) * 100).toFixed(2)}%`, (index - height + 1) * rowHeight);
  }
  steps.set("to", Math.max(0, rows.length - height) * rowHeight);
  return [...steps].map(([when, up]) => `${when} { transform: translateY(-${up}px) }`).join(" ");
}

const lastOf = (rows) => Math.max(1, ...rows.flat().map((cell) => cell?.at ?? 0));
const seconds = (ms) => `${(ms / 1_000).toFixed(2)}s`;
const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
