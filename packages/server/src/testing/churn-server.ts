import { MessagePort } from "node:worker_threads";
import { createServer } from "../create-server.js";
import { createFolderSource } from "../sources/folder/folder-source.js";
import { randomFrom } from "./random.js";
import { cluster, listenerOfFile, loadAssignment } from "./test-resources.js";

/** What a server under churn is told to set: of each type, contents by name. */
export interface ChurnChange {
  readonly cluster: Readonly<Record<string, string>>;
  readonly endpoint: Readonly<Record<string, string>>;
  readonly listener: Readonly<Record<string, string>>;
}

/** What it answers: its address at first, then how each change arrived, in their order. */
export type ChurnAnswer = { readonly address: string } | { readonly arrived: string };

// A program: a server of a folder, and of what its parent tells it. Arguments: workers, the folder, how late each post
// to a worker may come (milliseconds), a seed.
const [workers = "1", directory = ".", lateMs = "0", seed = "1"] = process.argv.slice(2);
if (Number(lateMs) > 0) delayPosts(Number(lateMs), randomFrom(Number(seed)));
const answer = (told: ChurnAnswer) => void process.send?.(told);
const server = createServer({ workers: Number(workers) });
await server.addSource(createFolderSource({ directory, settleMs: 10 }));
const layer = server.config.layer("told");
let last = Promise.resolve();
process.on("message", (change: ChurnChange) => {
  const done = layer
    .set([
      ...Object.entries(change.cluster).map(([name, content]) => cluster(name, content)),
      ...Object.entries(change.endpoint).map(([name, content]) => loadAssignment(name, Number(content))),
      ...Object.entries(change.listener).map(([name, content]) => listenerOfFile(name, content)),
    ])
    .done();
  last = last.then(async () => answer({ arrived: (await done).result }));
});
process.on("disconnect", () => process.exit());
const { grpc } = await server.listen({ grpc: "127.0.0.1:0" });
answer({ address: grpc });

/** Has what this thread posts to workers come late, in its order. */
function delayPosts(mostMs: number, random: (bound: number) => number): void {
  const { postMessage } = MessagePort.prototype;
  const late = new WeakMap<MessagePort, Parameters<typeof postMessage>[]>();
  MessagePort.prototype.postMessage = function (this: MessagePort, ...message: Parameters<typeof postMessage>) {
    const [post] = message as readonly unknown[];
    const isOurs = typeof post === "object" && post !== null && "seq" in post && "messages" in post;
    const queue = late.get(this) ?? [];
    late.set(this, queue);
    // Most come at once, or no question that this thread waits for would ever be answered.
    if (!isOurs || (queue.length === 0 && random(3) > 0)) return postMessage.apply(this, message);
    queue.push(message);
    // Whichever timer is first, it posts what is first.
    setTimeout(() => postMessage.apply(this, queue.shift() as typeof message), random(mostMs));
  } as typeof postMessage;
}
