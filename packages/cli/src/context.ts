// Helpers for defining commands, and the context of a running command.
import type { Connection } from '@manager/client'
import { type Command, Option } from 'commander'
import { type Format, formats } from './output.ts'
import { type Target, openAuthenticatedConnection } from './session.ts'
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
type Action<Options> = (context: Context, args: string[], options: Options) => Promise<void> | void

/** Adds the options that every command accepts. */
export function addGlobalOptions(program: Command): Command {
  return program
    .option('--url <address>', 'the address of the Manager, usually that of its proxy (SVC_URL)')
    .option('--profile <name>', 'the profile to use (SVC_PROFILE; default: "default")')
    .option('--plain-http', 'send the token unencrypted; only for trusted networks')
    .addOption(new Option('-o, --output <format>', 'the output format').choices(formats).default('table'))
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
    .description(description)
    .summary(summary ?? '')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .addHelpText('after', `\nExample${exampleLines.length > 1 ? 's' : ''}:\n${exampleLines.join('\n')}`)
}

/** Sets the action of a command. The action receives the context, the arguments and the options. */
export function setAction<Options>(command: Command, terminal: Terminal, action: Action<Options>): Command {
  return command.action(async () => {
    await action(createContext(terminal, command), command.args, command.opts() as Options)
  })
}

function createContext(terminal: Terminal, command: Command): Context {
  const { output, profile, ...rest } = command.optsWithGlobals<GlobalOptions>()
  const target = { ...rest, profile: profile ?? getEnvValue(terminal, 'SVC_PROFILE') ?? 'default' }
  return {
    terminal,
    signal: terminal.signal,
    format: output,
    target,
    connect: (options) => openAuthenticatedConnection(terminal, target, options),
  }
}

/** Returns the value of an environment variable, or undefined if it is unset or empty. */
export function getEnvValue({ env }: Terminal, variable: string): string | undefined {
  return (env[variable] ?? '') === '' ? undefined : env[variable]
}
