// Finds out what the word at the cursor stands for.
import type { Argument, Command, Option } from 'commander'

export type Position = {
  /** The command that the previous words name. */
  command: Command
  /** The words after the command that are not options. */
  args: readonly string[]
  /** The option whose value is at the cursor, or the argument of the command; null for a word such as a command. */
  expects: { option: Option } | { argument: Argument } | null
  /** The start of the value. */
  current: string
  /** Text that the shell considers part of the word, such as `--project=`. */
  wordStart: string
}

/** Analyzes the words after the program name. The last word is at the cursor. Stores options in the commands. */
export function findPosition(program: Command, typed: readonly string[]): Position {
  const words = joinAssignments(typed)
  const current = words.at(-1) ?? ''
  let [command, pending, areOptionsOver] = [program, null as Option | null, false]
  const args: string[] = []
  for (const word of words.slice(0, -1)) {
    if (pending !== null) {
      setOption(command, pending, word)
      pending = null
    } else if (word === '--') areOptionsOver = true
    else if (!areOptionsOver && word.startsWith('-')) {
      const [flag, value] = splitAssignment(word)
      const option = findOption(command, flag)
      if (option === null || !takesValue(option)) continue
      if (value === null) pending = option
      else setOption(command, option, value)
    } else {
      const subcommand = args.length === 0 ? findSubcommand(command, word) : null
      if (subcommand === null) args.push(word)
      else command = subcommand
    }
  }
  const base = { command, args, current, wordStart: '' }
  if (pending !== null) return { ...base, expects: { option: pending } }
  const [flag, value] = splitAssignment(current)
  const assigned = value === null ? null : findOption(command, flag)
  if (assigned !== null && value !== null)
    return { ...base, expects: { option: assigned }, current: value, wordStart: `${flag}=` }
  const argument = findArgument(command, args.length)
  return { ...base, expects: argument === null ? null : { argument } }
}

/** Bash separates `--project=shop` into three words. */
function joinAssignments(words: readonly string[]): string[] {
  const isAssignment = (index: number): boolean =>
    words[index] === '=' && (words[index - 1] ?? '').startsWith('--')
  const joined = words.filter((_word, index) => !isAssignment(index))
  return isAssignment(words.length - 1) ? [...joined, ''] : joined
}

/** Separates `--name=value`. The value is null if there is none. */
function splitAssignment(word: string): [string, string | null] {
  const separator = word.startsWith('--') ? word.indexOf('=') : -1
  return separator === -1 ? [word, null] : [word.slice(0, separator), word.slice(separator + 1)]
}

const takesValue = ({ required, optional }: Option): boolean => required || optional

/** Finds an option of the command or of the commands that contain it. */
function findOption(command: Command, flag: string): Option | null {
  for (let owner: Command | null = command; owner !== null; owner = owner.parent) {
    const option = owner.options.find(({ long, short }) => long === flag || short === flag)
    if (option !== undefined) return option
  }
  return null
}

function setOption(command: Command, option: Option, value: string): void {
  for (let owner: Command | null = command; owner !== null; owner = owner.parent)
    if (owner.options.includes(option)) owner.setOptionValueWithSource(option.attributeName(), value, 'cli')
}

export const findSubcommand = (command: Command, word: string): Command | null =>
  command.commands.find((one) => [one.name(), ...one.aliases()].includes(word)) ?? null

function findArgument({ registeredArguments }: Command, index: number): Argument | null {
  const last = registeredArguments.at(-1)
  return registeredArguments[index] ?? (last?.variadic === true ? last : null)
}
