import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { GraphJson } from "../../api/types.js";
import { linkTo } from "../../router.js";
import { boxHeight, columnStart, type Layout, layoutOf, type Placed } from "./layout.js";

/** On both sides, in pixels. */
const padding = 24;

/** Who uses what, as a picture: listener → route → virtual host → cluster → endpoints. */
export function Graph({
  graph,
  group,
  root,
  query,
}: {
  readonly graph: GraphJson;
  readonly group: string;
  readonly root: { readonly type: string; readonly name: string } | undefined;
  readonly query: URLSearchParams;
}) {
  const place = useRef<HTMLElement>(null);
  const [room, setRoom] = useState(0);
  const layout = useMemo(() => layoutOf(graph, room), [graph, room]);
  const { boxWidth } = layout;
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setRoom(element.clientWidth - padding));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const chosen = layout.nodes.find(({ node }) => node.type === root?.type && node.name === root.name);
  const [x, y] = [chosen?.x, chosen?.y];
  useEffect(() => {
    const element = place.current;
    if (element === null || x === undefined || y === undefined) return;
    element.scrollTo(x + boxWidth / 2 - element.clientWidth / 2, y - element.clientHeight / 2);
  }, [x, y, boxWidth]);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: who has no mouse must be able to scroll. */}
      <section class="scroll graph" aria-label="Who uses what" tabIndex={0} ref={place}>
        <div class="graph-canvas" style={{ width: `${layout.width}px`, height: `${layout.height}px` }}>
          <Lines graph={graph} layout={layout} />
          {layout.columns.map((type, index) => (
            <span
              class="graph-head"
              key={type}
              style={{ left: `${columnStart(index, layout)}px`, width: `${boxWidth}px` }}
            >
              {type}
            </span>
          ))}
          {layout.nodes.map((placed) => (
            <Box
              key={`${placed.node.type} ${placed.node.name}`}
              placed={placed}
              boxWidth={boxWidth}
              group={group}
              isRoot={placed === chosen}
              query={query}
            />
          ))}
        </div>
      </section>
      {graph.isCut ? <p class="quiet">There is more: choose a resource to see what is around it.</p> : null}
    </>
  );
}

/** Each has a symbol besides its colour. */
const healthSigns = { well: "●", some: "◐", none: "✕" } as const;
const healthText = { well: "all healthy", some: "some are not healthy", none: "none is healthy" } as const;

function Lines({
  graph: { edges },
  layout: { nodes, width, height, boxWidth },
}: {
  readonly graph: GraphJson;
  readonly layout: Layout;
}) {
  return (
    <svg width={width} height={height} aria-hidden="true">
      <title>Lines from each resource to what it uses</title>
      {edges.map(({ from, to }) => {
        const [a, b] = [nodes[from], nodes[to]];
        if (a === undefined || b === undefined) return null;
        const [x1, y1, x2, y2] = [a.x + boxWidth, a.y + boxHeight / 2, b.x, b.y + boxHeight / 2];
        const bend = Math.max(20, (x2 - x1) / 2);
        const isBroken = !b.node.isThere;
        return (
          <path
            key={`${from} ${to}`}
            class={isBroken ? "edge broken" : "edge"}
            d={`M${x1},${y1} C${x1 + bend},${y1} ${x2 - bend},${y2} ${x2},${y2}`}
          />
        );
      })}
    </svg>
  );
}

function Box({
  placed: { node, x, y },
  boxWidth,
  group,
  isRoot,
  query,
}: {
  readonly placed: Placed;
  readonly boxWidth: number;
  readonly group: string;
  readonly isRoot: boolean;
  readonly query: URLSearchParams;
}) {
  const { type, name, isThere, unused, summary, health } = node;
  const kind = isThere ? (unused ? "unused" : "there") : "gone";
  const style = { left: `${x}px`, top: `${y}px`, width: `${boxWidth}px`, height: `${boxHeight}px` };
  const content = (
    <>
      <span class="graph-name">{type === "virtual-host" ? name.slice(name.lastIndexOf("/") + 1) : name}</span>
      <small>
        {isThere ? null : "⚠ missing"}
        {unused ? <b class="mark-unused">◇ unused </b> : null}
        {health === null ? null : (
          <span class={`health-${health}`} title={healthText[health]}>
            <span aria-hidden="true">{healthSigns[health]}</span>{" "}
          </span>
        )}
        {summary}
      </small>
    </>
  );
  const sick = health === "some" || health === "none" ? ` graph-${health}` : "";
  const classes = `graph-box graph-${kind}${sick}${isRoot ? " graph-root" : ""}`;
  // A virtual host is a part of its route, unless it is a resource of its own.
  if (!isThere || type === "virtual-host")
    return (
      <span class={classes} style={style} title={name}>
        {content}
      </span>
    );
  return (
    <a
      class={classes}
      style={style}
      title={name}
      href={linkTo("config", [group, type, name], Object.fromEntries(query))}
    >
      {content}
    </a>
  );
}
