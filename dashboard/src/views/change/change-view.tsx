import { useState } from "preact/hooks";
import { get, pathOf } from "../../api/request.js";
import type { LayerJson } from "../../api/types.js";
import { useLive } from "../../api/use-live.js";
import { curlOf, xdskitOf } from "../../parts/acting/commands.js";
import { Copy } from "../../parts/acting/copy.js";
import { useSaid } from "../../parts/acting/reason.js";
import { Failure, Loading } from "../../parts/message.js";
import { Select } from "../../parts/search.js";
import type { Place } from "../../router.js";
import { counted } from "../../text/counts.js";
import { joinFiles } from "../../text/joined-files.js";
import { type Draft, useDraft } from "./draft.js";
import { Files, type Taken } from "./files.js";
import { Looked, type Outlook } from "./outlook.js";
import { placed, placedFindings, sendChange } from "./send-change.js";
import { Sources } from "./sources.js";

const example = `"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster
name: web
connect_timeout: 1s
type: STRICT_DNS`;

interface Layers {
  readonly layers: readonly LayerJson[];
}

/** Asks the server what a draft would do to a layer. `looked`: once there is an answer. */
function useOutlook(looked: () => void) {
  const [outlook, setOutlook] = useState<Outlook | undefined>(undefined);
  const [error, setError] = useState<Error | undefined>(undefined);
  const [isBusy, setBusy] = useState(false);
  const look = async (layer: LayerJson, { text, files, replace }: Draft) => {
    setBusy(true);
    try {
      // What it is compared with must be what it is applied to: the newest by now, and not by the last look.
      const { layers: now } = await get<Layers>("layers");
      const head = now.find(({ name }) => name === layer.name)?.head?.id ?? null;
      const said = await sendChange(layer, text, { replace, dryRun: true, head });
      const answer = { ...said, findings: [...placedFindings(said.findings, text, files)] };
      looked();
      setOutlook({ text, layer: layer.name, replace, head, answer });
      setError(undefined);
    } catch (problem) {
      setOutlook(undefined);
      setError(placed(problem as Error, text, files));
    }
    setBusy(false);
  };
  return { outlook, error, isBusy, look };
}

/** A change before it is made: what it does, in which stages, and what is wrong with it. Then it is applied. */
export function ChangeView({ place }: { readonly place: Place }) {
  const layers = useLive<Layers>("layers");
  const [draft, changeDraft] = useDraft();
  const [asked, setLayer] = useState(place.query.get("layer") ?? "");
  // It stays where somebody looks again: a reason that was typed is one for the change.
  const why = useSaid();
  const { outlook, error, isBusy, look } = useOutlook(layers.renew);
  if (layers.data === undefined) return layers.error === undefined ? <Loading /> : <Failure error={layers.error} />;
  const all = layers.data.layers;
  const layer = all.find(({ name }) => name === asked) ?? all.findLast(({ writable }) => writable) ?? all[0];
  if (layer === undefined) return <h1>Change</h1>;
  const { text, files, replace } = draft;
  const isLooked = outlook?.text === text && outlook.layer === layer.name && outlook.replace === replace;
  const words = ["apply", "-f", "FILE", "--layer", layer.name, ...(replace ? ["--prune"] : []), "--dry-run"];
  const lookNow = () => void look(layer, draft);
  return (
    <>
      <header class="page-head">
        <h1>Change</h1>
        <div class="actions">
          <Copy label="Copy curl" text={() => changeCurl(layer.name, replace)} />
          <Copy label="Copy command" text={() => xdskitOf(...words)} />
        </div>
      </header>
      <Sources />
      <section class="panel change-form" aria-label="A change">
        <DraftFields {...{ all, layer, draft, setLayer, changeDraft }} />
        <div class="form-row">
          <button
            type="button"
            class={isLooked ? "" : "primary"}
            disabled={isBusy || text.trim() === ""}
            onClick={lookNow}
          >
            What would it do?
          </button>
          <span class="quiet">Nothing is changed before you apply it.</span>
        </div>
        {error === undefined ? null : <Failure error={error} />}
      </section>
      {isLooked ? <Looked key={outlook.head} {...{ outlook, layer, files, why }} lookAgain={lookNow} /> : null}
    </>
  );
}

interface DraftFieldsProps {
  readonly all: readonly LayerJson[];
  readonly layer: LayerJson;
  readonly draft: Draft;
  readonly setLayer: (name: string) => void;
  /** Takes what it makes of the newest draft. */
  readonly changeDraft: (change: (before: Draft) => Draft) => void;
}

/** The layer, the files and the text of a change. */
function DraftFields({ all, layer, draft, setLayer, changeDraft }: DraftFieldsProps) {
  const [note, setNote] = useState("");
  const take = (taken: Taken) => {
    if (taken.kind === "nothing") {
      setNote(taken.why);
      return;
    }
    const joined = joinFiles(taken.files);
    changeDraft(() => ({ text: joined.text, files: joined, replace: taken.isFolder }));
    setNote(`${counted(taken.files.length, "file")} taken.`);
  };
  return (
    <>
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
            checked={draft.replace}
            onChange={({ currentTarget: { checked } }) => changeDraft((before) => ({ ...before, replace: checked }))}
          />
          this is the whole layer
        </label>
        <Files take={take} />
        <span class="quiet" role="status">
          {note}
        </span>
      </div>
      <label>
        <span class="hidden">Resources in YAML or JSON</span>
        <textarea
          spellcheck={false}
          placeholder={`Paste resources in YAML or JSON, such as\n\n${example}`}
          value={draft.text}
          onInput={({ currentTarget: { value } }) => changeDraft((before) => ({ ...before, text: value }))}
        />
      </label>
    </>
  );
}

function changeCurl(layer: string, replace: boolean): string {
  const path = `layers/${pathOf(layer)}/changes?dryRun=true${replace ? "&replace=true" : ""}`;
  return `${curlOf(path)} -H 'content-type: application/yaml' --data-binary @change.yaml`;
}
