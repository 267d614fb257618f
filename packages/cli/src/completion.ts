// Generates shell completion scripts from the command definitions.
import type { Command } from 'commander'

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]
type CommandPath = { path: string; words: string[] }

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
  return [{ path, words: [...new Set(words)] }, ...subcommandPaths]
}

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
const joinPaths = (paths: readonly CommandPath[]): string =>
  paths
    .filter(({ path }) => path !== '')
    .map(({ path }) => quote(path))
    .join('|')

const createBashScript = (
  name: string,
  paths: readonly CommandPath[],
): string => `# bash completion of ${name}: source this file, or copy it to ~/.local/share/bash-completion/completions/${name}
_${name}() {
  local word command_path="" words=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "\${command_path:+$command_path }$word" in
      ${joinPaths(paths)}) command_path="\${command_path:+$command_path }$word" ;;
    esac
  done
  case "$command_path" in
${paths.map(({ path, words }) => `    ${quote(path)}) words=${quote(words.join(' '))} ;;`).join('\n')}
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}")
}
complete -o default -F _${name} ${name}
`

const createZshScript = (name: string, paths: readonly CommandPath[]): string => `#compdef ${name}
# zsh completion of ${name}: save this file as _${name} in a folder of $fpath
_${name}() {
  local word command_path="" candidates=""
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "\${command_path:+$command_path }$word" in
      ${joinPaths(paths)}) command_path="\${command_path:+$command_path }$word" ;;
    esac
  done
  case "$command_path" in
${paths.map(({ path, words }) => `    ${quote(path)}) candidates=${quote(words.join(' '))} ;;`).join('\n')}
  esac
  compadd -- \${=candidates} || _files
}
if [ "$funcstack[1]" = "_${name}" ]; then _${name} "$@"; else compdef _${name} ${name}; fi
`

const createFishScript = (
  name: string,
  paths: readonly CommandPath[],
): string => `# fish completion of ${name}: save this file as ~/.config/fish/completions/${name}.fish
function __${name}_command_path
  set -l command_path ""
  for word in (commandline -opc)[2..-1]
    switch (string trim -- "$command_path $word")
      case ${joinPaths(paths).replaceAll('|', ' ')}
        set command_path (string trim -- "$command_path $word")
    end
  end
  echo $command_path
end
${paths
  .map(
    ({ path, words }) =>
      `complete -c ${name} -n 'test (__${name}_command_path) = "${path}"' -a ${quote(words.join(' '))}`,
  )
  .join('\n')}
`
