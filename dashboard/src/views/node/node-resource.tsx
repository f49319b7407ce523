import { pathOf } from "../../api/request.js";
import type { NodeContents } from "../../api/types.js";
import { useLive } from "../../api/use-live.js";
import { curlOf } from "../../parts/commands.js";
import { Copy } from "../../parts/copy.js";
import { Failure, Loading, WhereText } from "../../parts/message.js";
import { State } from "../../parts/state.js";
import { Time } from "../../parts/time.js";
import { YamlDiff, YamlView } from "../../parts/yaml-view.js";
import { linkTo } from "../../router.js";
import { yamlText } from "../../text/yaml.js";

/** What a node runs of one resource beside what it is to run, and its words if it rejected that. */
export function NodeResource({
  group,
  path,
  type,
  name,
}: {
  readonly group: string;
  readonly path: string;
  readonly type: string;
  readonly name: string;
}) {
  const ofResource = `${path}/resources/${pathOf(type, name)}`;
  const { data, error } = useLive<NodeContents>(ofResource);
  if (data === undefined) return <section class="panel">{error ? <Failure error={error} /> : <Loading />}</section>;
  const { state, wanted, running, rejection, where, cause } = data;
  const isSame = data.version === data.acknowledged;
  return (
    <section class="panel" aria-labelledby="resource-title">
      <header>
        <h2 id="resource-title">
          {name} <small>{type}</small> <State state={state} />
        </h2>
        <div class="actions">
          {wanted === null ? null : <Copy label="Copy YAML" text={() => yamlText(wanted)} />}
          <Copy label="Copy curl" text={() => curlOf(ofResource)} />
        </div>
      </header>
      {where === null ? null : (
        <p>
          Written in <WhereText where={where} />
        </p>
      )}
      {rejection === null ? null : (
        <figure class="rejection">
          <figcaption>
            It rejected version <code>{rejection.version.slice(0, 12)}</code> <Time at={rejection.at} />, and said:
          </figcaption>
          <blockquote>{rejection.message}</blockquote>
          {cause === null ? null : (
            <p>
              It names <code>{cause.field}</code>
              {cause.where === null ? null : (
                <>
                  , written in <WhereText where={cause.where} />
                </>
              )}
            </p>
          )}
        </figure>
      )}
      {state === "missing" ? (
        <p>The node asks for this name, and there is no such resource. Add it, or let nothing name it.</p>
      ) : isSame ? (
        <>
          <h3>It runs what it is to run</h3>
          <YamlView json={running} label="What it runs" />
        </>
      ) : (
        <Beside running={running} wanted={wanted} />
      )}
      <p>
        <a href={linkTo("config", [group, type, name])}>See it in the configuration</a>
      </p>
    </section>
  );
}

function Beside({ running, wanted }: Pick<NodeContents, "running" | "wanted">) {
  return (
    <>
      <h3>What differs</h3>
      <YamlDiff before={running} after={wanted} label="What differs" />
      <div class="beside">
        <div>
          <h3>It runs</h3>
          {running === null ? (
            <p class="quiet">Nothing of this name.</p>
          ) : (
            <YamlView json={running} label="What it runs" />
          )}
        </div>
        <div>
          <h3>It is to run</h3>
          {wanted === null ? (
            <p class="quiet">Nothing of this name.</p>
          ) : (
            <YamlView json={wanted} label="What it is to run" />
          )}
        </div>
      </div>
    </>
  );
}
