/** What is shown is asked for again after this long, in milliseconds, */
const renewMs = 2_000;
/** so soon after an event, since several come at once, */
const afterEventMs = 250;
/** and never sooner than this long after the last question: an incident has many events each second. */
const leastMs = 1_000;

/**
 * Asks now, and then again: every two seconds, and soon after an event. There is never a second question before the
 * first one is answered. `isPaused`: nobody looks. `once`: it is asked again only when something happened.
 */
export function askAgain(
  ask: () => Promise<void>,
  { once = false, isPaused = () => false }: { readonly once?: boolean; readonly isPaused?: () => boolean } = {},
) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let due = Number.POSITIVE_INFINITY;
  let asked = Number.NEGATIVE_INFINITY;
  let isAsking = false;
  let isStopped = false;
  /** An earlier time wins, so that events cannot put a question off. */
  const by = (time: number) => {
    if (isStopped || time >= due) return;
    due = time;
    // The answer that is on its way comes first; then the time counts.
    if (!isAsking) wait();
  };
  const wait = () => {
    clearTimeout(timer);
    if (due < Number.POSITIVE_INFINITY) timer = setTimeout(() => void turn(), Math.max(0, due - Date.now()));
  };
  const turn = async (): Promise<void> => {
    due = Number.POSITIVE_INFINITY;
    if (isPaused()) {
      by(Date.now() + renewMs);
      return;
    }
    isAsking = true;
    asked = Date.now();
    await ask();
    isAsking = false;
    if (isStopped) return;
    if (!once) due = Math.min(due, Date.now() + renewMs);
    wait();
  };
  void turn();
  return {
    /** Asks now, or as soon as the question on its way is answered. */
    now: () => by(Date.now()),
    /** Something happened: asks soon. Many of these put nothing off. */
    soon: () => by(Math.max(Date.now() + afterEventMs, asked + leastMs)),
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
