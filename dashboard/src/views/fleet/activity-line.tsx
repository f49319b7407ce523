import type { ActivityJson } from "../../api/types.js";
import { useLive } from "../../api/use-live.js";
import { linkTo } from "../../router.js";
import { counted, numberText } from "../../text/counts.js";

type Change = ActivityJson["changes"][number];

/** So much of the past is drawn, in milliseconds. */
const spanMs = 30 * 60_000;
/** A finger on a small screen needs a twelfth of its width. */
const closeMs = spanMs / 12;
const height = 48;
/** What is there at all must be seen. */
const leastHeight = 3;

/** The last half hour: what was sent, rejected and kept back, with a mark for each change. */
export function ActivityLine() {
  const { data } = useLive<ActivityJson>("activity");
  if (data === undefined || data.samples.length === 0) return null;
  const { stepMs, samples, changes } = data;
  const end = Date.parse(samples.at(-1)?.at ?? "") + stepMs;
  const columns = spanMs / stepMs;
  const left = (at: string) => (columns * (Date.parse(at) - (end - spanMs))) / spanMs;
  const most = Math.max(1, ...samples.map(({ pushes }) => pushes));
  // A few among thousands must be seen, too.
  const share = (count: number) =>
    count === 0 ? 0 : Math.max(leastHeight, height * Math.sqrt(Math.min(1, count / most)));
  const sums = sumsOf(samples);
  return (
    <section class="panel activity" aria-labelledby="activity-title">
      <header>
        <h2 id="activity-title">
          The last 30 minutes{" "}
          <small>
            {counted(sums.pushes, "response")} sent, {numberText(sums.rejections)} rejected
            {sums.heldBack > 0 ? `, up to ${counted(sums.heldBack, "node")} held back` : ""}
          </small>
        </h2>
      </header>
      <div class="activity-line">
        <svg viewBox={`0 0 ${columns} ${height}`} preserveAspectRatio="none" aria-hidden="true">
          {samples.map(({ at, pushes, rejections, heldBack }) => (
            <g key={at} transform={`translate(${Math.max(0, left(at))} 0)`}>
              <rect class="activity-pushes" width="0.9" height={share(pushes)} y={height - share(pushes)} />
              <rect class="activity-rejections" width="0.9" height={share(rejections)} y={height - share(rejections)} />
              {heldBack > 0 ? <rect class="activity-held" width="1" height="3" y="0" /> : null}
            </g>
          ))}
        </svg>
        <ul aria-label="Changes of the last 30 minutes">
          {marksOf(changes).map((mark) => (
            <li
              key={mark.first.id}
              style={{ left: `${Math.min(100, Math.max(0, (100 * left(mark.first.at)) / columns))}%` }}
            >
              <a
                href={mark.count === 1 ? linkTo("history", [mark.newest.id]) : linkTo("history")}
                title={wordsOf(mark)}
              >
                <span class="hidden">{wordsOf(mark)}</span>
              </a>
            </li>
          ))}
        </ul>
      </div>
      <p class="legend" aria-hidden="true">
        <span>
          <span class="activity-key activity-pushes" /> sent
        </span>
        <span>
          <span class="activity-key activity-rejections" /> rejected
        </span>
        <span>
          <span class="activity-key activity-held" /> held back
        </span>
        <span>▾ a change</span>
      </p>
    </section>
  );
}

interface Mark {
  /** Where the mark stands. */
  readonly first: Change;
  readonly newest: Change;
  readonly count: number;
}

/** Changes that are so close to each other that nobody could hit one of them have one mark. */
function marksOf(changes: readonly Change[]): readonly Mark[] {
  const marks: Mark[] = [];
  for (const change of changes) {
    const before = marks.at(-1);
    const isClose = before !== undefined && Date.parse(change.at) - Date.parse(before.first.at) < closeMs;
    if (isClose) marks[marks.length - 1] = { ...before, newest: change, count: before.count + 1 };
    else marks.push({ first: change, newest: change, count: 1 });
  }
  return marks;
}

function wordsOf({ newest: { layer, number, author }, count }: Mark): string {
  const newest = `${layer} ${number} by ${author}`;
  return count === 1 ? newest : `${counted(count, "change")}, the newest: ${newest}`;
}

function sumsOf(samples: ActivityJson["samples"]) {
  const sum = { pushes: 0, rejections: 0, heldBack: 0 };
  for (const { pushes, rejections, heldBack } of samples) {
    sum.pushes += pushes;
    sum.rejections += rejections;
    sum.heldBack = Math.max(sum.heldBack, heldBack);
  }
  return sum;
}
