import { isAbsolute, normalize } from "node:path";
import { snakeCase } from "@xdskit/api";
import { defaultServerLimits, everyNode } from "@xdskit/server";
import { z } from "zod";
import { accessSettings, replicasThatFit, tokensThatAreThere } from "./access-schema.js";
import { identitiesSchema, identitiesThatFit } from "./identities.js";
import { duration } from "./options/duration-schema.js";
import { maxWorkers } from "./options/worker-count.js";
import { groupsWithFolders } from "./relay-groups.js";

const folder = z.string().transform((text, context) => {
  const path = normalize(text).replace(/\/$/, "");
  if (text !== "" && !isAbsolute(path) && path !== ".." && !path.startsWith("../")) return path;
  context.addIssue({ code: "custom", message: "expected a folder below the configuration folder, relative to it" });
  return z.NEVER;
});

const aCount = "expected a whole number above 0";
const count = z.int({ error: aCount }).positive({ error: aCount });

/** An exact text, or a glob with `*` and `?`. A number or a boolean stands for its written form. */
const pattern = z.union([z.string(), z.number(), z.boolean()], { error: "expected a string" }).transform(String);

const nodeFields = ["id", "cluster", "locality.region", "locality.zone", "locality.sub_zone"];
const nodeField = z.string().refine((key) => nodeFields.includes(key) || /^metadata\../.test(key), {
  error: `there is no such field of a node; known are ${nodeFields.join(", ")} and metadata.KEY`,
});

const aClusterList = 'expected "all", or a list of names of clusters';
const clusterNames = z.array(z.string().min(1)).min(1, { error: "name a cluster, or say all" });
const loadReports = z.strictObject({
  interval: duration
    .refine((ms) => ms >= 100, { error: "load reports cannot come more often than every 100ms" })
    .refine((ms) => ms <= 30 * 86_400_000, { error: "load reports must come within 30 days" })
    .optional(),
  clusters: z.union([z.literal("all"), clusterNames], { error: aClusterList }).optional(),
  endpoints: z.boolean({ error: "expected true or false" }).optional(),
});
const ttlPolicy = z.enum(["auto", "advertised", "always"], { error: "expected auto, advertised or always" });
const errorPolicy = z.enum(["advertised", "always"], { error: "expected advertised or always" });

const anOrder =
  'expected "off", or how long to wait, such as { acknowledgement: 15s, linger: 2s, drain: 600s, named: 5s }';
const orderingTimes = z.strictObject({
  acknowledgement: duration.optional(),
  linger: duration.optional(),
  drain: duration.optional(),
  named: duration.optional(),
});

const aLoadReport = 'expected "off", or what to report, such as { interval: 10s, clusters: all }';
const onOrOff = z.enum(["on", "off"], { error: "expected on or off" });

const match = z.record(nodeField, pattern, {
  error: "expected what the fields of a node must be, such as { cluster: edge-* }; {} matches every node",
});

const aPercentage = "expected a number above 0 and at most 100";
const aStep = "expected one of { count: 1 }, { percent: 10 } and { match: { id: canary-* } }";
const rolloutStep = z.union(
  [
    z.strictObject({ percent: z.number().gt(0, { error: aPercentage }).max(100, { error: aPercentage }) }),
    z.strictObject({ count }),
    z.strictObject({ match }),
  ],
  { error: aStep },
);
const aRollout = 'expected "off", or steps, such as { steps: [{ count: 1 }, { percent: 10 }] }';
const rolloutSteps = z.strictObject({
  steps: z.array(rolloutStep).min(1, { error: "a rollout needs a step" }),
  soak: duration.optional(),
  halt_after: count.optional(),
  timeout: duration.refine((ms) => ms > 0, { error: "a step needs time" }).optional(),
});
const rollout = z.union([z.literal("off"), rolloutSteps], { error: aRollout });
const onReject = z.enum(["newest", "last_good"], { error: "expected newest or last_good" });

const group = z.strictObject({
  name: z.string().min(1),
  match,
  folders: z.array(folder).min(1, { error: "a group needs a folder" }).superRefine(distinct),
  load_reports: loadReports.optional(),
  ttl: ttlPolicy.optional(),
  resource_errors: errorPolicy.optional(),
  on_reject: onReject.optional(),
  rollout: rollout.optional(),
});

/** The server's limits: each by its own name, in snake_case. */
const limits = z.strictObject(
  Object.fromEntries(Object.keys(defaultServerLimits).map((name) => [snakeCase(name), count.optional()])),
);

const aPlace = "expected over or under: what wins where the folder has a resource of the same name";
const writtenLayer = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z0-9][\w.-]{0,99}$/, { error: "expected a word of letters, digits, dots, - and _" })
    .refine((name) => name !== "folder", { error: "the API calls the folder so" }),
  place: z.enum(["over", "under"], { error: aPlace }).optional(),
  groups: z.array(z.string().min(1)).min(1, { error: "leave it out for all groups" }).optional(),
});

const aWord = z.string().regex(/^[A-Za-z][\w.-]*$/, { error: "expected a word of letters, digits, dots, - and _" });
const ownType = z.strictObject({
  type: z.string().min(1),
  name: aWord.optional(),
  abbreviation: aWord.optional(),
  name_field: z.string().min(1).optional(),
  path: aWord.optional(),
  wildcard: z.boolean({ error: "expected true or false" }).optional(),
  after: z.string().min(1).optional(),
  service: z
    .strictObject({
      name: z.string().min(1),
      stream: z.string().min(1).optional(),
      delta: z.string().min(1).optional(),
      fetch: z.string().min(1).optional(),
    })
    .optional(),
});

const anAge = 'expected "off", or a duration with its unit, such as "30m" or "12h"';
const age = duration.refine((ms) => ms >= 1_000, { error: "a connection needs a second at least" });
const keepalive = z.strictObject({
  interval: duration.optional(),
  timeout: duration.optional(),
  max_age: z.union([z.literal("off"), age], { error: anAge }).optional(),
  max_age_grace: duration.optional(),
});

const folderSchema = z.strictObject({
  settle: duration.optional(),
  poll: duration.optional(),
  file_bytes: count.optional(),
  files: count.optional(),
  depth: count.optional(),
});

const aWorkerCount = `expected "auto", or a whole number of processes from 1 to ${maxWorkers}`;
const ofWorkers = { error: aWorkerCount };
const workerCount = z.int(ofWorkers).min(1, ofWorkers).max(maxWorkers, ofWorkers);

// Other text would be shown with the error that there is no such file.
const credentialsPath = z
  .string()
  .min(1)
  .refine((path) => !path.includes("-----BEGIN "), { error: "expected the path of a file, and not what stands in it" });

/** A list of revoked certificates says nothing where nobody shows one. */
function listThatFits(
  { client_ca, sds, crl }: Readonly<Partial<Record<"client_ca" | "sds" | "crl", string | undefined>>>,
  context: z.RefinementCtx,
): void {
  if (crl === undefined || client_ca !== undefined || sds !== undefined) return;
  context.addIssue({
    code: "custom",
    path: ["crl"],
    message: "without client_ca, no client is asked for a certificate",
  });
}

const certificateFiles = z.strictObject({
  cert: credentialsPath,
  key: credentialsPath,
  client_ca: credentialsPath.optional(),
  crl: credentialsPath.optional(),
});

const clientCertificates = z.enum(["required", "optional"], { error: "expected required or optional" }).optional();

const listenerTls = certificateFiles
  .partial()
  .extend({
    client_certs: clientCertificates,
    // Keys come over it, and only the agent's machine may see them.
    sds: z
      .string()
      .regex(/^unix:\/./, { error: "expected a Unix socket, such as unix:///run/spire/agent.sock" })
      .optional(),
    sds_certificate: z.string().min(1).optional(),
    sds_bundle: z.string().min(1).optional(),
  })
  .superRefine(({ cert, key, client_ca, sds, sds_certificate, sds_bundle }, context) => {
    const wrong = (at: string, message: string) => context.addIssue({ code: "custom", path: [at], message });
    for (const [at, value] of Object.entries({ cert, key, client_ca }))
      if (sds !== undefined && value !== undefined) wrong(at, "sds gives the certificates: leave this out");
    for (const [at, value] of Object.entries({ cert, key }))
      if (sds === undefined && value === undefined) wrong(at, "is missing");
    for (const [at, value] of Object.entries({ sds_certificate, sds_bundle }))
      if (sds === undefined && value !== undefined) wrong(at, "this is for sds");
  })
  .superRefine(listThatFits);

const anHistory = "expected what history to keep, such as { revisions: 1000, leases: 5000, age: 90d }";
const history = z.strictObject(
  { revisions: count.optional(), leases: count.optional(), age: duration.optional() },
  { error: anHistory },
);

const aListOfNames = "expected names that clients have from elsewhere, such as [ads, local_agent]";

const settings = z.strictObject({
  identities: identitiesSchema.optional(),
  groups: z
    .array(group)
    .min(1, { error: "where there are groups, there must be one; leave them out to serve everything to all" })
    .superRefine(unique("groups"))
    .optional(),
  ttl: ttlPolicy.optional(),
  authorities: z.array(z.string().min(1)).min(1, { error: "leave it out to serve any authority" }).optional(),
  resource_errors: errorPolicy.optional(),
  on_reject: onReject.optional(),
  on_invalid: z.enum(["refuse", "skip"], { error: "expected refuse or skip" }).optional(),
  references: z.enum(["strict", "refuse", "warn"], { error: "expected strict, refuse or warn" }).optional(),
  references_except: z.array(z.string().min(1), { error: aListOfNames }).optional(),
  rollout: rollout.optional(),
  limits: limits.optional(),
  default_node: z.strictObject({ id: z.string().min(1), cluster: z.string().optional() }).optional(),
  keepalive: keepalive.optional(),
  load_reports: z.union([z.literal("off"), loadReports], { error: aLoadReport }).optional(),
  csds: onOrOff.optional(),
  reflection: onOrOff.optional(),
  ordering: z.union([z.literal("off"), orderingTimes], { error: anOrder }).optional(),
  rest: z.strictObject({ hold: duration.optional(), request_timeout: duration.optional() }).optional(),
  tls: listenerTls.optional(),
  admin_tls: certificateFiles.superRefine(listThatFits).optional(),
  ...accessSettings,
  folder: folderSchema.optional(),
  descriptors: z.array(z.string().min(1)).optional(),
  types: z.array(ownType).optional(),
  layers: z.array(writtenLayer).superRefine(unique("layers")).optional(),
  state: history.optional(),
  workers: z.union([z.literal("auto"), workerCount], { error: aWorkerCount }).optional(),
  rebalance: onOrOff.optional(),
});

/** The shape of `xdskit.yaml`. Keys are snake_case, as in Envoy's own files. */
export const settingsSchema = settings
  .superRefine(layersThatFit)
  .superRefine(tokensThatAreThere)
  .superRefine(identitiesThatFit)
  .superRefine(replicasThatFit);

const nodeIdentity = z.strictObject({
  id: z.string().min(1).optional(),
  cluster: z.string().optional(),
  locality: z
    .strictObject({ region: z.string().optional(), zone: z.string().optional(), sub_zone: z.string().optional() })
    .optional(),
  metadata: z.record(z.string(), z.json()).optional(),
});

const aWildcard = "expected types of which everything is asked for, such as [cluster, listener]";
const wildcard = z.array(z.string().min(1), { error: aWildcard });
const prefetch = z.boolean({ error: "expected true or false" });

const upstreamTlsSchema = z.strictObject({
  ca: credentialsPath.optional(),
  cert: credentialsPath.optional(),
  key: credentialsPath.optional(),
  server_name: z.string().min(1).optional(),
});

const upstream = z.strictObject({
  servers: z.array(z.string().min(1)).min(1, { error: "an origin needs a server" }).optional(),
  variant: z.enum(["sotw", "delta"], { error: "expected sotw or delta" }).optional(),
  per_type: z.boolean({ error: "expected true or false" }).optional(),
  api: z.enum(["v2", "v3"], { error: "expected v2 or v3" }).optional(),
  refresh_delay: duration.optional(),
  tls: upstreamTlsSchema.optional(),
  token_file: z.string().min(1).optional(),
  node: nodeIdentity.optional(),
  wildcard: wildcard.optional(),
  prefetch: prefetch.optional(),
  cache: z.string().min(1).optional(),
  nack: z.enum(["all", "any"], { error: "expected all or any" }).optional(),
  ack_wait: duration.optional(),
  retained_bytes: count.optional(),
  names: count.optional(),
  hold: duration.optional(),
  validate: z.enum(["full", "types", "off"], { error: "expected full, types or off" }).optional(),
});

const relayedGroup = group.omit({ folders: true }).extend({
  upstream: z
    .strictObject({ node: nodeIdentity.optional(), wildcard: wildcard.optional(), prefetch: prefetch.optional() })
    .optional(),
});

/** The settings of a relay: those of a server without folders, and its origin. */
export const relaySettingsSchema = settings
  .omit({
    groups: true,
    folder: true,
    on_invalid: true,
    references: true,
    references_except: true,
    workers: true,
    rebalance: true,
    replicas: true,
  })
  .extend({
    groups: z
      .array(relayedGroup)
      .min(1, { error: "where there are groups, there must be one; leave them out to serve everything to all" })
      .superRefine(unique("groups"))
      .optional(),
    upstream: upstream.optional(),
  })
  .superRefine(({ layers, groups }, context) => layersThatFit({ layers, groups: groupsWithFolders(groups) }, context))
  .superRefine(tokensThatAreThere)
  .superRefine(identitiesThatFit);

/** The content of a relay's settings file. */
export type RelaySettings = z.output<typeof relaySettingsSchema>;

/** The content of a settings file; missing values are undefined and take the server's defaults. */
export type Settings = z.output<typeof settingsSchema> & {
  /** The layer below all others, which the command line adds to every group. No file says it. */
  readonly lowest?: string | undefined;
  /** The layer over that of a folder's ConfigMaps, or of those in none; undefined: no ConfigMaps are served. */
  readonly configMaps?: ((folder?: string) => string) | undefined;
};

function distinct(folders: readonly string[], context: z.RefinementCtx): void {
  for (const [index, name] of folders.entries()) {
    if (folders.indexOf(name) === index) continue;
    context.addIssue({ code: "custom", path: [index], message: `the folder "${name}" stands here twice` });
  }
}

function unique(noun: "groups" | "layers") {
  return (all: readonly { readonly name: string }[], context: z.RefinementCtx): void => {
    const seen = new Set<string>();
    for (const [index, { name }] of all.entries()) {
      const message = `there are two ${noun} named "${name}"`;
      if (seen.has(name)) context.addIssue({ code: "custom", path: [index, "name"], message });
      seen.add(name);
    }
  };
}

/** A layer has one writer, and its groups exist. */
function layersThatFit(
  {
    layers = [],
    groups,
  }: Pick<z.output<typeof settings>, "layers"> & {
    readonly groups?: readonly { readonly name: string; readonly folders: readonly string[] }[] | undefined;
  },
  context: z.RefinementCtx,
): void {
  for (const [index, { name, groups: having = [] }] of layers.entries()) {
    if (groups?.some(({ folders }) => folders.includes(name))) {
      const message = `the folder "${name}" of a group is a layer of this name`;
      context.addIssue({ code: "custom", path: ["layers", index, "name"], message });
    }
    for (const [at, group] of having.entries()) {
      if (groups === undefined ? group === everyNode : groups.some((one) => one.name === group)) continue;
      const message = `there is no group "${group}"`;
      context.addIssue({ code: "custom", path: ["layers", index, "groups", at], message });
    }
  }
}
