import { type Command, InvalidArgumentError, Option } from 'commander'
import {
  type Config,
  type Terminal,
  loadCommandConfig,
  createRoot,
  runProgram,
  silentLog,
  formatTableLines,
  withDatabase,
  withKeyedDatabase,
} from '@manager/manager/commands'
import type { ImportOptions, ImportScope, Progress } from './import.ts'
import type { Check } from './check.ts'
import { type EnvironmentName, type TypeEnvironments, environmentNames } from './project.ts'
import type { Summary } from './tally.ts'

const fromOption = [
  '--from <url>',
  'the old database; its schema `legacy` contains the views that docs/reference/legacy-views.md lists',
] as const

/** Creates the program that `manager legacy` starts. The import code is loaded only when an import runs. */
function createLegacyProgram(terminal: Terminal): Command {
  const legacy = createRoot('manager legacy', terminal)
    .description(
      'Import an installation without versioned migrations (docs/guides/operators/migrate-from-an-older-installation.md).',
    )
    // This option belongs to `manager`, which passes it on to this program.
    .addOption(new Option('-c, --config <file>').hideHelp())
    .addHelpText(
      'after',
      `
Examples:
  $ npm run manager -- legacy import --from postgres://reader@old-host/old --plan
  $ npm run manager -- legacy import --from postgres://reader@old-host/old --report import.ndjson
  $ npm run manager -- legacy check --from postgres://reader@old-host/old
  $ npm run manager -- legacy id 4711`,
    )
  addImportCommand(legacy, terminal)
  addCheckCommand(legacy, terminal)
  addIdCommand(legacy, terminal)
  return legacy
}

/** Runs one command line and returns its exit code. */
export const run = (args: readonly string[], terminal: Terminal): Promise<number> =>
  runProgram(createLegacyProgram(terminal), args, terminal)

type ImportFlags = {
  from: string
  plan?: true
  report?: string
  type?: TypeEnvironments
  json?: true
  check: boolean
}

function addImportCommand(legacy: Command, terminal: Terminal): void {
  legacy
    .command('import')
    .description(
      'Import an old installation: application clones are merged, tenant types become environments. Safe to run again.',
    )
    .requiredOption(...fromOption)
    .option('--plan', 'print the plan without changing anything')
    .option('--report <file>', 'write one JSON line for each row that a rule applied to')
    .option('--type <old=env>', 'the environment of a tenant type; may be repeated', parseType)
    .option('--json', 'print the result as JSON instead of a table')
    .option('--no-check', 'do not compare old and new rows at the end; run `legacy check` later')
    .addHelpText(
      'after',
      `
Stop the old service first: an import fails if the old rows have changed since it started.
Run an interrupted import again to resume it. At the end, old and new rows are compared.

Examples:
  $ npm run manager -- legacy import --from postgres://reader@old-host/old --plan
  $ npm run manager -- legacy import --from postgres://reader@old-host/old --type sandbox=dev --report import.ndjson`,
    )
    .action(async (flags: ImportFlags, command: Command) => {
      const config = loadCommandConfig(terminal, command)
      const options = {
        ...flags,
        types: flags.type ?? {},
        say: terminal.warn,
        onProgress: createProgressBar(terminal, 'read'),
      } satisfies ImportOptions
      const { summarizePlan: planOnly, runImport } = await import('./import.ts')
      const run = flags.plan === true ? planOnly : runImport
      const summary = await withScope(config, (scope) => run(scope, options))
      terminal.progress('\n')
      const isChecked = flags.plan !== true && flags.check
      const check = isChecked ? await withScope(config, (scope) => compare(scope, flags, terminal)) : null
      if (flags.json === true) terminal.say(JSON.stringify({ plan: flags.plan === true, ...summary, check }))
      else {
        for (const line of formatSummary(summary)) terminal.say(line)
        terminal.say('')
        terminal.say(
          flags.plan === true ? 'plan only: nothing was written' : 'imported: every row is accounted for',
        )
        if (check !== null) printCheck(terminal, check)
      }
    })
}

function addCheckCommand(legacy: Command, terminal: Terminal): void {
  legacy
    .command('check')
    .description(
      'Compare an imported installation with the old one: counts, settings, access and credentials.',
    )
    .requiredOption(...fromOption)
    .option('--json', 'print the result as JSON instead of a table')
    .addHelpText(
      'after',
      `
Exits with 1 if something differs. Changes made since the import count as differences.

Example:
  $ npm run manager -- legacy check --from postgres://reader@old-host/old`,
    )
    .action(async (flags: { from: string; json?: true }, command: Command) => {
      const check = await withScope(loadCommandConfig(terminal, command), (scope) =>
        compare(scope, flags, terminal),
      )
      if (flags.json === true) terminal.say(JSON.stringify(check))
      else printCheck(terminal, check)
    })
}

function addIdCommand(legacy: Command, terminal: Terminal): void {
  legacy
    .command('id')
    .description('Show how the rows with an old id were imported.')
    .argument('<old-id>', 'an id of the old installation; <tenant>/<user> for a member')
    .addHelpText('after', `\nExample:\n  $ npm run manager -- legacy id 4711`)
    .action(async (oldId: string, _flags, command: Command) => {
      const { findOldId } = await import('./ledger.ts')
      const rows = await withDatabase(loadCommandConfig(terminal, command), ({ db }) =>
        findOldId(db.read, oldId),
      )
      if (rows.length === 0) throw new Error(`no imported row has the old id ${oldId}`)
      const cells = rows.map(({ view, outcome, newId, rules }) => [
        view,
        outcome,
        newId ?? '-',
        rules.join(', ') || '-',
      ])
      for (const line of formatTableLines(['VIEW', 'OUTCOME', 'NEW ID', 'RULES'], cells)) terminal.say(line)
    })
}

function parseType(text: string, types: TypeEnvironments = {}): TypeEnvironments {
  const at = text.lastIndexOf('=')
  const environment = environmentNames.find((name) => name === text.slice(at + 1))
  if (at < 0 || environment === undefined)
    throw new InvalidArgumentError(`write <old>=<env>, where <env> is one of ${environmentNames.join(', ')}`)
  return { ...types, [text.slice(0, at)]: environment satisfies EnvironmentName }
}

async function compare(
  scope: ImportScope,
  { from: url }: { from: string },
  terminal: Terminal,
): Promise<Check> {
  const { checkImport } = await import('./check.ts')
  const check = await checkImport(scope, { from: url, onProgress: createProgressBar(terminal, 'compared') })
  terminal.progress('\n')
  if (check.differences > 0) terminal.exitCode = 1
  return check
}

/** Formats the summary as tables. */
function formatSummary({ views, rules }: Summary): string[] {
  const total = { view: 'all', read: 0, moved: 0, merged: 0, kept_aside: 0 }
  for (const counts of views)
    for (const field of ['read', 'moved', 'merged', 'kept_aside'] as const) total[field] += counts[field]
  const countCells = [...views, total].map((counts) => [
    counts.view,
    ...[counts.read, counts.moved, counts.merged, counts.kept_aside].map(String),
  ])
  const ruleCells = rules.map(({ rule, rows, meaning, examples }) => [
    rule,
    String(rows),
    examples[0] ?? '',
    meaning,
  ])
  return [
    ...formatTableLines(['VIEW', 'READ', 'MOVED', 'MERGED', 'SKIPPED'], countCells),
    ...(ruleCells.length === 0
      ? []
      : ['', ...formatTableLines(['RULE', 'ROWS', 'EXAMPLE', 'MEANING'], ruleCells)]),
  ]
}

function printCheck(terminal: Terminal, { parts, differences }: Check): void {
  const cells = parts.map(({ name, compared, differing }) => [name, String(compared), String(differing)])
  for (const line of formatTableLines(['CHECK', 'COMPARED', 'DIFFERENT'], cells)) terminal.say(line)
  for (const { examples } of parts) for (const example of examples) terminal.say(`different: ${example}`)
  terminal.say(
    differences === 0
      ? 'check: the old and the new installation match'
      : `check: ${differences} ${differences === 1 ? 'difference' : 'differences'}`,
  )
}

const withScope = <T>(config: Config, work: (scope: ImportScope) => Promise<T>): Promise<T> =>
  withKeyedDatabase(config, async (database) => {
    const [{ assertSchemaFits, createConfiguredBlobStores }, { transformations }] = await Promise.all([
      import('@manager/manager/storage'),
      import('@manager/manager/rules'),
    ])
    await assertSchemaFits(database.pools.requests)
    const blobStores = createConfiguredBlobStores(config, database, silentLog)
    const templates = transformations.create({ config })
    try {
      return await work({ config, database, blobStores, findTemplateProblem: templates.api.findProblem })
    } finally {
      await templates.close?.()
      await blobStores.close()
    }
  })

const barWidth = 30
const barIntervalMs = 100

function createProgressBar(terminal: Terminal, label: string): (done: Progress) => void {
  let lastDrawnAt = 0
  return ({ readCount: read, of }) => {
    if (performance.now() - lastDrawnAt < barIntervalMs && read < of) return
    lastDrawnAt = performance.now()
    const filledWidth = of === 0 ? barWidth : Math.floor((barWidth * read) / of)
    terminal.progress(`\r[${'#'.repeat(filledWidth).padEnd(barWidth)}] ${read} of ${of} rows ${label}`)
  }
}
