import type { Variant } from "../../wire/messages.js";

/**
 * What a server may do wrong, and the checks that must notice. The endings are those of checks of both variants; `only`
 * names whole checks. The reference server has a switch for each.
 */
interface MistakeRow {
  readonly both?: readonly string[];
  readonly only?: readonly string[];
}

const rows = {
  "no-nonce": { both: ["response-fields"] },
  "no-version": { both: ["response-fields"] },
  "wrong-body-type": { both: ["body-types"] },
  "same-nonce": { both: ["unique-nonces"] },
  "names-twice": { both: ["unique-names"] },
  "ack-answered": { both: ["ack-silent"] },
  "repeated-ack-answered": { both: ["repeated-ack-silent"] },
  "nack-answered": { both: ["nack-no-loop"] },
  "nack-stalls": { both: ["nack-other-types"] },
  "nack-ends": { both: ["nack-other-types", "nack-no-loop"] },
  "nack-drops-names": { both: ["nack-with-names"] },
  "one-nonce-for-all": { both: ["answers-by-type"] },
  "last-name-dropped": { both: ["named"] },
  "names-ignored": { both: ["only-named", "wildcard-type-named"] },
  "added-ignored": { both: ["name-added"] },
  "sent-once": { both: ["name-dropped-and-added"] },
  "waits-for-all": { both: ["missing-among-named"] },
  "missing-ends": { both: ["missing-alone"] },
  "few-names": { both: ["many-names"] },
  "star-is-a-name": { both: ["wildcard-star", "name-then-star"] },
  "no-legacy-wildcard": { both: ["wildcard-without-names"] },
  "name-ends-star": { only: ["sotw-wildcard-and-name"] },
  "empty-is-wildcard": { both: ["nothing-after-name"] },
  "old-nonce-stale": { both: ["reconnect-old-nonce"] },
  "unknown-nonce-ends": { both: ["unknown-nonce"] },
  "node-always": { both: ["node-once"] },
  "node-only-once": { both: ["node-repeated"] },
  "node-fixed": { both: ["node-differs"] },
  "unknown-type-ends": { both: ["unknown-type"] },
  "type-guessed": { both: ["ads-without-type"] },
  "one-stream": { both: ["two-streams"] },
  "broken-bytes-end-all": { both: ["broken-bytes"] },
  "half-close-ignored": { both: ["half-close"] },
  "half-close-fails": { both: ["half-close"] },
  "service-differs": { both: ["services"] },
  "service-needs-type": { both: ["service-without-type"] },
  "service-any-type": { both: ["service-other-type"] },
  "clusters-last": { both: ["ads-order"] },
  "reconnect-in-part": { only: ["sotw-reconnect-current"] },
  "any-version-current": {
    only: ["sotw-reconnect-unknown-version", "sotw-reconnect-another-name", "sotw-reconnect-after-change"],
  },
  "stale-answered": { only: ["sotw-stale-nonce"] },
  "state-in-parts": { only: ["sotw-full-state"] },
  "initial-ignored": { only: ["delta-reconnect-current"] },
  "initial-believed": { only: ["delta-reconnect-old-version", "delta-reconnect-after-change"] },
  "deleted-untold": { only: ["delta-reconnect-deleted"] },
  "initial-subscribes": { only: ["delta-initial-is-no-subscription"] },
  "missing-untold": { only: ["delta-missing-removed"] },
  "never-resends": { only: ["delta-subscribed-again", "delta-wildcard-and-name"] },
  "resends-all": { only: ["delta-others-not-resent"] },
  "phantom-ends": { only: ["delta-unsubscribe-unknown"] },
  "unsubscribed-untold": { only: ["delta-unsubscribe-below-wildcard", "delta-unsubscribe-beside-wildcard"] },
  "unsubscribing-is-wildcard": { only: ["delta-first-only-unsubscribes"] },
  "ack-drops-names": { only: ["delta-ack-with-names"] },
  "stale-drops-names": { only: ["delta-stale-nonce-with-names"] },
  "later-initial-subscribes": { only: ["delta-later-initial-ignored"] },
  "delta-lacks-one": { only: ["variants-agree"] },
  "second-change-lost": { both: ["schedule-content"] },
  "updates-untold": { both: ["updated-cluster", "updated-endpoint", "updated-listener", "updated-route"] },
  "version-kept": { both: ["updated-cluster", "updated-route"] },
  "all-resent": { both: ["unchanged-silent"] },
  "removals-untold": { both: ["removed", "all-removed"] },
  "created-untold": { both: ["created-later"] },
  "shown-once": { both: ["created-again"] },
  "others-told": { both: ["other-changes-silent", "unsubscribed-silent", "wildcard-ended"] },
  "rejected-stalls": { both: ["update-after-nack"] },
  "one-client": { both: ["two-clients-updated"] },
  "restart-deaf": { both: ["restarted"] },
  "updates-backwards": { both: ["update-order"] },
  "breaks-before-make": { both: ["make-before-break", "schedule-make-before-break"] },
} as const satisfies Readonly<Record<string, MistakeRow>>;

/** One thing that a server does wrong. */
export type Mistake = keyof typeof rows;

/** All mistakes, each with the checks that must fail. */
export const mistakes: ReadonlyMap<Mistake, readonly string[]> = new Map(
  Object.entries<MistakeRow>(rows).map(([mistake, { both = [], only = [] }]) => {
    const ofBoth = (["sotw", "delta"] satisfies Variant[]).flatMap((variant) => both.map((end) => `${variant}-${end}`));
    return [mistake as Mistake, [...ofBoth, ...only]];
  }),
);
