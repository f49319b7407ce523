import { useState } from "preact/hooks";
import { ApiError, pathOf, post } from "../../api/request.js";
import type { ChangeAnswer, Finding, Layer } from "../../api/types.js";
import { useLive } from "../../api/use-live.js";
import { Changes, Stages } from "../../parts/changes.js";
import { Copy } from "../../parts/copy.js";
import { Failure, Findings, Loading } from "../../parts/message.js";
import { Select } from "../../parts/search.js";
import { go, linkTo, type Place } from "../../router.js";
import { changeBody } from "../../text/change-body.js";
import { counted } from "../../text/counts.js";
import { Files } from "./files.js";
import { Rollouts } from "./rollouts.js";
import { Sources } from "./sources.js";

const example = `"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster
name: web
connect_timeout: 1s
type: STRICT_DNS`;

/** What was looked at: as long as the text is the same, it can be applied. */
interface Outlook {
  readonly text: string;
  readonly layer: string;
  readonly replace: boolean;
  readonly answer: ChangeAnswer;
}

/** A change before it is made: what it does, in which stages, and what is wrong with it. Then it is applied. */
export function ChangeView({ place }: { readonly place: Place }) {
  const layers = useLive<{ readonly layers: readonly Layer[] }>("layers", "once");
  const [text, setText] = useState("");
  const [asked, setLayer] = useState(place.query.get("layer") ?? "");
  const [replace, setReplace] = useState(false);
  const [outlook, setOutlook] = useState<Outlook | undefined>(undefined);
  const [error, setError] = useState<Error | undefined>(undefined);
  const [isBusy, setBusy] = useState(false);
  if (layers.data === undefined) return layers.error === undefined ? <Loading /> : <Failure error={layers.error} />;
  const all = layers.data.layers;
  const layer = all.find(({ name }) => name === asked) ?? all.findLast(({ writable }) => writable) ?? all[0];
  if (layer === undefined) return <h1>Change</h1>;
  const look = async () => {
    setBusy(true);
    try {
      setOutlook({
        text,
        layer: layer.name,
        replace,
        answer: await sendChange(layer, text, { replace, dryRun: true }),
      });
      setError(undefined);
    } catch (problem) {
      setOutlook(undefined);
      setError(problem as Error);
    }
    setBusy(false);
  };
  const isLooked = outlook?.text === text && outlook.layer === layer.name && outlook.replace === replace;
  return (
    <>
      <h1>Change</h1>
      <Sources />
      <section class="panel change-form" aria-label="A change">
        <div class="form-row">
          <Select
            label="Layer"
            value={layer.name}
            options={all.map(({ name, writable }) => [name, writable ? name : `${name} (compare only)`] as const)}
            change={setLayer}
          />
          <label class="check">
            <input
              type="checkbox"
              checked={replace}
              onChange={({ currentTarget }) => setReplace(currentTarget.checked)}
            />
            this is the whole layer
          </label>
          <Files take={setText} />
        </div>
        <label>
          <span class="hidden">Resources in YAML or JSON</span>
          <textarea
            spellcheck={false}
            placeholder={`Paste resources in YAML or JSON, such as\n\n${example}`}
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        </label>
        <div class="form-row">
          <button
            type="button"
            class={isLooked ? "" : "primary"}
            disabled={isBusy || text.trim() === ""}
            onClick={() => void look()}
          >
            What would it do?
          </button>
          <Copy label="Copy command" text={`xdskit apply -f FILE --layer ${layer.name} --dry-run`} />
        </div>
        {error === undefined ? null : <Failure error={placed(error, text)} />}
      </section>
      {isLooked ? <Looked outlook={outlook} layer={layer} /> : null}
      <Rollouts />
    </>
  );
}

/** What a change would do, and the button that does it. */
function Looked({ outlook: { text, replace, answer }, layer }: { readonly outlook: Outlook; readonly layer: Layer }) {
  const [reason, setReason] = useState("");
  const [error, setError] = useState<Error | undefined>(undefined);
  const [isBusy, setBusy] = useState(false);
  const { added, changed, removed } = answer.counts;
  const total = added + changed + removed;
  const apply = async () => {
    setBusy(true);
    try {
      const options = { replace, dryRun: false, message: reason, ifMatch: layer.head?.id };
      const { revision } = await sendChange(layer, text, options);
      go(linkTo("history", revision === null ? [] : [revision.id]));
    } catch (problem) {
      setError(problem as Error);
      setBusy(false);
    }
  };
  return (
    <section class="panel" aria-labelledby="outlook-title">
      <h2 id="outlook-title">
        It changes {counted(total, "resource")}{" "}
        <small>{`${added} added, ${changed} changed, ${removed} removed`}</small>
      </h2>
      <Findings findings={answer.findings} />
      {layer.writable && total > 0 ? (
        <div class="form-row">
          <label class="grow">
            <span class="hidden">Why</span>
            <input
              placeholder="Why? It stands in the history"
              value={reason}
              onInput={({ currentTarget }) => setReason(currentTarget.value)}
            />
          </label>
          <button type="button" class="primary" disabled={isBusy || reason.trim() === ""} onClick={() => void apply()}>
            Apply
          </button>
        </div>
      ) : null}
      {layer.writable ? null : (
        <p class="quiet">Layer {layer.name} is not written here: change its files, and they are served.</p>
      )}
      {error === undefined ? null : <Failure error={error} />}
      <Changes changes={answer.changed} total={total} />
      <Stages stages={answer.stages} />
    </section>
  );
}

async function sendChange(
  layer: Layer,
  text: string,
  options: {
    readonly replace: boolean;
    readonly dryRun: boolean;
    readonly message?: string;
    readonly ifMatch?: string | undefined;
  },
): Promise<ChangeAnswer> {
  const { body, contentType } = changeBody(text);
  const { replace, dryRun, message = "", ifMatch } = options;
  const query = new URLSearchParams({ fields: "proto", replace: String(replace), dryRun: String(dryRun), message });
  const path = `layers/${pathOf(layer.name)}/changes?${query}`;
  return post<ChangeAnswer>(path, body, { contentType, ifMatch });
}

/** The places of findings as they are in what was typed. */
function placed(error: Error, text: string): Error {
  if (!(error instanceof ApiError)) return error;
  const { lines, columns } = changeBody(text);
  const own = (finding: Finding): Finding => {
    const { file, line, column } = finding;
    if (file !== "body" || line === undefined) return finding;
    const shifted = column === undefined ? {} : { column: Math.max(1, column - columns) };
    return { ...finding, file: "line", line: line - lines, ...shifted };
  };
  return new ApiError(error.status, error.message, error.findings.map(own));
}
