// Completes the values of options and arguments for the scripts of completion.ts. Prints one candidate per line.
import type { Command } from 'commander'
import { createContext } from '../context.ts'
import { listProfileNames } from '../credentials.ts'
import { type ExitCode, exitCodes } from '../failures.ts'
import { type ParentOptions, getParent, parentVariables } from '../parents.ts'
import { escapeControlCharacters } from '../printable.ts'
import { createProgram } from '../program.ts'
import type { Resource } from '../resource.ts'
import { resources } from '../resources/all.ts'
import { listRows } from '../rows.ts'
import type { Terminal } from '../terminal.ts'
import { topicNames } from '../topics.ts'
import { createCacheKey, readThroughCache } from '../completion-cache.ts'
import { type Position, findPosition, findSubcommand } from './position.ts'

/** Includes all requests. A user who presses the tab key does not wait longer. */
const timeoutMs = 1_500
const maxValues = 500
const maxValueLength = 200

/** Prints the candidates for the last word. The exit code is 1 if the shell must complete file names instead. */
export async function complete(words: readonly string[], terminal: Terminal): Promise<ExitCode> {
  try {
    const program = await createProgram(terminal, words)
    const position = findPosition(program, words)
    const values = await listValues(terminal, program, position)
    if (values === null) return exitCodes.failed
    const lines = values.filter((value) => value.startsWith(position.current) && isSafe(value))
    // Commands do not fit here either.
    if (lines.length === 0 && position.expects !== null && 'option' in position.expects)
      return exitCodes.failed
    terminal.stdout.write(lines.map((value) => `${position.wordStart}${value}\n`).join(''))
    return exitCodes.ok
  } catch {
    // A message would appear in the middle of the command line of the user.
    return exitCodes.failed
  }
}

/** A value with a control character could not be typed, and could change the terminal. */
const isSafe = (value: string): boolean =>
  value !== '' && value.length <= maxValueLength && escapeControlCharacters(value) === value

/** Returns the possible values, or null if only files are possible. */
async function listValues(
  terminal: Terminal,
  program: Command,
  position: Position,
): Promise<readonly string[] | null> {
  const { expects, command } = position
  if (expects === null) return []
  const [subject, name] =
    'option' in expects
      ? [expects.option, expects.option.name()]
      : [expects.argument, expects.argument.name()]
  if (subject.argChoices !== undefined) return subject.argChoices
  if (command.name() === 'help') return [...listSubcommands(program, position.args), ...topicNames]
  if (name === 'profile') return listProfileNames(terminal)
  const resource = resources.find(({ singular }) => singular.replaceAll(' ', '-') === name)
  if (resource !== undefined) return listKeys(terminal, resource, position)
  return 'option' in expects || /file|folder|path/.test(name) ? null : []
}

function listSubcommands(program: Command, words: readonly string[]): string[] {
  let command: Command | null = program
  for (const word of words) command = command === null ? null : findSubcommand(command, word)
  return command?.commands.map((one) => one.name()) ?? []
}

/** Returns the slugs or names of the objects that the option or the argument can name. */
async function listKeys(
  terminal: Terminal,
  resource: Resource,
  { command, current }: Position,
): Promise<readonly string[]> {
  const context = createContext(terminal, command)
  const options = command.opts<ParentOptions>()
  const key = createCacheKey([
    resource.name,
    context.target,
    [options.project, options.app, options.environment],
    [...Object.values(parentVariables), 'SVC_URL', 'SVC_TOKEN', 'SVC_TOKEN_FILE'].map(
      (name) => terminal.env[name],
    ),
    terminal.cwd,
  ])
  const signal = AbortSignal.any([terminal.signal, AbortSignal.timeout(timeoutMs)])
  const fetchKeys = async (filter: string): Promise<string[]> => {
    const connection = { ...(await context.connect({ timeoutMs })), maxRetries: 0 }
    const parent = await getParent({ ...context, signal }, connection, resource.parent, options)
    const [field] = resource.keys
    const filters = filter === '' || resource.list.hasFilters === false ? [] : [{ field, value: filter }]
    const { rows } = await listRows(connection, resource, parent, { filters, limit: maxValues, signal })
    return rows.map((row) => row[field]).filter((value) => typeof value === 'string')
  }
  const values = await readThroughCache(terminal, key, () => fetchKeys(''))
  if (values.length < maxValues || current === '') return values
  // There may be more objects than the cache contains.
  return readThroughCache(terminal, `${key}-${createCacheKey([current])}`, () => fetchKeys(current))
}
