import { pathOf } from "../../api/request.js";
import type { NodeContentsJson, NodeRow } from "../../api/types.js";
import { useLive } from "../../api/use-live.js";
import { usePorts } from "../../api/use-ports.js";
import { curlOf, overGrpc } from "../../parts/acting/commands.js";
import { Copy } from "../../parts/acting/copy.js";
import { Failure, Loading, WhereText } from "../../parts/message.js";
import { State } from "../../parts/state.js";
import { Time } from "../../parts/time.js";
import { YamlBeside } from "../../parts/yaml/yaml-beside.js";
import { YamlView } from "../../parts/yaml/yaml-view.js";
import { linkTo } from "../../router.js";
import { numberText } from "../../text/counts.js";
import { yamlText } from "../../text/yaml.js";

/** What a node runs of one resource beside what it should run, and its words if it rejected that. */
export function NodeResource({
  row: { id, group, cluster, types },
  path,
  type,
  name,
}: {
  readonly row: NodeRow;
  readonly path: string;
  readonly type: string;
  readonly name: string;
}) {
  const ofResource = `${path}/resources/${pathOf(type, name)}`;
  const { data, error } = useLive<NodeContentsJson>(ofResource);
  const ports = usePorts();
  const asNode = ["--node-id", id, ...(cluster === "" ? [] : ["--node-cluster", cluster])];
  if (data === undefined) return <section class="panel">{error ? <Failure error={error} /> : <Loading />}</section>;
  const { state, wanted, newest, running, rejection, where, cause, isBlamed } = data;
  const inConfiguration = linkTo("config", [group, type, name]);
  const isSame = data.version === data.acknowledged;
  const isHeldBack = state === "held-back";
  return (
    <section class="panel" aria-labelledby="resource-title">
      <header>
        <h2 id="resource-title">
          {name} <small>{type}</small> <State state={state} />
        </h2>
        <div class="actions">
          {wanted === null ? null : <Copy label="Copy YAML" text={() => yamlText(wanted)} />}
          <Copy label="Copy curl" text={() => curlOf(ofResource)} />
          <Copy label="Copy command" text={ports && (() => overGrpc(ports, "get", type, name, ...asNode))} />
        </div>
      </header>
      <p>
        {where === null ? null : (
          <>
            Written in <WhereText where={where} href={inConfiguration} />
          </>
        )}
        <a class="tall-link" href={inConfiguration}>
          See it in the configuration
        </a>
      </p>
      {rejection === null ? null : (
        <figure class="rejection">
          <figcaption>
            It rejected version <code>{rejection.version.slice(0, 12)}</code> <Time at={rejection.at} />
            {isBlamed ? "" : besides(rejection)}, and said:
          </figcaption>
          <blockquote>{rejection.message}</blockquote>
          {cause === null ? null : (
            <p>
              It names <code>{cause.field}</code>
              {cause.where === null ? null : (
                <>
                  , written in{" "}
                  <WhereText where={cause.where} href={linkTo("config", [group, type, name], { field: cause.field })} />
                </>
              )}
            </p>
          )}
        </figure>
      )}
      {state === "missing" ? (
        <p>The node asks for this name, and there is no such resource. Add it, or let nothing name it.</p>
      ) : isHeldBack ? (
        <>
          <p>{types.find((one) => one.type === type)?.why}. What it runs is all that it should run for now.</p>
          <YamlBeside
            before={{ title: "It runs", json: running }}
            after={{ title: "Its group has", json: newest }}
            named=""
          />
        </>
      ) : isSame ? (
        <>
          <h3>It runs what it should run</h3>
          <YamlView json={running} label="What it runs" />
        </>
      ) : (
        <YamlBeside
          before={{ title: "It runs", json: running }}
          after={{ title: "It should run", json: wanted }}
          named={cause?.field ?? ""}
        />
      )}
    </section>
  );
}

/** What else was in the response, where it does not name this resource as wrong. */
function besides({ blamed, resources }: NonNullable<NodeContentsJson["rejection"]>): string {
  const [first, ...more] = blamed;
  if (first !== undefined) return `, with ${first}${more.length === 0 ? "" : ` and ${more.length} more`} at fault`;
  return resources > 1 ? `, a response of ${numberText(resources)} resources of which it names none` : "";
}
