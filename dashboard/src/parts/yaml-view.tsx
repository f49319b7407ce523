import { useMemo } from "preact/hooks";
import { diffLines } from "../text/diff.js";
import { type YamlLine, yamlLines } from "../text/yaml.js";
import { Key } from "./field-key.js";

/** More lines are not drawn at once. */
const mostLines = 5_000;

/** JSON as YAML, with the keys in a colour of their own. */
export function YamlView({ json, label }: { readonly json: unknown; readonly label: string }) {
  const lines = useMemo(() => yamlLines(json), [json]);
  const stop = lines.findIndex(isStopOf);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: who has no mouse must be able to scroll.
    <section class="code" aria-label={label} tabIndex={0}>
      <pre>
        {lines.slice(0, mostLines).map((line, index) => (
          <YamlRow key={index} line={line} number={index + 1} isStop={index === stop} />
        ))}
        {lines.length > mostLines ? `… ${lines.length - mostLines} more lines\n` : null}
      </pre>
    </section>
  );
}

/** Whether the tabulator can stop at the key of a line: it says what its field is. */
function isStopOf(line: YamlLine | undefined): boolean {
  return line?.key !== undefined && line.message !== "" && line.path[0] !== "@type";
}

function YamlRow({
  line,
  number,
  isStop,
}: {
  readonly line: YamlLine;
  readonly number: number;
  readonly isStop: boolean;
}) {
  return (
    <span class="line">
      <span class="line-number" aria-hidden="true">
        {number}
      </span>
      <YamlText line={line} isStop={isStop} />
      {"\n"}
    </span>
  );
}

/** A line with its key, which says what its field is. */
function YamlText({
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

/** So many lines around a difference are shown. */
const context = 3;

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
    const near = new Set<number>();
    for (const [index, { kind }] of lines.entries()) {
      if (kind === "same") continue;
      for (let other = index - context; other <= index + context; other += 1) near.add(other);
    }
    return lines
      .map((line, index) => ({ line, index }))
      .filter(({ index }) => near.has(index))
      .slice(0, mostLines);
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
