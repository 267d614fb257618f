// What a command works with.
import type { Connection } from '@manager/client'
import { type Command, Option } from 'commander'
import { type Format, formats } from './output.ts'
import { type Place, signedInConnection } from './session.ts'
import type { World } from './world.ts'

export type Context = {
  world: World
  signal: AbortSignal
  format: Format
  place: Place
  /** The person's connection; throws when nobody is signed in. */
  connect: (options?: { timeoutMs?: number }) => Promise<Connection>
}
type GlobalOptions = Omit<Place, 'profile'> & { output: Format; profile?: string }
type Work<Options> = (context: Context, args: string[], options: Options) => Promise<void> | void

/** The options that every command has. */
export function addGlobalOptions(program: Command): Command {
  return program
    .option('--url <address>', 'where the Manager is reached (SVC_URL)')
    .option('--profile <name>', 'which sign-in to use, "default" if not said (SVC_PROFILE)')
    .option('--plain-http', 'send the token unencrypted, inside a network you trust')
    .addOption(
      new Option('-o, --output <format>', 'how results are printed').choices(formats).default('table'),
    )
}

export type Definition = {
  name: string
  description: string
  /** Its line in the help of the program, where the description is long. */
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

/** What the command does. */
export function does<Options>(command: Command, world: World, work: Work<Options>): Command {
  return command.action(async () => {
    await work(contextOf(world, command), command.args, command.opts() as Options)
  })
}

function contextOf(world: World, command: Command): Context {
  const { output, profile, ...rest } = command.optsWithGlobals<GlobalOptions>()
  const place = { ...rest, profile: profile ?? namedIn(world, 'SVC_PROFILE') ?? 'default' }
  return {
    world,
    signal: world.signal,
    format: output,
    place,
    connect: (options) => signedInConnection(world, place, options),
  }
}

/** The value of a variable that is set and not empty. */
export function namedIn({ env }: World, variable: string): string | undefined {
  return (env[variable] ?? '') === '' ? undefined : env[variable]
}
