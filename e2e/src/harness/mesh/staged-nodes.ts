import type { Scene } from "../basics/scene.js";
import { clusterType, fields, request, response, uint } from "../basics/wire.js";
import { ads, createRawClient, type RawClient, type RawStream } from "../peers/raw-client.js";

/** A content that a node has from a moment on. */
export interface Had {
  readonly node: string;
  readonly content: number;
  /** In milliseconds since 1970, as rollouts have it. */
  readonly at: number;
}

/** The cluster whose `connect_timeout`, in seconds, names the content. */
export const stagedCluster = "staged";

/**
 * Nodes that acknowledge all that they get, and note when they got which content. A node whose stream ends comes back
 * soon, says what it has, and has it until it is sent something else.
 */
export class StagedNodes {
  /** All that they had, in the order of time. */
  readonly had: Had[] = [];
  readonly #nodes: StagedNode[];

  constructor(scene: Scene, server: string, ids: readonly string[]) {
    this.#nodes = ids.map((id) => new StagedNode(server, id, (had) => this.had.push(had)));
    const timer = setInterval(() => {
      for (const node of this.#nodes) node.look();
    }, 20);
    scene.onEnd(() => {
      clearInterval(timer);
      for (const node of this.#nodes) node.close();
    });
  }

  get size(): number {
    return this.#nodes.length;
  }

  /** How many have this content now. */
  having(content: number): number {
    return this.#nodes.filter((node) => node.content === content).length;
  }
}

const backMs = 300;

class StagedNode {
  content = 0;
  readonly #server: string;
  readonly #id: string;
  readonly #noted: (had: Had) => void;
  #client: RawClient | undefined;
  #stream: RawStream | undefined;
  #answered = 0;
  #version = "";
  #endedAt = 0;

  constructor(server: string, id: string, noted: (had: Had) => void) {
    this.#server = server;
    this.#id = id;
    this.#noted = noted;
  }

  /** Answers what came, and comes back if its stream has ended. */
  look(): void {
    if (this.#stream === undefined) {
      if (Date.now() - this.#endedAt >= backMs) this.#open();
      return;
    }
    const { received } = this.#stream;
    for (; this.#answered < received.length; this.#answered += 1)
      this.#take(received[this.#answered] ?? Buffer.alloc(0));
    if (this.#stream.isOpen()) return;
    this.close();
    this.#endedAt = Date.now();
  }

  close(): void {
    this.#client?.close();
    this.#client = undefined;
    this.#stream = undefined;
  }

  #open(): void {
    this.#client = createRawClient(undefined, this.#server);
    this.#stream = this.#client.open(ads);
    this.#answered = 0;
    this.#stream.send(request({ type: clusterType, node: this.#id, version: this.#version }));
  }

  #take(bytes: Buffer): void {
    const { version, nonce, type, resources } = response(bytes);
    this.#version = version;
    this.#stream?.send(request({ type, version, nonce }));
    const cluster = resources.find((body) => fields(body, 1).join("") === stagedCluster);
    const content = uint(fields(cluster ?? Buffer.alloc(0), 4)[0], 1);
    if (content === this.content) return;
    this.content = content;
    this.#noted({ node: this.#id, content, at: Date.now() });
  }
}
