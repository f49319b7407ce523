import { useState } from "preact/hooks";
import { pathOf } from "../../api/request.js";
import type { RevisionJson } from "../../api/types.js";
import { Time } from "../../parts/time.js";
import { linkTo } from "../../router.js";
import { causeText } from "./cause.js";
import { Result } from "./result.js";

/** A revision in the list. */
export function RevisionRow({
  revision,
  isHead,
  isChosen,
  isCurrent,
  choose,
  isAsked,
  nameOf,
}: {
  readonly revision: RevisionJson;
  readonly isHead: boolean;
  readonly isChosen: boolean;
  readonly isCurrent: boolean;
  choose(): void;
  /** How far clients are with it is asked for without that somebody presses a button. */
  readonly isAsked: boolean;
  /** The name of a revision that is listed, too. */
  nameOf(id: string): string | undefined;
}) {
  const [isWanted, setWanted] = useState(false);
  const { id, layer, number, time, author, message, upserted, removed } = revision;
  const cause = causeText(revision, nameOf);
  return (
    <tr class={`history-row${isChosen ? " chosen" : ""}${isCurrent ? " current" : ""}`}>
      <td>
        <input type="checkbox" aria-label={`Compare ${layer} ${number}`} checked={isChosen} onChange={choose} />
      </td>
      <th scope="row" class="nowrap">
        <a href={linkTo("history", [id])}>
          {layer} {number}
        </a>
        {isHead ? <small> newest</small> : null}
      </th>
      <td class="nowrap">
        <Time at={time} />
      </td>
      <td class="author" data-label="by">
        {author}
      </td>
      <td class="words">
        {message === "" ? cause : message}
        {message === "" ? null : <small class="below">{cause}</small>}
      </td>
      <td class="nowrap size" title={`${upserted} added or changed, ${removed} removed`}>
        +{upserted} −{removed}
      </td>
      <td class="result">
        {isAsked || isWanted ? (
          <Result path={`revisions/${pathOf(id)}/arrival`} isLive={isAsked} isHead={isHead} />
        ) : (
          <button type="button" class="small" onClick={() => setWanted(true)}>
            How far?
          </button>
        )}
      </td>
    </tr>
  );
}
