import type { Peer } from "@xdskit/admin";
import { askAll } from "@xdskit/admin/listener";

/** The metrics of one process, in Prometheus' text format. */
export interface WorkerMetrics {
  readonly worker: number;
  readonly text: string;
}

interface MetricFamily {
  /** Its HELP and TYPE. */
  readonly about: string[];
  readonly samples: string[];
}

/**
 * The metrics of several processes as one text: each sample says by the label `worker` whose it is, and each metric is
 * described once.
 */
export function metricsOfWorkers(texts: readonly WorkerMetrics[]): string {
  const families = new Map<string, MetricFamily>();
  for (const { worker, text } of texts) {
    let family: MetricFamily | undefined;
    let isNew = false;
    for (const line of text.split("\n")) {
      const [, kind, name = ""] = /^# (HELP|TYPE) (\S+)/.exec(line) ?? [];
      if (kind !== undefined) {
        const known = families.get(name);
        isNew = known === undefined || (isNew && known === family);
        family = known ?? { about: [], samples: [] };
        families.set(name, family);
        if (isNew) family.about.push(line);
      } else if (line !== "") family?.samples.push(labelled(line, worker));
    }
  }
  return [...families.values()].map(({ about, samples }) => `${[...about, ...samples].join("\n")}\n\n`).join("");
}

/** The metrics of all processes of this machine: whoever scrapes gets any of them. */
export async function metricsOfMachine(own: string, slot: number, peers: readonly Peer[]): Promise<string> {
  const { answers } = await askAll<string>(peers, "metrics");
  const others = answers.map(({ replica, answer }) => ({
    worker: Number(/^worker (\d+)$/.exec(replica)?.[1]),
    text: answer,
  }));
  return metricsOfWorkers([{ worker: slot, text: own }, ...others].toSorted((a, b) => a.worker - b.worker));
}

/** `name{a="b"} 1` and `name 1`: a value of a label may hold anything but a line break. */
function labelled(sample: string, worker: number): string {
  const label = `worker="${worker}"`;
  const brace = sample.indexOf("{");
  const space = sample.indexOf(" ");
  if (brace < 0 || brace > space) return `${sample.slice(0, space)}{${label}}${sample.slice(space)}`;
  return `${sample.slice(0, brace + 1)}${label},${sample.slice(brace + 1)}`;
}
