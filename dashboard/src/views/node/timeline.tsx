import type { NodeTimeline } from "../../api/types.js";
import { Empty } from "../../parts/message.js";
import { Time } from "../../parts/time.js";
import { linkTo } from "../../router.js";
import { counted } from "../../text/counts.js";

type Moment = NodeTimeline["moments"][number];

/** What happened between a node and the server, the newest first. */
export function Timeline({ timeline: { moments } }: { readonly timeline: NodeTimeline }) {
  return (
    <section class="panel" aria-labelledby="timeline-title">
      <h2 id="timeline-title">What happened</h2>
      {moments.length === 0 ? <Empty title="Nothing yet." /> : null}
      <ol class="timeline">
        {moments.map((moment, index) => (
          <li
            key={`${moment.at} ${moment.kind} ${moment.type ?? ""} ${moments.length - index}`}
            class={`moment-${moment.kind}`}
          >
            <span class="moment-sign" aria-hidden="true">
              {signs[moment.kind]}
            </span>
            <span class="moment-kind">{words[moment.kind]}</span>
            <span class="moment-text">
              {textOf(moment)}
              {moment.revision === undefined ? null : <Revision revision={moment.revision} />}
              {moment.message === undefined || moment.kind !== "rejected" ? null : `: ${moment.message}`}
            </span>
            <Time at={moment.at} />
          </li>
        ))}
      </ol>
    </section>
  );
}

const signs: Readonly<Record<Moment["kind"], string>> = {
  connected: "⇄",
  disconnected: "⊘",
  sent: "→",
  acknowledged: "✓",
  rejected: "✕",
};

const words: Readonly<Record<Moment["kind"], string>> = {
  connected: "connected",
  disconnected: "disconnected",
  sent: "sent",
  acknowledged: "ACK",
  rejected: "NACK",
};

function Revision({ revision: { id, layer, number } }: { readonly revision: NonNullable<Moment["revision"]> }) {
  return (
    <>
      , <a href={linkTo("history", [id])}>{`${layer} #${number}`}</a>
    </>
  );
}

/** The version is told where no revision is known. */
function textOf({ kind, type, version, revision, resources = 0, removed = 0, peer, service, message }: Moment): string {
  const short =
    version === undefined || version === "" || revision !== undefined ? "" : `, version ${version.slice(0, 12)}`;
  switch (kind) {
    case "connected":
      return `${service} stream from ${peer}`;
    case "disconnected":
      return `${service} stream${message === "" || message === undefined ? "" : `: ${message}`}`;
    case "sent":
      return `${type}: ${counted(resources, "resource")}${removed > 0 ? `, ${removed} removed` : ""}${short}`;
    case "acknowledged":
    case "rejected":
      return `${type}${short}`;
  }
}
