import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse, parseAllDocuments } from "yaml";
import { root } from "../basics/peers.js";
import type { KubeApiserver, KubernetesObject } from "./kube-apiserver.js";

/** An Event, as kubectl reads it. */
export interface ReadEvent {
  readonly reason: string;
  readonly type: string;
  readonly message: string;
  readonly involvedObject: { readonly kind: string; readonly name: string; readonly uid: string };
}

/** Undefined: there are none. */
export async function eventsOf(api: KubeApiserver, namespace: string): Promise<readonly ReadEvent[] | undefined> {
  const { items } = JSON.parse((await api.ask("GET", `/api/v1/namespaces/${namespace}/events`)).body);
  return items.length > 0 ? items : undefined;
}

/** The role of a manifest in deploy/, for the user of the server. */
export function rightsIn(manifest: string): readonly KubernetesObject[] {
  const all = objectsIn(manifest);
  const role = all.find(({ kind }) => kind === "ClusterRole") ?? assert.fail("there is no role");
  const binding = all.find(({ kind }) => /RoleBinding$/.test(kind)) ?? assert.fail("nobody has the role");
  const subjects = [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "xdskit" }];
  return [role, { ...binding, subjects }];
}

/** The account of a manifest in deploy/ with its rights, as they are there. */
export function accountIn(manifest: string): readonly KubernetesObject[] {
  return objectsIn(manifest).filter(({ kind }) => /^Namespace$|^ServiceAccount$|Role/.test(kind));
}

function objectsIn(manifest: string): readonly KubernetesObject[] {
  const text = readFileSync(join(root, "deploy/kubernetes", manifest), "utf8");
  return parseAllDocuments(text).map((document) => document.toJS() as KubernetesObject);
}

/** The CRDs of the Gateway API that routes of Services need. */
export function routeCrdsIn(folder: string): readonly KubernetesObject[] {
  const names = ["grpcroutes", "httproutes", "referencegrants"];
  return names.map((name) => parse(readFileSync(join(folder, `gateway.networking.k8s.io_${name}.yaml`), "utf8")));
}
