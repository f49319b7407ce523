import { pathOf } from "../../api/request.js";
import type { NodeResources, NodeRow, NodeTimeline } from "../../api/types.js";
import { useLive } from "../../api/use-live.js";
import { usePorts } from "../../api/use-ports.js";
import { curlOf, overGrpc } from "../../parts/acting/commands.js";
import { Copy } from "../../parts/acting/copy.js";
import { Empty, Failure, Loading } from "../../parts/message.js";
import { State } from "../../parts/state.js";
import { Exact, Time } from "../../parts/time.js";
import { linkTo } from "../../router.js";
import { counted, numberText } from "../../text/counts.js";
import { Loads } from "./loads.js";
import { NodeResource } from "./node-resource.js";
import { NodeResourceList, notSynced } from "./node-resource-list.js";
import { Timeline } from "./timeline.js";
import { TypeCards } from "./type-cards.js";

/** One node: what it asks for, what it has, what it said, and what happened. */
export function NodeView({
  id,
  parts,
  query,
}: {
  readonly id: string;
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
}) {
  const path = `nodes/${pathOf(id)}`;
  const row = useLive<NodeRow>(`${path}/summary`);
  const timeline = useLive<NodeTimeline>(`${path}/timeline`);
  const worst = useLive<NodeResources>(`${path}/resources?state=${notSynced}&limit=1`);
  const [type, name] = parts;
  if (row.data === undefined && timeline.data === undefined) {
    if (row.error === undefined) return <Loading />;
    return <Unknown id={id} error={row.error} />;
  }
  const [first] = worst.data?.resources ?? [];
  const rejected = row.data?.types.find((one) => one.type === first?.type)?.rejected;
  // It is about none of the resources more than about the others.
  const isWhole = first?.state === "rejected" && !first.isBlamed && (rejected?.resources ?? 0) > 1;
  const shown = type !== undefined && name !== undefined ? { type, name } : isWhole ? undefined : first;
  return (
    <>
      <Head id={id} row={row.data} path={path} />
      {row.data === undefined ? (
        <Empty title="This node is not connected.">
          <p>Below is what happened until it went.</p>
        </Empty>
      ) : (
        <>
          <TypeCards row={row.data} type={query.get("type") ?? ""} />
          <div class="two-columns node-columns">
            <NodeResourceList id={id} path={path} query={query} shown={shown} />
            {shown === undefined && rejected !== undefined && first !== undefined ? (
              <RejectedResponse type={first.type} rejected={rejected} />
            ) : shown === undefined ? (
              <section class="panel">
                <Empty title="It has everything that it should have.">
                  <p>Choose a resource to see what it runs.</p>
                </Empty>
              </section>
            ) : (
              <NodeResource row={row.data} path={path} type={shown.type} name={shown.name} />
            )}
          </div>
        </>
      )}
      {timeline.data === undefined ? null : <Timeline timeline={timeline.data} />}
      {row.data === undefined ? null : <Loads path={path} />}
    </>
  );
}

/** A response that it rejected without a word on which of its resources is wrong. */
function RejectedResponse({
  type,
  rejected: { at, version, message, resources },
}: {
  readonly type: string;
  readonly rejected: NonNullable<NodeRow["types"][number]["rejected"]>;
}) {
  return (
    <section class="panel" aria-labelledby="response-title">
      <h2 id="response-title">
        It rejects a response of {numberText(resources)} {type} resources, and names none of them
      </h2>
      <figure class="rejection">
        <figcaption>
          It rejected version <code>{version.slice(0, 12)}</code> <Time at={at} />, and said:
        </figcaption>
        <blockquote>{message}</blockquote>
      </figure>
      <p>
        Any of them may be at fault, or all of them together. Choose one to see what it runs and what it should run.
      </p>
    </section>
  );
}

function Unknown({ id, error }: { readonly id: string; readonly error: Error }) {
  return (
    <>
      <h1>{id}</h1>
      <Failure error={error} />
      <p>
        <a href={linkTo("fleet", [], { q: id })}>Search the fleet for it</a>
      </p>
    </>
  );
}

function Head({ id, row, path }: { readonly id: string; readonly row: NodeRow | undefined; readonly path: string }) {
  const ports = usePorts();
  return (
    <header class="page-head">
      <p class="crumbs">
        <a href={linkTo("fleet")}>Fleet</a> /
      </p>
      <h1>
        {id} {row === undefined ? <span class="state">gone</span> : <State state={row.state} />}
      </h1>
      <div class="actions">
        <Copy label="Copy curl" text={() => curlOf(path)} />
        <Copy label="Copy command" text={ports && (() => overGrpc(ports, "status", id))} />
      </div>
      {row === undefined ? null : <Facts row={row} />}
    </header>
  );
}

function Facts({ row }: { readonly row: NodeRow }) {
  const { revisions = [] } = row;
  const facts: readonly (readonly [string, string])[] = [
    ["Group", row.group],
    ["Client", row.client],
    ["Cluster", row.cluster],
    ["Locality", row.locality],
    ["Replica", row.replicas.join(", ")],
  ];
  return (
    <dl class="facts">
      {facts
        .filter(([, value]) => value !== "")
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      {revisions.length === 0 ? null : (
        <div>
          <dt>Revision</dt>
          <dd>
            {revisions.map(({ id, layer, number, isBefore }, index) => (
              <span key={layer}>
                {index === 0 ? "" : ", "}
                {isBefore ? "before " : ""}
                <a href={linkTo("history", [id])}>
                  {layer} #{number}
                </a>
              </span>
            ))}
          </dd>
        </div>
      )}
      <div>
        <dt>Connected</dt>
        <dd>
          <Time at={row.connectedSince} />, {counted(row.streams, "stream")}
        </dd>
      </div>
      {row.certificate === undefined ? null : <Certificate certificate={row.certificate} />}
    </dl>
  );
}

/** The identity in its certificate. */
function Certificate({
  certificate: { subject, names, validTo },
}: {
  readonly certificate: NonNullable<NodeRow["certificate"]>;
}) {
  return (
    <div>
      <dt>Certificate</dt>
      <dd>
        {subject}
        {names.map((name) => (
          <code key={name}> {name}</code>
        ))}
        {validTo === null ? null : (
          <small>
            , until <Exact at={validTo} />
          </small>
        )}
      </dd>
    </div>
  );
}
