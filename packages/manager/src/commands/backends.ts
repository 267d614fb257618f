import type { Command } from 'commander'
import { type Config, selectSettings } from '../config/config.ts'
import { listBackends } from '../features/backends/backend-list.service.ts'
import { backendSettings } from '../features/backends/backends.settings.ts'
import { loadCommandConfig, withDatabase } from './context.ts'
import { formatTableLines } from './table.ts'
import type { Terminal } from './terminal.ts'

const maxListed = 1_000

const examples = `
Examples:
  $ npm run manager -- backends list
  $ npm run manager -- backends list --project shop
  $ npm run manager -- backends list --json`

type Backend = Awaited<ReturnType<typeof listBackends>>[number]

/** Adds the `manager backends` commands. */
export function addBackendsCommands(program: Command, terminal: Terminal): void {
  const backends = program
    .command('backends')
    .description('Inspect the backends that are registered for callbacks.')
    .addHelpText('after', examples)

  backends
    .command('list')
    .description(
      'List the registered backends, each with its owner, callback host and the time since its last heartbeat.',
    )
    .option('--project <slug>', 'list only backends of this project')
    .option('--json', 'print one JSON object per backend instead of a table')
    .addHelpText('after', examples)
    .action(async (options: { project?: string; json?: boolean }, command: Command) => {
      const foundBackends = await findBackends(loadCommandConfig(terminal, command), options.project ?? null)
      const listedBackends = foundBackends.slice(0, maxListed)
      const lines = options.json === true ? listedBackends.map(formatJson) : formatTable(listedBackends)
      for (const line of lines) terminal.say(line)
      // Print warnings to standard error, because --json must keep standard output machine-readable.
      if (foundBackends.length > maxListed)
        terminal.warn(`There are more than ${maxListed} backends. Use --project to narrow the list.`)
      if (foundBackends.length === 0) terminal.warn('No backend is registered.')
    })
}

function findBackends(config: Config, projectSlug: string | null): Promise<Backend[]> {
  const { callbacksStaleAfterMs: staleAfterMs } = selectSettings(config, backendSettings)
  return withDatabase(config, ({ db }) =>
    listBackends(db, { projectSlug, staleAfterMs, limit: maxListed + 1 }),
  )
}

const formatState = ({ isLive }: Backend): string => (isLive ? 'live' : 'stale')

const formatJson = (backend: Backend): string =>
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
    state: formatState(backend),
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

function formatTable(backends: readonly Backend[]): string[] {
  if (backends.length === 0) return []
  const rows = backends.map((backend) => [
    backend.project,
    backend.application,
    backend.environment,
    backend.machineUser,
    backend.callbackHost,
    backend.version === '' ? '-' : backend.version,
    `${backend.silentSeconds}s`,
    formatState(backend),
  ])
  return formatTableLines(titles, rows)
}
