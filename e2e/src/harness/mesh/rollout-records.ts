import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Scene } from "../basics/scene.js";
import { eventually } from "../basics/wait.js";
import type { EtcdCluster } from "../peers/etcd.js";
import type { StepRecord } from "./rollout-checker.js";

const execute = promisify(execFile);

interface Written {
  readonly mod_revision: number;
  /** Base64. */
  readonly value?: string;
}

/**
 * Every record of the rollouts of a store that was ever written, in the order of etcd, as etcdctl reads them: a watch
 * of xdskit's may leave out those that were replaced at once. etcd must not have been compacted.
 */
export async function rolloutRecords(
  scene: Scene,
  etcdctl: string,
  etcd: EtcdCluster,
  prefix: string,
): Promise<readonly StepRecord[]> {
  const options = ["--endpoints", etcd.endpoints.join(","), "--write-out", "json"];
  const key = ["--prefix", `${prefix}/shared/rollouts/course/`];
  const { stdout } = await execute(etcdctl, [...options, "get", ...key]);
  const { kvs = [] } = JSON.parse(stdout) as { kvs?: readonly Written[] };
  const last = Math.max(...kvs.map(({ mod_revision }) => mod_revision));
  const watch = scene.start({
    name: "etcdctl watch",
    command: etcdctl,
    args: [...options, "watch", "--rev", "1", ...key],
  });
  const written: Written[] = [];
  let read = 0;
  const isRead = () => {
    for (; read < watch.stdout.length; read += 1) {
      const { Events = [] } = JSON.parse(watch.stdout[read] ?? "{}") as {
        Events?: readonly { readonly kv: Written }[];
      };
      for (const { kv } of Events) written.push(kv);
    }
    return kvs.length === 0 || (written.at(-1)?.mod_revision ?? 0) >= last;
  };
  await eventually("all records of rollouts", isRead, { withinMs: 60_000 });
  await watch.stop();
  return written.map(({ value = "" }) => {
    const text = Buffer.from(value, "base64").toString();
    // A mark of the writing comes first.
    return JSON.parse(text.slice(text.indexOf("\n") + 1)) as StepRecord;
  });
}
