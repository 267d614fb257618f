// Helpers for defining commands, and the context of a running command.
import type { Connection } from '@manager/client'
import { type Command, Option } from 'commander'
import { type Format, formats } from './format.ts'
import type { Target } from './session.ts'
import type { Terminal } from './terminal.ts'
import { setTimeStyle } from './time-cells.ts'
import type { WatchOptions } from './watch.ts'

export type Context = {
  terminal: Terminal
  signal: AbortSignal
  format: Format
  target: Target
  /** Returns an authenticated connection. Throws if there is no credential. */
  connect: (options?: { timeoutMs?: number }) => Promise<Connection>
}
type GlobalOptions = Omit<Target, 'profile'> & {
  output: Format
  json?: boolean
  profile?: string
  utc?: boolean
  iso?: boolean
}
type Action<Options> = (context: Context, args: string[], options: Options) => Promise<void> | void

/** Adds the options that every command accepts. */
export function addGlobalOptions(program: Command): Command {
  return program
    .option('--url <address>', 'the address of the Manager, usually that of its proxy (SVC_URL)')
    .option('--profile <name>', 'the profile to use (SVC_PROFILE; default: "default")')
    .option('--plain-http', 'send the token unencrypted; only for trusted networks')
    .addOption(new Option('-o, --output <format>', 'the output format').choices(formats).default('table'))
    .option('--json', 'the same as --output json')
    .addOption(new Option('--utc', 'print the times in tables in UTC').conflicts('iso'))
    .option('--iso', 'print the times in tables in RFC 3339 format')
}

export type CommandDefinition = {
  name: string
  description: string
  /** A shorter description for the command list, if the description is long. */
  summary?: string
  examples: readonly string[]
}

/** Adds a command with its description and its examples. */
export function addCommand(
  parent: Command,
  { name, description, summary, examples }: CommandDefinition,
): Command {
  const exampleLines = examples.map((example) => `  $ svc ${example}`)
  return parent
    .command(name)
    .showHelpAfterError(`To see the options, run: svc ${[...getPath(parent), name].join(' ')} --help`)
    .description(description)
    .summary(summary ?? '')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .addHelpText('after', `\nExample${exampleLines.length > 1 ? 's' : ''}:\n${exampleLines.join('\n')}`)
}

/** Returns the names of a command and its parents, without the program. */
const getPath = (command: Command): string[] =>
  command.parent === null ? [] : [...getPath(command.parent), command.name()]

/** Sets the action of a command. The action receives the context, the arguments and the options. */
export function setAction<Options>(command: Command, terminal: Terminal, action: Action<Options>): Command {
  const run = async (): Promise<void> =>
    action(createContext(terminal, command), command.args, command.opts() as Options)
  return command.action(async () => {
    const options = command.opts<WatchOptions>()
    if (options.watch !== true) return run()
    const { watch } = await import('./watch.ts')
    return watch(terminal, options, run)
  })
}

/** Reads the options of a parsed command. */
export function createContext(terminal: Terminal, command: Command): Context {
  const { output, json = false, utc, iso, profile, ...rest } = command.optsWithGlobals<GlobalOptions>()
  // A table that is not on a terminal may be read by a script.
  const isRelative = terminal.stdout.isTTY === true && iso !== true
  setTimeStyle(terminal, utc === true ? 'utc' : isRelative ? 'relative' : 'iso')
  const target = { ...rest, profile: profile ?? getEnvValue(terminal, 'SVC_PROFILE') ?? 'default' }
  return {
    terminal,
    signal: terminal.signal,
    format: json ? 'json' : output,
    target,
    connect: async (options) => {
      // Loaded here, because the help and usage errors need no connection.
      const [{ openAuthenticatedConnection }, { announceWrites }] = await Promise.all([
        import('./session.ts'),
        import('./used-objects.ts'),
      ])
      return announceWrites(terminal, await openAuthenticatedConnection(terminal, target, options))
    },
  }
}

/** Returns the value of an environment variable, or undefined if it is unset or empty. */
export function getEnvValue({ env }: Terminal, variable: string): string | undefined {
  return (env[variable] ?? '') === '' ? undefined : env[variable]
}
