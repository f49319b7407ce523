import { type Finding, type PositionedResource, type Resource, throwIfAny, XdskitError } from "@xdskit/api";
import type { CommitInfo, LayerUpdate, LayerWrite, Revision, RollbackTerms } from "@xdskit/server";
import { changesJson, countsOf } from "../answers/changes.js";
import { leaseJson } from "../answers/lease-json.js";
import { pageBehindCursor } from "../answers/page.js";
import type { ApiLayer } from "../contract/admin-options.js";
import { usualPage } from "../contract/limits.js";
import { ApiProblem } from "../contract/problem.js";
import type { ReadChange } from "../requests/read-change.js";
import type { ApiContext } from "./api-context.js";
import { type ChangesPage, isLarge, type Outlook, outlookInTurns, outlookOf } from "./outlook.js";

/** A change that a request asks for. */
export interface AskedChange extends Pick<ReadChange, "upsert" | "remove" | "replace" | "dryRun" | "findings"> {
  readonly expected: LayerWrite["expected"];
  /** Checked in the turn in which the change is made. */
  readonly condition?: (() => void) | undefined;
  readonly info: CommitInfo;
  readonly lease?: LayerWrite["lease"];
  /** The page of the changes in the answer. Default: the first one. */
  readonly page?: ChangesPage;
}

const firstPage: ChangesPage = { limit: usualPage, names: usualPage };

/** Changes a layer, or says what would happen. Throws a problem, or an XdskitError. */
export async function changeLayer(context: ApiContext, layer: ApiLayer, asked: AskedChange) {
  const { layer: name, filled } = layer;
  const { upsert: positioned, remove, replace, dryRun, expected, info, page = firstPage } = asked;
  const upsert = positioned.map(({ resource }) => resource);
  const update: LayerUpdate = replace
    ? { layer: name, kind: "replace", upsert }
    : { layer: name, kind: "patch", upsert, remove };
  let outlook: Outlook | undefined;
  let head: Revision | undefined;
  let lease: ReturnType<typeof leaseJson> | undefined;
  if (dryRun) {
    await mustBeExpected(context, layer, expected);
    asked.condition?.();
    withPositions(positioned, () => mustBeAllowed(context, update));
    ({ outlook } = await outlookInTurns(context, update, page));
  } else {
    if (filled.by !== "api") throw readOnly(layer);
    const before = await lookedAt(context, update, page);
    const condition = () => {
      asked.condition?.();
      outlook = before?.isNow() ? before.outlook : outlookOf(context, update, page);
    };
    const write = { layer: name, upsert, remove, replace, expected, condition, info, lease: asked.lease };
    const result = await filled.written.write(write).catch((error: unknown) => {
      throw positionedError(error, positioned);
    });
    if (result.kind === "conflict") throw conflict(context, layer, result.head);
    head = result.head;
    // A lease that was there before keeps its time. Only its renewal gives it the whole time again.
    const { lease: granted } = result;
    if (granted !== undefined)
      lease = leaseJson(granted, layer.name, filled.written.lease(granted.id)?.leftMs ?? granted.ttlMs);
  }
  const answered = await answer(context, head, outlook, asked.findings, page);
  return lease === undefined ? answered : { ...answered, lease };
}

/** Looks at a large change before its turn. Undefined: it is small, or wrong, which its turn reports. */
async function lookedAt(context: ApiContext, update: LayerUpdate, page: ChangesPage) {
  if (!isLarge(context, update)) return undefined;
  return await outlookInTurns(context, update, page).catch((error: unknown) => {
    if (error instanceof XdskitError) return undefined;
    throw error;
  });
}

/** Rolls a layer back to its content at a revision. */
export async function rollBackLayer(
  context: ApiContext,
  layer: ApiLayer,
  asked: {
    /** Undefined: the layer becomes empty, as before its first revision. Only layers of the API allow that. */
    readonly to: string | undefined;
    readonly contents: readonly Resource[];
    readonly expected: LayerWrite["expected"];
    readonly dryRun: boolean;
    readonly info: CommitInfo;
    readonly page: ChangesPage;
  },
) {
  const { layer: name } = layer;
  const { to, contents, expected, dryRun, info, page } = asked;
  await mustBeExpected(context, layer, expected);
  const update: LayerUpdate = { layer: name, kind: "replace", upsert: contents };
  mustBeAllowed(context, update);
  const before = await outlookInTurns(context, update, page);
  if (dryRun) return answer(context, undefined, before.outlook, [], page);
  let { outlook } = before;
  // The layer, or another one, may have changed since.
  const condition = () => {
    outlook = before.isNow() ? before.outlook : outlookOf(context, update, page);
  };
  const result = await rolledBack(layer, to, { expected, condition, info });
  if (result.kind === "conflict") throw conflict(context, layer, result.head);
  return answer(context, result.head, outlook, [], page);
}

function rolledBack(layer: ApiLayer, to: string | undefined, rest: RollbackTerms) {
  const { layer: name, filled } = layer;
  if (filled.by === "api") return filled.written.rollBack(name, to, rest);
  if (filled.kept === undefined || to === undefined) throw noRevisions(layer);
  return filled.kept.rollBack(name, to, rest);
}

/** The problem of a layer without stored revisions. */
export function noRevisions({ name }: ApiLayer): ApiProblem {
  const message = `no revisions of layer ${JSON.stringify(name)} are kept: start the server with --state`;
  return ApiProblem.of(409, "XDSKIT_STORE", message);
}

/** Throws what the server would refuse the change for. A change that is made is checked where it is written. */
function mustBeAllowed({ options: { server } }: ApiContext, update: LayerUpdate): void {
  throwIfAny(server.checkChange([update]));
}

async function answer(
  context: ApiContext,
  head: Revision | undefined,
  outlook: Outlook | undefined,
  findings: readonly Finding[],
  page: ChangesPage,
) {
  const { changes = [], stages = [], warnings = [] } = outlook ?? {};
  const { items, ...next } = pageBehindCursor(changes, page);
  const changed = await changesJson(items, context.showAs(page.fields));
  const revision = head === undefined ? null : context.revisionJson(head);
  return { revision, counts: countsOf(changes), changed, ...next, stages, findings: [...findings, ...warnings] };
}

async function mustBeExpected(context: ApiContext, layer: ApiLayer, expected: LayerWrite["expected"]): Promise<void> {
  if (expected === undefined) return;
  const head = await context.head(layer);
  if ((head?.id ?? null) !== expected) throw conflict(context, layer, head);
}

function readOnly({ name }: ApiLayer): ApiProblem {
  const message = `layer ${JSON.stringify(name)} is not written by the API: change its source, or ask with "dryRun": true`;
  return ApiProblem.of(409, "XDSKIT_LAYER_READ_ONLY", message);
}

/** The problem of a layer that has another head than was expected. */
export function conflict(context: ApiContext, { name }: ApiLayer, head: Revision | undefined): ApiProblem {
  const is = head === undefined ? "it has none" : `it is ${head.id}, number ${head.number}, by ${head.author}`;
  const message = `another revision of layer ${JSON.stringify(name)} is the newest: ${is}`;
  const extensions = { revision: head === undefined ? null : context.revisionJson(head) };
  return ApiProblem.of(412, "XDSKIT_REVISION_CONFLICT", message, extensions);
}

function withPositions<T>(positioned: readonly PositionedResource[], work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw positionedError(error, positioned);
  }
}

/** With the places in the body of the resources that its findings are about. */
function positionedError(error: unknown, positioned: readonly PositionedResource[]): unknown {
  if (!(error instanceof XdskitError)) return error;
  const placed = (finding: Finding): Finding => {
    if (finding.file !== undefined || finding.resource === undefined) return finding;
    const { type, name } = { type: finding.type, name: finding.resource };
    const found = positioned.find(({ resource }) => resource.name === name && resource.type.name === type);
    return found === undefined ? finding : { ...found.where, ...finding, ...places(found.where) };
  };
  const [first, ...rest] = error.findings.map(placed);
  return first === undefined ? error : new XdskitError([first, ...rest], { cause: error });
}

function places({ file, line, column }: PositionedResource["where"]) {
  return { file, line, column };
}
