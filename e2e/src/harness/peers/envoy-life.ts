import { type ConfigFolder, createConfigFolder, type Files, type ResourceText } from "../basics/config-folder.js";
import { freePort } from "../basics/ports.js";
import {
  type AnyVariant,
  cluster,
  configSource,
  httpListener,
  loadAssignment,
  routeConfiguration,
} from "../basics/resources.js";
import type { Scene } from "../basics/scene.js";
import { eventually } from "../basics/wait.js";
import { type HttpBackend, startHttpBackend } from "../traffic/http-backend.js";
import { startTraffic, type Traffic } from "../traffic/traffic.js";
import { serve, type XdskitServer } from "../xdskit/xdskit.js";
import { type Envoy, type EnvoyOptions, startEnvoy } from "./envoy.js";

/** Below the 15 s after which Envoy gives up waiting for a load assignment by itself. */
export const soonMs = 12_000;

/** What a step changes of the configuration that every step starts from. */
export interface ChangedResources {
  readonly clusters?: readonly ResourceText[];
  readonly endpoints?: readonly ResourceText[];
  readonly listeners?: readonly ResourceText[];
  readonly routes?: readonly ResourceText[];
}

/** What stands between Envoy and the server of the files. */
export type Between = (scene: Scene, server: XdskitServer) => Promise<XdskitServer>;

export interface EnvoyLifeOptions extends Pick<EnvoyOptions, "path" | "variant" | "bootstrap"> {
  readonly between: Between | undefined;
}

/** What the files are made from. */
interface LifeProps {
  /** Where a resource says that the next is to be had. */
  readonly source: Record<string, unknown>;
  /** The port of the listener. */
  readonly port: number;
  readonly red: HttpBackend;
  readonly green: HttpBackend;
  readonly blue: HttpBackend;
}

interface LifeParts extends LifeProps {
  readonly scene: Scene;
  readonly variant: AnyVariant;
  readonly folder: ConfigFolder;
  readonly relay: XdskitServer | undefined;
  readonly envoy: Envoy;
  readonly traffic: Traffic;
}

/** Starts backends, a server of files, and an Envoy that has all of them; requests go through it from now on. */
export async function startEnvoyLife(scene: Scene, options: EnvoyLifeOptions): Promise<EnvoyLife> {
  const { path, variant, bootstrap, between } = options;
  const props: LifeProps = {
    source: configSource(variant),
    red: await startHttpBackend(scene, "red"),
    green: await startHttpBackend(scene, "green"),
    blue: await startHttpBackend(scene, "blue"),
    port: await freePort(),
  };
  const folder = await createConfigFolder(scene.directory, filesOf(props, {}));
  const server = await serve(scene, folder.path);
  const relay = await between?.(scene, server);
  const address = (relay ?? server)[variant === "rest" ? "rest" : "grpc"];
  const envoy = await startEnvoy(scene, { path, server: address, variant, bootstrap });
  const traffic = startTraffic(scene, props.port);
  return new EnvoyLife({ ...props, scene, variant, folder, relay, envoy, traffic }, server);
}

/** An Envoy, the server of its files, and traffic through it. */
export class EnvoyLife {
  readonly parts: LifeParts;
  #server: XdskitServer;

  constructor(parts: LifeParts, server: XdskitServer) {
    this.parts = parts;
    this.#server = server;
  }

  /** The server of the files. */
  get server(): XdskitServer {
    return this.#server;
  }

  /** Whom Envoy talks to. */
  get facing(): XdskitServer {
    return this.parts.relay ?? this.#server;
  }

  /** Starts the server of the files once more, at its addresses. */
  async serveAgain(): Promise<void> {
    const { scene, folder } = this.parts;
    const { grpc, rest } = this.#server;
    this.#server = await serve(scene, folder.path, { grpc, rest });
  }

  /** A step starts from the same configuration, whatever became of the one before. */
  step(name: string, run: () => Promise<void>): Promise<boolean> {
    return this.parts.scene.step(name, async () => {
      await this.change({});
      await this.answersFrom("red");
      await run();
    });
  }

  ingress(serverName?: string): ResourceText {
    return ingressOf(this.parts, serverName);
  }

  /** Writes the files: what every step starts from, but for these. */
  change(changed: ChangedResources): Promise<void> {
    return this.parts.folder.put(filesOf(this.parts, changed));
  }

  /** The same in one atomic change. */
  swap(changed: ChangedResources): Promise<void> {
    return this.parts.folder.swap(filesOf(this.parts, changed));
  }

  answersFrom(...names: string[]): Promise<unknown> {
    const { traffic } = this.parts;
    const seen = traffic.ok();
    return eventually(
      `answers from ${names.join(" and ")} only`,
      () => {
        const last = traffic.lastBackends(Math.min(10, traffic.ok() - seen));
        return last.length === 10 && names.every((n) => last.includes(n)) && last.every((n) => names.includes(n));
      },
      { withinMs: soonMs },
    );
  }

  nothingWarms(): Promise<unknown> {
    const { admin } = this.parts.envoy;
    return eventually("no warming cluster", async () => (await admin.stat("cluster_manager.warming_clusters")) === 0, {
      withinMs: soonMs,
    });
  }

  /** What failed while `run` ran. */
  async failuresDuring(run: () => Promise<unknown>): Promise<readonly string[]> {
    const { traffic } = this.parts;
    const before = traffic.failures().length;
    await run();
    return traffic.failures().slice(before);
  }
}

function ingressOf({ port, source }: LifeProps, serverName?: string): ResourceText {
  return httpListener({ name: "ingress", port, routeName: "routes", source, serverName });
}

function filesOf(props: LifeProps, changed: ChangedResources): Files {
  const { source, red, blue } = props;
  return {
    "clusters.yaml": changed.clusters ?? [cluster({ name: "a", source }), cluster({ name: "b", source })],
    "endpoints.yaml": changed.endpoints ?? [loadAssignment("a", [red.port]), loadAssignment("b", [blue.port])],
    "listeners.yaml": changed.listeners ?? [ingressOf(props)],
    "routes.yaml": changed.routes ?? [routeConfiguration("routes", "a")],
  };
}
