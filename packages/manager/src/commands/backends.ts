import type { Command } from 'commander'
import { type Config, settingsOf } from '../config/config.ts'
import { listBackends } from '../features/backends/backend-list.service.ts'
import { backendSettings } from '../features/backends/backends.settings.ts'
import { commandConfig, withDatabase } from './context.ts'
import { table } from './table.ts'
import type { Terminal } from './terminal.ts'

const maxListed = 1_000

const examples = `
Examples:
  $ npm run manager -- backends list
  $ npm run manager -- backends list --project shop
  $ npm run manager -- backends list --json`

type Backend = Awaited<ReturnType<typeof listBackends>>[number]

/** manager backends … */
export function addBackendsCommands(program: Command, terminal: Terminal): void {
  const backends = program
    .command('backends')
    .description('Look at the backends that are registered for callbacks.')
    .addHelpText('after', examples)

  backends
    .command('list')
    .description(
      'List the registered backends: what they belong to, where they are called back, and since when they are silent.',
    )
    .option('--project <slug>', 'only those of this project')
    .option('--json', 'print one JSON object per backend instead of a table')
    .addHelpText('after', examples)
    .action(async (options: { project?: string; json?: boolean }, command: Command) => {
      const found = await find(commandConfig(terminal, command), options.project ?? null)
      const shown = found.slice(0, maxListed)
      for (const line of options.json === true ? shown.map(asJson) : asTable(shown)) terminal.say(line)
      // Not on standard output, which --json keeps machine-readable.
      if (found.length > maxListed)
        terminal.warn(`there are more than ${maxListed} backends; name a project to see its own`)
      if (found.length === 0) terminal.warn('no backend is registered')
    })
}

function find(config: Config, projectSlug: string | null): Promise<Backend[]> {
  const { callbacksStaleAfterMs: staleAfterMs } = settingsOf(config, backendSettings)
  return withDatabase(config, ({ db }) =>
    listBackends(db, { projectSlug, staleAfterMs, limit: maxListed + 1 }),
  )
}

const stateOf = ({ isLive }: Backend): string => (isLive ? 'live' : 'stale')

const asJson = (backend: Backend): string =>
  JSON.stringify({
    id: backend.id,
    project: backend.project,
    application: backend.application,
    environment: backend.environment,
    machine_user: backend.machineUser,
    callback_host: backend.callbackHost,
    version: backend.version,
    last_heartbeat: backend.lastHeartbeat,
    silent_seconds: backend.silentSeconds,
    state: stateOf(backend),
  })

const titles = [
  'PROJECT',
  'APPLICATION',
  'ENVIRONMENT',
  'MACHINE USER',
  'CALLBACK HOST',
  'VERSION',
  'SILENT',
  'STATE',
]

/** A line of titles and one for each backend, in columns. */
function asTable(backends: readonly Backend[]): string[] {
  if (backends.length === 0) return []
  const rows = backends.map((backend) => [
    backend.project,
    backend.application,
    backend.environment,
    backend.machineUser,
    backend.callbackHost,
    backend.version === '' ? '-' : backend.version,
    `${backend.silentSeconds}s`,
    stateOf(backend),
  ])
  return table(titles, rows)
}
