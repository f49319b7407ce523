import type { Command } from "commander";
import type { Terminal } from "./output/terminal.js";

/** A command in `xdskit --help`, and how to load it. */
export interface CommandEntry {
  readonly name: string;
  /** The heading in the list. */
  readonly group: "Serve" | "Check" | "Change" | "Look" | "Measure" | "Other";
  /** The arguments after the name in the list. */
  readonly usage: string;
  readonly summary: string;
  /** Loads the command: its options, its help and its action. */
  readonly load: () => Promise<(terminal: Terminal, exit: (status: number) => void) => Command>;
}

/** All commands, in the order of the help. Only the one that is called is loaded. */
export const commands: readonly CommandEntry[] = [
  {
    name: "serve",
    group: "Serve",
    usage: "[options] [dir]",
    summary: "serve the resources found in a folder",
    load: async () => (await import("./serve/serve-command.js")).serveCommand,
  },
  {
    name: "relay",
    group: "Serve",
    usage: "[options]",
    summary: "serve the resources of another management server",
    load: async () => (await import("./relay/relay-command.js")).relayCommand,
  },
  {
    name: "init",
    group: "Serve",
    usage: "[dir]",
    summary: "write a small configuration to begin with",
    load: async () => (await import("./init/init-command.js")).initCommand,
  },
  {
    name: "bootstrap",
    group: "Serve",
    usage: "[options]",
    summary: "print a bootstrap that points an Envoy or a gRPC client to a server",
    load: async () => (await import("./bootstrap/bootstrap-command.js")).bootstrapCommand,
  },
  {
    name: "token",
    group: "Serve",
    usage: "<action> <name>",
    summary: "make a token for the admin listener",
    load: async () => (await import("./token/token-command.js")).tokenCommand,
  },
  {
    name: "health",
    group: "Serve",
    usage: "[options]",
    summary: "tell whether a running server is ready",
    load: async () => (await import("./health/health-command.js")).healthCommand,
  },
  {
    name: "validate",
    group: "Check",
    usage: "[options] [dir]",
    summary: "check a folder without serving it",
    load: async () => (await import("./validate/validate-command.js")).validateCommand,
  },
  {
    name: "plan",
    group: "Check",
    usage: "[options] <old> <new>",
    summary: "show the stages in which a change reaches clients",
    load: async () => (await import("./plan/plan-command.js")).planCommand,
  },
  {
    name: "diff",
    group: "Check",
    usage: "[options] [dir] [new]",
    summary: "show what differs between a folder and a server, two folders, or revisions",
    load: async () => (await import("./diff/diff-command.js")).diffCommand,
  },
  {
    name: "schema",
    group: "Check",
    usage: "[type]",
    summary: "print the JSON Schema of resource files or of the settings, for editors",
    load: async () => (await import("./schema/schema-command.js")).schemaCommand,
  },
  {
    name: "apply",
    group: "Change",
    usage: "[options]",
    summary: "put the resources of files into a layer of a running server",
    load: async () => (await import("./apply/apply-command.js")).applyCommand,
  },
  {
    name: "delete",
    group: "Change",
    usage: "[options] <type> <name...>",
    summary: "remove resources from a layer of a running server",
    load: async () => (await import("./delete/delete-command.js")).deleteCommand,
  },
  {
    name: "rollback",
    group: "Change",
    usage: "[options] [revision]",
    summary: "serve what was before",
    load: async () => (await import("./rollback/rollback-command.js")).rollbackCommand,
  },
  {
    name: "rollout",
    group: "Change",
    usage: "[options] <action> [group]",
    summary: "show and control the changes that reach nodes step by step",
    load: async () => (await import("./rollout/rollout-command.js")).rolloutCommand,
  },
  {
    name: "export",
    group: "Change",
    usage: "[options] [file]",
    summary: "print all that the writable layers of a running server hold",
    load: async () => (await import("./export/export-command.js")).exportCommand,
  },
  {
    name: "import",
    group: "Change",
    usage: "[options] <file>",
    summary: "restore what export printed",
    load: async () => (await import("./import/import-command.js")).importCommand,
  },
  {
    name: "wait",
    group: "Change",
    usage: "[options] [revision]",
    summary: "wait until all nodes run a revision, or all that there is",
    load: async () => (await import("./wait/wait-command.js")).waitCommand,
  },
  {
    name: "status",
    group: "Look",
    usage: "[options] [node]",
    summary: "show what each client of a running server has",
    load: async () => (await import("./status/status-command.js")).statusCommand,
  },
  {
    name: "top",
    group: "Look",
    usage: "[options]",
    summary: "show a whole fleet in the terminal, the worst nodes first",
    load: async () => (await import("./top/top-command.js")).topCommand,
  },
  {
    name: "history",
    group: "Look",
    usage: "[options]",
    summary: "list the changes that a running server keeps",
    load: async () => (await import("./history/history-command.js")).historyCommand,
  },
  {
    name: "show",
    group: "Look",
    usage: "[options] <revision>",
    summary: "show one change: who, when, why and what",
    load: async () => (await import("./history/show-command.js")).showCommand,
  },
  {
    name: "audit",
    group: "Look",
    usage: "[options] <file>",
    summary: "show who changed what, and who was refused",
    load: async () => (await import("./audit/audit-command.js")).auditCommand,
  },
  {
    name: "get",
    group: "Look",
    usage: "[options] [type] [name...]",
    summary: "print the resources that a management server sends",
    load: async () => (await import("./get/get-command.js")).getCommand,
  },
  {
    name: "watch",
    group: "Look",
    usage: "[options] [type] [name...]",
    summary: "show the resources that a management server sends, and every change",
    load: async () => (await import("./watch/watch-command.js")).watchCommand,
  },
  {
    name: "bench",
    group: "Measure",
    usage: "[options]",
    summary: "simulate a fleet of proxies, and measure a management server",
    load: async () => (await import("./bench/bench-command.js")).benchCommand,
  },
  {
    name: "completion",
    group: "Other",
    usage: "<shell>",
    summary: "print a script that completes commands and options in a shell",
    load: async () => (await import("./completion/completion-command.js")).completionCommand(commands, definedCommand),
  },
];

/** A command with its options, as it is called. */
export async function definedCommand(
  { load }: Pick<CommandEntry, "load">,
  terminal: Terminal,
  exit: (status: number) => void,
): Promise<Command> {
  const [define, { withBothForms }] = await Promise.all([load(), import("./arguments/arguments.js")]);
  return withBothForms(define(terminal, exit));
}
