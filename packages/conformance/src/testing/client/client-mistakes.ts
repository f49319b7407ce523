/** What a client may do wrong, and the checks that must notice. */
export const clientMistakes = {
  "no-node": ["client-node"],
  "no-answer": ["client-ack"],
  "wrong-version": ["client-ack"],
  "names-dropped": ["client-ack-names", "client-nack-names"],
  "all-accepted": ["client-nack", "client-nack-in-part"],
  "one-is-enough": ["client-nack-in-part"],
  "version-claimed": ["client-nack"],
  "deaf-after-nack": ["client-ack-after-nack"],
  "nonce-kept": ["client-reconnect"],
  "no-reconnect": ["client-reconnect"],
  "version-forgotten": ["client-reconnect-version"],
  "no-wait": ["client-backoff"],
  "never-unsubscribes": ["client-unsubscribe"],
  "no-fallback": ["client-fallback"],
  "never-returns": ["client-fallback-returns"],
  "always-requested": ["client-status-acked"],
  "always-acked": ["client-status-nacked"],
  "timer-early": ["client-timer"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** One thing that a client does wrong. */
export type ClientMistake = keyof typeof clientMistakes;
