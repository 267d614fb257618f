// Helpers that define commands, and the context that a command runs with.
import type { Connection } from '@manager/client'
import { type Command, Option } from 'commander'
import { type Format, formats } from './output.ts'
import { type Target, signedInConnection } from './session.ts'
import type { Terminal } from './terminal.ts'

export type Context = {
  terminal: Terminal
  signal: AbortSignal
  format: Format
  target: Target
  /** Returns an authenticated connection. Throws if there is no credential. */
  connect: (options?: { timeoutMs?: number }) => Promise<Connection>
}
type GlobalOptions = Omit<Target, 'profile'> & { output: Format; profile?: string }
type Work<Options> = (context: Context, args: string[], options: Options) => Promise<void> | void

/** The options that every command has. */
export function addGlobalOptions(program: Command): Command {
  return program
    .option('--url <address>', 'the address at which you reach the Manager, usually of its proxy (SVC_URL)')
    .option('--profile <name>', 'the profile to use (SVC_PROFILE; default: "default")')
    .option('--plain-http', 'send the token unencrypted; only for trusted networks')
    .addOption(new Option('-o, --output <format>', 'the output format').choices(formats).default('table'))
}

export type Definition = {
  name: string
  description: string
  /** A shorter text for the command list in the help, if the description is long. */
  summary?: string
  examples: readonly string[]
}

/** Adds a command with its description and its examples. */
export function addCommand(parent: Command, { name, description, summary, examples }: Definition): Command {
  const lines = examples.map((example) => `  $ svc ${example}`)
  return parent
    .command(name)
    .description(description)
    .summary(summary ?? '')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .addHelpText('after', `\nExample${lines.length > 1 ? 's' : ''}:\n${lines.join('\n')}`)
}

/** Sets the action of a command. It receives the context, the arguments and the options. */
export function setAction<Options>(command: Command, terminal: Terminal, work: Work<Options>): Command {
  return command.action(async () => {
    await work(contextOf(terminal, command), command.args, command.opts() as Options)
  })
}

function contextOf(terminal: Terminal, command: Command): Context {
  const { output, profile, ...rest } = command.optsWithGlobals<GlobalOptions>()
  const target = { ...rest, profile: profile ?? envValue(terminal, 'SVC_PROFILE') ?? 'default' }
  return {
    terminal,
    signal: terminal.signal,
    format: output,
    target,
    connect: (options) => signedInConnection(terminal, target, options),
  }
}

/** Returns the value of an environment variable, or undefined if it is unset or empty. */
export function envValue({ env }: Terminal, variable: string): string | undefined {
  return (env[variable] ?? '') === '' ? undefined : env[variable]
}
