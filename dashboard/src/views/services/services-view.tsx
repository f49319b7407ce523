import { pathOf } from "../../api/request.js";
import type { GroupResource, GroupResources } from "../../api/types.js";
import { useCluster } from "../../api/use-cluster.js";
import { useLive } from "../../api/use-live.js";
import { curlOf } from "../../parts/acting/commands.js";
import { Copy } from "../../parts/acting/copy.js";
import { Empty, Failure, Findings, Loading } from "../../parts/message.js";
import { Search, Select } from "../../parts/search.js";
import { Time } from "../../parts/time.js";
import { linkTo, replaceQuery } from "../../router.js";
import { counted } from "../../text/counts.js";
import { isEmpty, otherFindings, type ServiceRow, servicesOf } from "../../text/services.js";

/** The most load assignments that the API gives at once: a namespace has fewer. */
const most = 2_000;

/** The Services of a Kubernetes cluster: who answers, and which object is wrong. */
export function ServicesView({ query }: { readonly query: URLSearchParams }) {
  const { cluster, error } = useCluster();
  const groups = useLive<{ readonly groups: readonly { readonly name: string }[] }>("groups");
  const names = groups.data?.groups.map(({ name }) => name) ?? [];
  const group = query.get("group") ?? names[0] ?? "";
  const namespace = query.get("namespace") ?? "";
  const asked = new URLSearchParams({ type: "endpoint", limit: String(most), q: `.${namespace}` });
  const path = `groups/${pathOf(group)}/resources?${asked}`;
  const rows = useLive<GroupResources>(group === "" ? undefined : path);
  const failed = error ?? groups.error ?? rows.error;
  if (cluster === undefined) return failed === undefined ? <Loading /> : <Failure error={failed} />;
  if (cluster === "none")
    return (
      <>
        <h1>Services</h1>
        <Empty title="This server serves no Services of Kubernetes." />
      </>
    );
  const services = servicesOf(rows.data?.resources ?? [], cluster.findings, namespace);
  const only = query.get("only") ?? "";
  const shown = services.filter((one) =>
    only === "empty" ? one.ports.some(isEmpty) : only === "" || one.findings.length > 0,
  );
  const others = otherFindings(cluster.findings, namespace);
  const rest = rows.data === undefined ? 0 : rows.data.total - rows.data.resources.length;
  const empty = services.filter(({ ports }) => ports.some(isEmpty)).length;
  return (
    <>
      <header class="page-head">
        <h1>Services</h1>
        <div class="actions">
          <Copy label="Copy curl" text={() => curlOf(path)} />
        </div>
        <p class="quiet">
          {counted(services.length, "Service")}, {empty} without endpoints
          {rest > 0 ? `; ${counted(rest, "port is", "ports are")} not shown: name a namespace` : ""}
        </p>
      </header>
      {cluster.state === "connected" ? null : (
        <p class="notice">
          The API server does not answer
          {cluster.asOf ? <>: what stands here is of {<Time at={cluster.asOf} />}</> : " yet"}.
        </p>
      )}
      <div class="filters">
        {names.length < 2 ? null : (
          <Select label="Group" value={group} options={names} change={(next) => replaceQuery({ group: next })} />
        )}
        <Search label="Namespace" value={namespace} change={(text) => replaceQuery({ namespace: text })} />
        <Select
          label="Only"
          value={only}
          options={["", ["empty", "without endpoints"], ["wrong", "with a finding"]]}
          change={(next) => replaceQuery({ only: next })}
        />
      </div>
      {rows.data === undefined ? <Loading /> : <Services group={group} services={shown} />}
      {others.length === 0 ? null : (
        <section class="panel" aria-label="Other objects">
          <h2>Other objects</h2>
          <Findings findings={others} />
        </section>
      )}
    </>
  );
}

function Services({ group, services }: { readonly group: string; readonly services: readonly ServiceRow[] }) {
  if (services.length === 0) return <Empty title="No Service fits." />;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: who has no mouse must be able to scroll.
    <section class="panel scroll stack" aria-label="Services" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {["Service", "Namespace", "Ports", "What is wrong"].map((name) => (
              <th scope="col" key={name}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {services.map(({ namespace, name, ports, findings }) => (
            <tr key={`${namespace}/${name}`}>
              <th scope="row">{name}</th>
              <td data-label="Namespace">{namespace}</td>
              <td class="nowrap">
                {ports.map((port) => (
                  <Port key={port.name} group={group} port={port} />
                ))}
              </td>
              <td class="words">
                <Findings findings={findings} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** A port, and how many answer there. */
function Port({ group, port }: { readonly group: string; readonly port: GroupResource }) {
  const [kind, sign] = isEmpty(port) ? ["rejected", "✕"] : port.health === "some" ? ["pending", "◐"] : ["synced", "●"];
  return (
    <div>
      <a href={linkTo("config", [group, "endpoint", port.name])}>{port.name.replace(/^.*:/, ":")}</a>{" "}
      <span class={`state state-${kind}`}>
        <span aria-hidden="true">{sign}</span> {port.summary}
      </span>
    </div>
  );
}
