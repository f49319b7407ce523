import type { CommandWords, OptionWords } from "./command-words.js";

/** Writes the script of each shell that completes xdskit's commands, options and their values. */
export const shells: Readonly<Record<string, (commands: readonly CommandWords[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

/** A word in single quotes, which these shells read alike but for the quote itself. */
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
const flagsOf = ({ options }: CommandWords) => options.flatMap(({ flags }) => flags);

function bashScript(commands: readonly CommandWords[]): string {
  const values = commands.flatMap(({ name, options }) =>
    options.flatMap(({ flags, value }) =>
      value === undefined
        ? []
        : `    ${flags.map((flag) => `"${name} ${flag}"`).join("|")}) choices=${quoted((value.choices ?? []).join(" "))} files=${value.choices ? "" : "yes"} ;;`,
    ),
  );
  const words = commands.map((command) => {
    const { choices } = command.argument ?? { choices: [] };
    return `      ${command.name}) flags=${quoted(flagsOf(command).join(" "))} choices=${quoted((choices ?? []).join(" "))} ;;`;
  });
  const names = commands.map(({ name }) => name);
  return `# xdskit completion bash: source <(xdskit completion bash)
_xdskit() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} command="" flags="" choices="" files="no" word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case $word in ${names.join("|")}) command=$word; break ;; esac
  done
  COMPREPLY=()
  if [[ -z $command ]]; then
    COMPREPLY=($(compgen -W ${quoted([...names, "help", "--help", "--version"].join(" "))} -- "$current"))
    return
  fi
  case "$command $previous" in
${values.join("\n")}
  esac
  # The value of an option: one of its words, or a file, which bash completes itself.
  if [[ $files == no ]]; then
    case $command in
${words.join("\n")}
    esac
    [[ $current == -* ]] && choices=$flags
  fi
  COMPREPLY=($(compgen -W "$choices" -- "$current"))
}
complete -o default -F _xdskit xdskit
`;
}

function zshScript(commands: readonly CommandWords[]): string {
  const plain = (text: string) => text.replaceAll(/[[\]:\\]/g, "\\$&");
  const spec = ({ flags, description, value }: OptionWords) => {
    const choices = value?.choices === undefined ? "_files" : `(${value.choices.join(" ")})`;
    const after = value === undefined ? "" : `:value:${choices}`;
    return flags.map((flag) => quoted(`*${flag}[${plain(description)}]${after}`));
  };
  const cases = commands.map((command) => {
    const choices = command.argument?.choices;
    const rest = choices === undefined ? "*:file:_files" : `*:word:(${choices.join(" ")})`;
    return `    ${command.name}) _arguments ${[...command.options.flatMap(spec), quoted(rest)].join(" ")} ;;`;
  });
  const list = commands.map(({ name, summary }) => quoted(`${name}:${summary}`));
  return `#compdef xdskit
# xdskit completion zsh > "\${fpath[1]}/_xdskit", or: source <(xdskit completion zsh)
_xdskit() {
  if (( CURRENT == 2 )); then
    local -a commands=(${list.join(" ")})
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
${cases.join("\n")}
  esac
}
if [[ $funcstack[1] == _xdskit ]]; then _xdskit "$@"; else compdef _xdskit xdskit; fi
`;
}

function fishScript(commands: readonly CommandWords[]): string {
  const inFish = (text: string) => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  const lines = commands.flatMap(({ name, summary, options, argument }) => {
    const within = `complete -c xdskit -n ${inFish(`__fish_seen_subcommand_from ${name}`)}`;
    const each = options.map(({ flags, description, value }) => {
      const names = flags.map((flag) => (flag.startsWith("--") ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`));
      const words = value?.choices === undefined ? "" : ` -x -a ${inFish(value.choices.join(" "))}`;
      const after = value === undefined ? "" : words || " -r -F";
      return `${within} ${names.join(" ")}${after} -d ${inFish(description)}`;
    });
    const choices = argument?.choices;
    const words = choices === undefined ? [] : [`${within} -f -a ${inFish(choices.join(" "))}`];
    return [`complete -c xdskit -f -n __fish_use_subcommand -a ${name} -d ${inFish(summary)}`, ...each, ...words];
  });
  return `# xdskit completion fish > ~/.config/fish/completions/xdskit.fish\n${lines.join("\n")}\n`;
}
