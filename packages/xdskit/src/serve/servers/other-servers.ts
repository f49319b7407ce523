import { logFinding, Refusals } from "@xdskit/admin/log";
import type { Finding, Registry } from "@xdskit/api";
import type { SharedRollouts, XdsServer } from "@xdskit/server";
import { formatAddress } from "@xdskit/server/address";
import { FolderComparison, type FolderVersions } from "../../daemon/replicas/folder-comparison.js";
import { Rebalancing } from "../../daemon/replicas/rebalancing.js";
import type { ReplicaCertificates } from "../../daemon/replicas/replica-tls.js";
import type { StateInUse } from "../../daemon/revisions/written-state.js";
import type { Serving } from "../../daemon/serving.js";
import type { ServeOptions } from "../options/serve-options.js";
import { Peering } from "./peering.js";

/** The other servers of the store, for this one to join. */
export function peeringOf(
  options: ServeOptions,
  serving: Serving,
  { state, tls }: { readonly state: StateInUse; readonly tls: ReplicaCertificates | undefined },
): Peering {
  const { worker, sharedLog: log, log: own, closers } = serving;
  const { store, directory, isDurable, written } = state;
  const refusals = new Refusals(own);
  const peering = new Peering({
    shared: store?.shared,
    worker,
    tls,
    listen: options.replica,
    state: directory === undefined ? undefined : { directory, isWritable: isDurable },
    advertise: options.advertise && formatAddress(options.advertise),
    gone(replica) {
      log.info("replica-gone", { replica: replica.name }, "another server of the store is gone");
      written.restartLeases();
    },
    silent(replica, reason) {
      if (reason === undefined) log.info("replica-back", { replica }, "another server of the store answers again");
      else
        log.warn(
          "replica-silent",
          { replica, reason },
          "another server of the store does not answer: the rollout waits for its nodes",
        );
    },
    problem: (finding) => finding && logFinding(own, finding),
    refused(refused) {
      serving.refused(refused);
      refusals.caller(refused);
    },
  });
  closers.unshift(() => peering.close());
  return peering;
}

/** Spreads clients over the servers of the store. */
export function spreadClients(server: XdsServer, peering: Peering, { sharedLog: log, closers }: Serving): void {
  const rebalancing = new Rebalancing({
    server,
    others: () => peering.connections(),
    asked: (count) =>
      log.info("clients-rebalanced", { count }, "clients were asked to go: other servers of the store have fewer"),
  });
  closers.unshift(() => rebalancing.close());
}

interface RolloutNeeds {
  readonly server: XdsServer;
  readonly registry: Registry;
  readonly state: StateInUse;
  readonly peering: Peering;
}

/** The rollouts that are one for all servers of the store; undefined: this server has its own. */
export async function rolloutsOfAll(
  options: ServeOptions,
  { sharedLog: log, closers }: Serving,
  { server, registry, state: { store, history }, peering }: RolloutNeeds,
): Promise<SharedRollouts | undefined> {
  // Servers of one etcd that do not ask each other have each their own rollouts: none could count the nodes of all.
  const isForAll = options.store?.kind !== "etcd" || peering.isPossible;
  if (!isForAll || store === undefined) return undefined;
  const { name: replica, rolloutPeers: peers } = peering;
  const problem = (finding: Finding | undefined) => finding && logFinding(log, finding);
  const rollouts = await server.shareRollouts({ registry, problem, replica, peers, store });
  history.share(rollouts);
  closers.unshift(() => rollouts.close());
  return rollouts;
}

/** Says in the log, and by findings, that another server of the store serves another folder. */
export function comparedFolders({ log, closers }: Serving, peering: Peering, own: () => FolderVersions) {
  if (!peering.isPossible) return { own, findings: () => [] };
  let difference: Finding | undefined;
  const comparison = new FolderComparison({
    own,
    others: () => peering.folders(),
    onChanged(finding) {
      difference = finding;
      if (finding !== undefined) logFinding(log, finding);
      else log.info("folders-alike", {}, "the folders of all servers of the store have the same content again");
    },
  });
  closers.unshift(() => comparison.close());
  return { own, findings: () => (difference === undefined ? [] : [difference]) };
}
