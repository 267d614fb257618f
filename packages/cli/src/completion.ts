// Generates shell completion scripts from the command definitions. The scripts contain the commands and options, so that
// most key presses start no program. For values, they run the hidden command `svc __complete`.
import type { Command } from 'commander'

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]
/** The hidden command that completes values. */
export const completeCommand = '__complete'
type CommandPath = {
  path: string
  words: string[]
  /** Whether the command has no subcommands, so that its words are values. */
  isLeaf: boolean
}

export function createCompletionScript(program: Command, shell: Shell): string {
  const paths = listPaths(program, '')
  return { bash: createBashScript, zsh: createZshScript, fish: createFishScript }[shell](
    program.name(),
    paths,
  )
}

/** Lists every command path, including aliases, with the words that can follow it. */
function listPaths(command: Command, path: string): CommandPath[] {
  const help = command.createHelp()
  const commands = help.visibleCommands(command)
  const options = [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)]
  const words = [
    ...commands.flatMap((subcommand) => [subcommand.name(), ...subcommand.aliases()]),
    ...options.flatMap(({ long }) => (long === null || long === undefined ? [] : [long])),
  ]
  const subcommandPaths = commands.flatMap((subcommand) =>
    [subcommand.name(), ...subcommand.aliases()].flatMap((word) =>
      listPaths(subcommand, `${path} ${word}`.trim()),
    ),
  )
  return [{ path, words: [...new Set(words)], isLeaf: commands.length === 0 }, ...subcommandPaths]
}

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
const joinPaths = (paths: readonly CommandPath[]): string =>
  paths
    .filter(({ path }) => path !== '')
    .map(({ path }) => quote(path))
    .join('|')

/** Returns the branches of a case statement that sets the words, and whether the command is a leaf. */
const formatBranches = (paths: readonly CommandPath[]): string =>
  paths
    .map(
      ({ path, words, isLeaf }) =>
        `    ${quote(path)}) static=${quote(words.join(' '))}${isLeaf ? ' is_leaf=1' : ''} ;;`,
    )
    .join('\n')

// Bash expands the word list of `compgen -W`, so values never become part of it.
const createBashScript = (
  name: string,
  paths: readonly CommandPath[],
): string => `# bash completion of ${name}: source this file, or copy it to ~/.local/share/bash-completion/completions/${name}
_${name}() {
  local word command_path="" static="" is_leaf="" values value typed
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "\${command_path:+$command_path }$word" in
      ${joinPaths(paths)}) command_path="\${command_path:+$command_path }$word" ;;
    esac
  done
  case "$command_path" in
${formatBranches(paths)}
  esac
  COMPREPLY=()
  if [[ "$current" != -* && ( -n "$is_leaf" || "$previous" == -* || "$previous" == = ) ]]; then
    typed="\${current//\\\\/}"
    values="$("\${COMP_WORDS[0]}" ${completeCommand} "\${COMP_WORDS[@]:1:COMP_CWORD-1}" "$typed" 2>/dev/null)" || return 0
    [[ "$typed" == = ]] && typed=""
    while IFS= read -r value; do
      [[ -n "$value" && "$value" == "$typed"* ]] && COMPREPLY+=("$(printf '%q' "$value")")
    done <<< "$values"
    [[ \${#COMPREPLY[@]} -gt 0 ]] && return 0
  fi
  mapfile -t COMPREPLY < <(compgen -W "$static" -- "$current")
}
complete -o default -F _${name} ${name}
`

const createZshScript = (name: string, paths: readonly CommandPath[]): string => `#compdef ${name}
# zsh completion of ${name}: save this file as _${name} in a folder of $fpath
_${name}() {
  local word command_path="" static="" is_leaf="" output
  local -a values
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "\${command_path:+$command_path }$word" in
      ${joinPaths(paths)}) command_path="\${command_path:+$command_path }$word" ;;
    esac
  done
  case "$command_path" in
${formatBranches(paths)}
  esac
  if [[ "\${words[CURRENT]}" == --*=* || ( "\${words[CURRENT]}" != -* && ( -n "$is_leaf" || "\${words[CURRENT-1]}" == -* ) ) ]]; then
    output="$("\${words[1]}" ${completeCommand} "\${(@Q)words[2,CURRENT]}" 2>/dev/null)" || { _files; return }
    values=("\${(@f)output}")
    if [[ -n "$output" ]]; then compadd -- "\${values[@]}"; return; fi
  fi
  compadd -- \${=static} || _files
}
if [ "$funcstack[1]" = "_${name}" ]; then _${name} "$@"; else compdef _${name} ${name}; fi
`

const createFishScript = (
  name: string,
  paths: readonly CommandPath[],
): string => `# fish completion of ${name}: save this file as ~/.config/fish/completions/${name}.fish
function __${name}_load
  set -g __${name}_candidates
  set -l command_path ""
  set -l is_leaf 0
  set -l static
  set -l typed (commandline -opc)
  set -l current (string unescape -- (commandline -ct); or commandline -ct)
  for word in $typed[2..-1]
    switch (string trim -- "$command_path $word")
      case ${joinPaths(paths).replaceAll('|', ' ')}
        set command_path (string trim -- "$command_path $word")
    end
  end
  switch "$command_path"
${paths
  .map(
    ({ path, words, isLeaf }) =>
      `    case ${quote(path)}\n      set static ${words.join(' ')}${isLeaf ? '\n      set is_leaf 1' : ''}`,
  )
  .join('\n')}
  end
  set -l needs_value 0
  if string match -q -- '--*=*' "$current"
    set needs_value 1
  else if not string match -q -- '-*' "$current"
    if test $is_leaf -eq 1; or string match -q -- '-*' "$typed[-1]"
      set needs_value 1
    end
  end
  if test $needs_value -eq 1
    set -g __${name}_candidates ($typed[1] ${completeCommand} $typed[2..-1] "$current" 2>/dev/null)
    or return 1
    test (count $__${name}_candidates) -gt 0
    and return 0
  end
  set -g __${name}_candidates $static
end
complete -c ${name} -n '__${name}_load' -f -a '$__${name}_candidates'
`
