// Scripts that complete commands and options in a shell, written from the commands themselves.
import type { Command } from 'commander'

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]
type Place = { path: string; words: string[] }

/** The script for a shell. */
export function completionScript(program: Command, shell: Shell): string {
  const places = placesOf(program, '')
  return { bash: bashScript, zsh: zshScript, fish: fishScript }[shell](program.name(), places)
}

/** Every command by the words that lead to it, with what can follow. */
function placesOf(command: Command, path: string): Place[] {
  const help = command.createHelp()
  const commands = help.visibleCommands(command)
  const options = [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)]
  const words = [
    ...commands.flatMap((one) => [one.name(), ...one.aliases()]),
    ...options.flatMap(({ long }) => (long === null || long === undefined ? [] : [long])),
  ]
  const below = commands.flatMap((one) =>
    [one.name(), ...one.aliases()].flatMap((word) => placesOf(one, `${path} ${word}`.trim())),
  )
  return [{ path, words: [...new Set(words)] }, ...below]
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
const knownPaths = (places: readonly Place[]): string =>
  places
    .filter(({ path }) => path !== '')
    .map(({ path }) => quoted(path))
    .join('|')

const bashScript = (
  name: string,
  places: readonly Place[],
): string => `# bash completion of ${name}: source it, or keep it in ~/.local/share/bash-completion/completions/${name}
_${name}() {
  local word place="" words=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "\${place:+$place }$word" in
      ${knownPaths(places)}) place="\${place:+$place }$word" ;;
    esac
  done
  case "$place" in
${places.map(({ path, words }) => `    ${quoted(path)}) words=${quoted(words.join(' '))} ;;`).join('\n')}
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}")
}
complete -o default -F _${name} ${name}
`

const zshScript = (name: string, places: readonly Place[]): string => `#compdef ${name}
# zsh completion of ${name}: keep it as _${name} in a folder of $fpath
_${name}() {
  local word place="" candidates=""
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "\${place:+$place }$word" in
      ${knownPaths(places)}) place="\${place:+$place }$word" ;;
    esac
  done
  case "$place" in
${places.map(({ path, words }) => `    ${quoted(path)}) candidates=${quoted(words.join(' '))} ;;`).join('\n')}
  esac
  compadd -- \${=candidates} || _files
}
if [ "$funcstack[1]" = "_${name}" ]; then _${name} "$@"; else compdef _${name} ${name}; fi
`

const fishScript = (
  name: string,
  places: readonly Place[],
): string => `# fish completion of ${name}: keep it as ~/.config/fish/completions/${name}.fish
function __${name}_place
  set -l place ""
  for word in (commandline -opc)[2..-1]
    switch (string trim -- "$place $word")
      case ${knownPaths(places).replaceAll('|', ' ')}
        set place (string trim -- "$place $word")
    end
  end
  echo $place
end
${places
  .map(
    ({ path, words }) =>
      `complete -c ${name} -n 'test (__${name}_place) = "${path}"' -a ${quoted(words.join(' '))}`,
  )
  .join('\n')}
`
