import type { ProblemEntry } from "../contract/answers.js";

/** What to do about each kind of problem. */
export const advice: Readonly<Record<ProblemEntry["kind"], string>> = {
  rejected: "Fix what the client names in its words, or roll the layer back. It runs what it had until then.",
  "change-refused": "Fix the line: the server goes on with what it had, and takes the file once it is right.",
  store: "Look at the disk or at etcd. Changes are refused until they can be kept.",
  settings: "Fix the line before the server is started again. It goes on with the settings that it has.",
  replica: "Look whether this server runs, and whether the others reach it. Its nodes are not shown until it answers.",
  "folder-differs": "Bring the folders of all servers to the same content: a client gets what its server has.",
  certificate: "Renew the files of the certificate: the server takes them over by itself.",
  client: "Change the client, or what stands between it and this port, as the message says.",
  origin: "Look whether the origin is up, and whether this relay may reach it. Clients keep what they have.",
  "rollout-halted": "Look at the rejections, then resume the rollout, promote it, or roll it back.",
  silent: "Look whether the client is stuck or overloaded: it has not answered what it was sent.",
  restored: "Fix the errors in the folder: it is served again once it has none.",
  "rolled-back": "Change the folder to what it should be: its next change is served again.",
  quarantine: "Fix the resources: a new content ends the quarantine, and so does lifting it.",
  dangling: "Add what is named, or take the name away.",
  warning: "Nothing has to be done at once. The finding says what may go wrong.",
};
