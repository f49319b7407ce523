import { type Check, checksOf } from "./contract/check.js";
import { clientChecks } from "./drive/clients.js";
import { federatedChecks, globChecks } from "./drive/federated-names.js";
import { orderingChecks } from "./drive/ordering.js";
import { scheduleChecks } from "./drive/schedule/schedules.js";
import { drivenPollChecks, drivenServiceChecks } from "./drive/services.js";
import { silenceChecks } from "./drive/silences.js";
import { stalledChecks } from "./drive/stalled.js";
import { ttlChecks } from "./drive/ttls.js";
import { removalChecks, updateChecks } from "./drive/updates.js";
import { virtualHostChecks } from "./drive/virtual-hosts.js";
import { answerChecks } from "./observe/answers.js";
import { clientStatusChecks } from "./observe/client-status.js";
import { errorChecks } from "./observe/errors.js";
import { limitChecks } from "./observe/limits.js";
import { loadReportChecks } from "./observe/load-reports.js";
import { missingNameChecks, nameChecks } from "./observe/names.js";
import { pollChecks } from "./observe/polls.js";
import { deltaReconnectChecks, reconnectChecks, sotwReconnectChecks } from "./observe/reconnects.js";
import { agreementChecks, responseChecks } from "./observe/responses.js";
import { serviceChecks } from "./observe/services.js";
import { nodeChecks, streamChecks } from "./observe/streams.js";
import { deltaSubscriptionChecks } from "./observe/subscriptions.js";
import { wildcardChecks } from "./observe/wildcards.js";

const both = [
  responseChecks,
  answerChecks,
  nameChecks,
  missingNameChecks,
  wildcardChecks,
  reconnectChecks,
  nodeChecks,
  streamChecks,
  limitChecks,
  serviceChecks,
  errorChecks,
];

const bothDriven = [
  updateChecks,
  removalChecks,
  silenceChecks,
  clientChecks,
  orderingChecks,
  scheduleChecks,
  stalledChecks,
  drivenServiceChecks,
  ttlChecks,
  federatedChecks,
];

/** The requirements of a date never change: a check that is added later has a later date. */
const december = "2026-12";

/** All checks of servers, in the order in which they are reported. */
export const serverChecks: readonly Check[] = [
  ...checksOf("observe", december, [
    ...both.flatMap((checks) => checks("sotw")),
    ...sotwReconnectChecks,
    ...both.flatMap((checks) => checks("delta")),
    ...deltaReconnectChecks,
    ...deltaSubscriptionChecks,
    ...agreementChecks,
    ...pollChecks,
    ...loadReportChecks,
    ...clientStatusChecks,
  ]),
  ...checksOf("drive", december, [
    ...bothDriven.flatMap((checks) => checks("sotw")),
    ...bothDriven.flatMap((checks) => checks("delta")),
    ...globChecks,
    ...virtualHostChecks,
    ...drivenPollChecks,
  ]),
];
