import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { type ConfigFolder, createConfigFolder, type Files } from "../basics/config-folder.js";
import { metric } from "../basics/metrics.js";
import { peer } from "../basics/peers.js";
import { freePort } from "../basics/ports.js";
import { type ClientVariant, configSource } from "../basics/resources.js";
import { createScene, type Scene } from "../basics/scene.js";
import { serve, type XdskitServer } from "../xdskit/xdskit.js";
import { startEnvoy } from "./envoy.js";
import type { EnvoyAdmin } from "./envoy-admin.js";

/** What the files of a stage are made from. */
export interface StageProps {
  /** Where a resource says that the next is to be had, in the variant under test. */
  readonly source: Record<string, unknown>;
  /** A free port for a listener. */
  readonly port: number;
}

/** A folder, the server that serves it, and one Envoy that has all of it. */
export interface Stage extends StageProps {
  readonly scene: Scene;
  readonly folder: ConfigFolder;
  readonly server: XdskitServer;
  readonly admin: EnvoyAdmin;
}

export interface StageOptions {
  readonly variant: ClientVariant;
  /** The service of the type that the test is about, such as `secret`. */
  readonly service: string;
  /** Whether Envoy must have a stream to it, or else none. Default: what the variant says. */
  readonly ownStream?: boolean;
  readonly files: (props: StageProps) => Files;
  /** Further fields of Envoy's bootstrap. */
  readonly bootstrap?: (props: StageProps) => Readonly<Record<string, unknown>>;
  readonly serveArgs?: readonly string[];
  /**
   * How long Envoy may take until all is loaded: by default less than the 15 s after which it gives up waiting for a
   * resource.
   */
  readonly withinMs?: number;
}

/** Sets the stage of a test; undefined where there is no Envoy (the test is skipped, and fails in CI). */
export async function setStage(t: TestContext, options: StageOptions): Promise<Stage | undefined> {
  const path = peer("envoy", t);
  if (path === undefined) return undefined;
  const { variant, ownStream = variant.startsWith("per-type"), withinMs = 12_000 } = options;
  const scene = await createScene(t);
  const props: StageProps = { source: configSource(variant), port: await freePort() };
  const folder = await createConfigFolder(scene.directory, options.files(props));
  const server = await serve(scene, folder.path, { args: options.serveArgs ?? [] });
  const bootstrap = options.bootstrap?.(props) ?? {};
  const { admin } = await startEnvoy(scene, { path, server: server.grpc, variant, bootstrap, withinMs });
  const streams = await metric(server.admin, "xdskit_streams_open", { service: options.service });
  assert.equal(streams > 0, ownStream, `${streams} streams to ${options.service}`);
  return { ...props, scene, folder, server, admin };
}
