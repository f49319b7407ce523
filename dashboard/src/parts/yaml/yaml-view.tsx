import { diffLines } from "@xdskit/admin/line-diff";
import { useMemo } from "preact/hooks";
import { placesNear } from "../../text/beside.js";
import { lineOfField, type YamlLine, yamlLines } from "../../text/yaml.js";
import { Key } from "./field-key.js";
import { intoView } from "./into-view.js";

/** More lines are not drawn at once. */
export const maxLines = 5_000;

/** JSON as YAML, with the keys in a colour of their own. `mark`: a field that is pointed at, and scrolled to. */
export function YamlView({
  json,
  label,
  mark = "",
}: {
  readonly json: unknown;
  readonly label: string;
  readonly mark?: string;
}) {
  const lines = useMemo(() => yamlLines(json), [json]);
  const stop = lines.findIndex(isStopOf);
  const marked = mark === "" ? -1 : lineOfField(lines, mark);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: who has no mouse must be able to scroll.
    <section class="code" aria-label={label} tabIndex={0}>
      <pre>
        {lines.slice(0, maxLines).map((line, index) => (
          <YamlRow key={index} line={line} number={index + 1} isStop={index === stop} isMarked={index === marked} />
        ))}
        {lines.length > maxLines ? `… ${lines.length - maxLines} more lines\n` : null}
      </pre>
    </section>
  );
}

/** Whether the tabulator can stop at the key of a line: it says what its field is. */
export function isStopOf(line: YamlLine | undefined): boolean {
  return line?.key !== undefined && line.message !== "" && line.path[0] !== "@type";
}

function YamlRow({
  line,
  number,
  isStop,
  isMarked,
}: {
  readonly line: YamlLine;
  readonly number: number;
  readonly isStop: boolean;
  readonly isMarked: boolean;
}) {
  return (
    <span ref={isMarked ? intoView : undefined} class={isMarked ? "line marked" : "line"}>
      <span class="line-number" aria-hidden="true">
        {number}
      </span>
      <YamlText line={line} isStop={isStop} />
      {isMarked ? <Mark text="this field" /> : null}
      {"\n"}
    </span>
  );
}

/** What points at a line. */
export function Mark({ text }: { readonly text: string }) {
  return <b class="line-mark"> ◀ {text}</b>;
}

/** A line with its key, which says what its field is. */
export function YamlText({
  line: { text, key, message, path },
  isStop,
}: {
  readonly line: YamlLine;
  readonly isStop: boolean;
}) {
  if (key === undefined) return <>{text}</>;
  return (
    <>
      {text.slice(0, key.from)}
      <Key name={text.slice(key.from, key.to)} message={message} path={path} isStop={isStop} />
      {text.slice(key.to)}
    </>
  );
}

/** How many lines to show around a difference. */
export const context = 3;

/** What differs between two contents. Null: there is none on that side. */
export function YamlDiff({
  before,
  after,
  label,
}: {
  readonly before: unknown;
  readonly after: unknown;
  readonly label: string;
}) {
  const lines = useMemo(() => {
    const sides = [before, after].map((json) => (json === null ? [] : yamlLines(json)));
    const [from = [], to = []] = sides;
    const text = ({ text }: YamlLine) => text;
    return diffLines(from.map(text), to.map(text)).map((line) => ({
      ...line,
      yaml: line.right === undefined ? from[(line.left ?? 1) - 1] : to[line.right - 1],
    }));
  }, [before, after]);
  const shown = useMemo(() => {
    const near = placesNear(lines.length, (index) => lines[index]?.kind !== "same", context);
    return lines
      .map((line, index) => ({ line, index }))
      .filter(({ index }) => near.has(index))
      .slice(0, maxLines);
  }, [lines]);
  const stop = shown.findIndex(({ line }) => isStopOf(line.yaml));
  if (shown.length === 0) return <p class="quiet">The contents are equal.</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: who has no mouse must be able to scroll.
    <section class="code diff" aria-label={label} tabIndex={0}>
      <pre>
        {shown.map(({ line: { kind, text, left, right, yaml }, index }, place) => (
          <span key={index}>
            {place > 0 && shown[place - 1]?.index !== index - 1 ? <span class="line gap">⋯{"\n"}</span> : null}
            <span class={`line ${kind}`}>
              <span class="line-number" aria-hidden="true">
                {left ?? ""}
              </span>
              <span class="line-number" aria-hidden="true">
                {right ?? ""}
              </span>
              {kind === "added" ? "+ " : kind === "removed" ? "- " : "  "}
              {yaml === undefined ? text : <YamlText line={yaml} isStop={place === stop} />}
              {"\n"}
            </span>
          </span>
        ))}
      </pre>
    </section>
  );
}
