import { printable } from "../output/printable.js";

/** Text that is markup and is not escaped again. */
export interface Html {
  readonly text: string;
}

type Value = string | number | Html | readonly Html[];

/**
 * Markup with values. Values are escaped unless they are markup of this kind: no text of clients and files can begin an
 * element or end an attribute.
 */
export function html(strings: TemplateStringsArray, ...values: readonly Value[]): Html {
  return {
    text: strings.map((part, index) => part + (index < values.length ? markup(values[index] ?? "") : "")).join(""),
  };
}

function markup(value: Value): string {
  if (typeof value === "number") return String(value);
  if (typeof value === "string") return value.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
  return "text" in value ? value.text : value.map(({ text }) => text).join("");
}

/** A cell of a table. `state` colours it. */
export interface Cell {
  readonly text: string;
  readonly link?: string;
  readonly state?: string;
}

/** Texts of clients and files may have any length. */
const longestCell = 1_000;

/** Empty without rows. */
export function table(heads: readonly string[], rows: readonly (readonly Cell[])[]): Html {
  if (rows.length === 0) return html``;
  const head = heads.length === 0 ? html`` : html`<tr>${heads.map((text) => html`<th>${text}</th>`)}</tr>\n`;
  return html`<table>\n${head}${rows.map((row) => html`<tr>${row.map(cell)}</tr>\n`)}</table>`;
}

function cell({ text, link, state = "" }: Cell): Html {
  const isLong = text.length > longestCell;
  const shown = printable(isLong ? `${text.slice(0, longestCell)}…` : text);
  return html`<td class="${state}">${link === undefined || isLong ? html`${shown}` : html`<a href="${link}">${shown}</a>`}</td>`;
}
