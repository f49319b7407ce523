import { pathOf } from "../../api/request.js";
import type { GraphJson, GroupContent } from "../../api/types.js";
import { useLive } from "../../api/use-live.js";
import { usePorts } from "../../api/use-ports.js";
import { curlOf, overGrpc } from "../../parts/acting/commands.js";
import { Copy } from "../../parts/acting/copy.js";
import { Failure, Loading, WhereText } from "../../parts/message.js";
import { YamlView } from "../../parts/yaml/yaml-view.js";
import { linkTo } from "../../router.js";
import { yamlText } from "../../text/yaml.js";
import { EndpointTable, endpointsOf } from "./endpoint-table.js";
import { Graph } from "./graph.js";
import { Marks } from "./resource-list.js";

/** One resource: what it is, who uses it, what it uses. */
export function ResourceView({
  group,
  isOnly,
  type,
  name,
  query,
  field,
}: {
  readonly group: string;
  /** There is no other group: any node gets the resource. */
  readonly isOnly: boolean;
  readonly type: string;
  readonly name: string;
  readonly query: URLSearchParams;
  /** A field that the link points at; empty: none. */
  readonly field: string;
}) {
  const path = `groups/${pathOf(group)}/resources/${pathOf(type, name)}`;
  const { data, error } = useLive<GroupContent>(path);
  const ports = usePorts();
  const graph = useLive<GraphJson>(`groups/${pathOf(group)}/graph?${new URLSearchParams({ type, name })}`);
  if (data === undefined) return <section class="panel">{error ? <Failure error={error} /> : <Loading />}</section>;
  const endpoints = endpointsOf(data.resource);
  const content = (
    <>
      <h3>Content</h3>
      <YamlView json={data.resource} label={`Content of ${name}`} mark={field} />
    </>
  );
  return (
    <section class="panel" aria-labelledby="resource-title">
      <header>
        <h2 id="resource-title">
          {name} <small>{type}</small>
        </h2>
        <div class="actions">
          <Copy label="Copy YAML" text={() => yamlText(data.resource)} />
          <Copy label="Copy curl" text={() => curlOf(path)} />
          {isOnly ? <Copy label="Copy command" text={ports && (() => overGrpc(ports, "get", type, name))} /> : null}
        </div>
      </header>
      <p>
        <Marks resource={data} />
      </p>
      <Origin data={data} />
      {field === "" ? null : content}
      {graph.data === undefined || graph.data.nodes.length < 2 ? null : (
        <>
          <h3>Who uses what</h3>
          <Graph graph={graph.data} group={group} root={{ type, name }} query={query} />
        </>
      )}
      <Names title="Uses" group={group} names={data.usesNames} />
      <Names title="Used by" group={group} names={data.usedByNames.map((one) => ({ ...one, isThere: true }))} />
      {endpoints.length === 0 ? null : <EndpointTable endpoints={endpoints} />}
      {field === "" ? content : null}
    </section>
  );
}

function Origin({ data: { where, layer, version } }: { readonly data: GroupContent }) {
  return (
    <dl class="facts">
      {where === null ? null : (
        <div>
          <dt>Written in</dt>
          <dd>
            <WhereText where={where} />
          </dd>
        </div>
      )}
      {layer === null ? null : (
        <div>
          <dt>Layer</dt>
          <dd>
            <a href={linkTo("history", [], { layer })}>{layer}</a>
          </dd>
        </div>
      )}
      <div>
        <dt>Version</dt>
        <dd>
          <code>{version}</code>
        </dd>
      </div>
    </dl>
  );
}

function Names({
  title,
  group,
  names,
}: {
  readonly title: string;
  readonly group: string;
  readonly names: readonly { readonly type: string; readonly name: string; readonly isThere: boolean }[];
}) {
  if (names.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul class="names">
        {names.map(({ type, name, isThere }) => (
          <li key={`${type} ${name}`}>
            {isThere ? <a href={linkTo("config", [group, type, name])}>{name}</a> : <b class="missing">⚠ {name}</b>}{" "}
            <small>{isThere ? type : `${type}, which is missing`}</small>
          </li>
        ))}
      </ul>
    </>
  );
}
