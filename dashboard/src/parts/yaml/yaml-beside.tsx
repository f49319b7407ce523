import { type DiffLine, diffLines } from "@xdskit/admin/line-diff";
import { useMemo, useState } from "preact/hooks";
import { type BesideRow, besideRows, placesNear } from "../../text/beside.js";
import { counted } from "../../text/counts.js";
import { lineOfField, type YamlLine, yamlLines } from "../../text/yaml.js";
import { context, isStopOf, Mark, maxLines, YamlText } from "./yaml-view.js";

/** One of two contents; null: there is none. */
export interface Side {
  readonly title: string;
  readonly json: unknown;
}

/**
 * Two contents beside each other, with equal lines in one row; below each other on a narrow screen. Lines that are
 * equal and far from a difference are shown on demand.
 */
export function YamlBeside({
  before,
  after,
  named = "",
}: {
  readonly before: Side;
  readonly after: Side;
  /** A field of the second content that somebody complained about. */
  readonly named?: string;
}) {
  const [isWhole, setWhole] = useState(false);
  const { rows, from, to } = useMemo(() => {
    const [from, to] = [before.json, after.json].map((json) => (json === null ? [] : yamlLines(json))) as [
      readonly YamlLine[],
      readonly YamlLine[],
    ];
    const text = (line: YamlLine) => line.text;
    return { rows: besideRows(diffLines(from.map(text), to.map(text))), from, to };
  }, [before.json, after.json]);
  const marked = named === "" ? 0 : lineOfField(to, named) + 1;
  const near = useMemo(() => {
    const isShown = (place: number) => rows[place]?.left?.kind !== "same" || rows[place]?.right?.right === marked;
    return placesNear(rows.length, isShown, context);
  }, [rows, marked]);
  const places = rows
    .map((_, place) => place)
    .filter((place) => isWhole || near.has(place))
    .slice(0, maxLines);
  const hidden = rows.length - near.size;
  const shown = { rows, places };
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: who has no mouse must be able to scroll. */}
      <section class="split" aria-label={`${before.title}, beside: ${after.title}`} tabIndex={0}>
        <Column {...before} {...shown} of="left" lines={from} />
        <Column {...after} {...shown} of="right" lines={to} marked={marked} />
      </section>
      {hidden === 0 ? null : (
        <button type="button" class="small" aria-pressed={isWhole} onClick={() => setWhole(!isWhole)}>
          {isWhole ? "Only what differs" : `Show ${counted(hidden, "equal line")} more`}
        </button>
      )}
    </>
  );
}

function Column({
  title,
  json,
  rows,
  places,
  of,
  lines,
  marked = 0,
}: Side & {
  readonly rows: readonly BesideRow[];
  /** The rows that are shown. */
  readonly places: readonly number[];
  readonly of: "left" | "right";
  /** The number of the line that is pointed at; 0: none. */
  readonly marked?: number;
  readonly lines: readonly YamlLine[];
}) {
  const yamlAt = (place: number) => lines[(rows[place]?.[of]?.[of] ?? 0) - 1];
  const stop = places.find((place) => isStopOf(yamlAt(place)));
  return (
    <div class="split-side">
      <h3>{title}</h3>
      {json === null ? (
        <p class="quiet">Nothing of this name.</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: who has no mouse must be able to scroll.
        <section class="code diff" aria-label={title} tabIndex={0}>
          <pre>
            {places.map((place, index) => (
              <Row
                key={place}
                line={rows[place]?.[of]}
                number={rows[place]?.[of]?.[of]}
                isMarked={marked !== 0 && rows[place]?.[of]?.[of] === marked}
                yaml={yamlAt(place)}
                isAfterGap={index > 0 && places[index - 1] !== place - 1}
                isStop={place === stop}
              />
            ))}
          </pre>
        </section>
      )}
    </div>
  );
}

const signs: Readonly<Record<DiffLine["kind"], string>> = { same: " ", removed: "-", added: "+" };

function Row({
  line,
  number,
  isMarked,
  yaml,
  isAfterGap,
  isStop,
}: {
  readonly line: DiffLine | undefined;
  readonly number: number | undefined;
  readonly isMarked: boolean;
  readonly yaml: YamlLine | undefined;
  readonly isAfterGap: boolean;
  readonly isStop: boolean;
}) {
  const gap = isAfterGap ? <span class="line gap">⋯{"\n"}</span> : null;
  if (line === undefined)
    return (
      <>
        {gap}
        <span class="line filler" aria-hidden="true">
          {"\n"}
        </span>
      </>
    );
  return (
    <>
      {gap}
      <span class={`line ${line.kind}${isMarked ? " marked" : ""}`}>
        <span class="line-number" aria-hidden="true">
          {number}
        </span>
        {signs[line.kind]} {yaml === undefined ? line.text : <YamlText line={yaml} isStop={isStop} />}
        {isMarked ? <Mark text="it names this" /> : null}
        {"\n"}
      </span>
    </>
  );
}
