import { type Command, InvalidArgumentError, Option } from 'commander'
import {
  type Config,
  type Terminal,
  commandConfig,
  createRoot,
  runProgram,
  silentLog,
  table,
  withDatabase,
  withKeyedDatabase,
} from '@manager/manager/commands'
import type { ImportOptions, ImportScope, Progress } from './import.ts'
import type { Check } from './check.ts'
import { type EnvironmentName, type Types, environmentNames } from './project.ts'
import type { Summary } from './tally.ts'

const from = [
  '--from <url>',
  'the old database, whose schema legacy has the views of docs/reference/legacy-views.md',
] as const

/** The program that `manager legacy` starts. What an import takes is loaded when one runs. */
function createLegacyProgram(terminal: Terminal): Command {
  const legacy = createRoot('manager legacy', terminal)
    .description(
      'Import an installation without versioned migrations (docs/guides/operators/migrate-from-an-older-installation.md).',
    )
    // An option of `manager`, which passes it on.
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

/** Runs one command line; returns its exit code. */
export const run = (args: readonly string[], terminal: Terminal): Promise<number> =>
  runProgram(createLegacyProgram(terminal), args, terminal)

type ImportFlags = { from: string; plan?: true; report?: string; type?: Types; json?: true; check: boolean }

function addImportCommand(legacy: Command, terminal: Terminal): void {
  legacy
    .command('import')
    .description(
      'Import an old install: clones of applications become one, types of tenants become environments. Safe to run again.',
    )
    .requiredOption(...from)
    .option('--plan', 'change nothing; print what would happen')
    .option('--report <file>', 'write a line of JSON for each row that a rule decided about')
    .option('--type <old=env>', 'which environment a type of tenants becomes; may be repeated', addType)
    .option('--json', 'print the result as JSON instead of a table')
    .option('--no-check', 'do not compare old and new at the end; `legacy check` does it later')
    .addHelpText(
      'after',
      `
Stop the old service first: an import refuses to go on when the old rows have changed since it began.
One that was interrupted is run again, and goes on. Old and new are compared at the end.

Examples:
  $ npm run manager -- legacy import --from postgres://reader@old-host/old --plan
  $ npm run manager -- legacy import --from postgres://reader@old-host/old --type sandbox=dev --report import.ndjson`,
    )
    .action(async (flags: ImportFlags, command: Command) => {
      const config = commandConfig(terminal, command)
      const options = {
        ...flags,
        types: flags.type ?? {},
        say: terminal.warn,
        onProgress: progressBar(terminal, 'read'),
      } satisfies ImportOptions
      const { planOnly, runImport } = await import('./import.ts')
      const run = flags.plan === true ? planOnly : runImport
      const summary = await withScope(config, (scope) => run(scope, options))
      terminal.progress('\n')
      const isChecked = flags.plan !== true && flags.check
      const check = isChecked ? await withScope(config, (scope) => compare(scope, flags, terminal)) : null
      if (flags.json === true) terminal.say(JSON.stringify({ plan: flags.plan === true, ...summary, check }))
      else {
        for (const line of summaryLines(summary)) terminal.say(line)
        terminal.say('')
        terminal.say(
          flags.plan === true ? 'plan only: nothing was written' : 'imported: every row is accounted for',
        )
        if (check !== null) sayCheck(terminal, check)
      }
    })
}

function addCheckCommand(legacy: Command, terminal: Terminal): void {
  legacy
    .command('check')
    .description('Compare an imported install with the old one: counts, settings, access and credentials.')
    .requiredOption(...from)
    .option('--json', 'print the result as JSON instead of a table')
    .addHelpText(
      'after',
      `
Exit code 1 when something differs. Changes made since the import are differences too.

Example:
  $ npm run manager -- legacy check --from postgres://reader@old-host/old`,
    )
    .action(async (flags: { from: string; json?: true }, command: Command) => {
      const check = await withScope(commandConfig(terminal, command), (scope) =>
        compare(scope, flags, terminal),
      )
      if (flags.json === true) terminal.say(JSON.stringify(check))
      else sayCheck(terminal, check)
    })
}

function addIdCommand(legacy: Command, terminal: Terminal): void {
  legacy
    .command('id')
    .description('Tell what became of an old id, and where its rows are now.')
    .argument('<old-id>', 'an id of the old install; of a member <tenant>/<user>')
    .addHelpText('after', `\nExample:\n  $ npm run manager -- legacy id 4711`)
    .action(async (oldId: string, _flags, command: Command) => {
      const { findOldId } = await import('./ledger.ts')
      const rows = await withDatabase(commandConfig(terminal, command), ({ db }) => findOldId(db.read, oldId))
      if (rows.length === 0) throw new Error(`no row of the old install had the id ${oldId}`)
      const cells = rows.map(({ view, outcome, newId, rules }) => [
        view,
        outcome,
        newId ?? '-',
        rules.join(', ') || '-',
      ])
      for (const line of table(['VIEW', 'OUTCOME', 'NEW ID', 'RULES'], cells)) terminal.say(line)
    })
}

function addType(text: string, types: Types = {}): Types {
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
  const check = await checkImport(scope, { from: url, onProgress: progressBar(terminal, 'compared') })
  terminal.progress('\n')
  if (check.differences > 0) terminal.exitCode = 1
  return check
}

/** The summary as people read it. */
function summaryLines({ views, rules }: Summary): string[] {
  const total = { view: 'all', read: 0, moved: 0, merged: 0, kept_aside: 0 }
  for (const counts of views)
    for (const field of ['read', 'moved', 'merged', 'kept_aside'] as const) total[field] += counts[field]
  const numbers = [...views, total].map((counts) => [
    counts.view,
    ...[counts.read, counts.moved, counts.merged, counts.kept_aside].map(String),
  ])
  const decided = rules.map(({ rule, rows, meaning, examples }) => [
    rule,
    String(rows),
    examples[0] ?? '',
    meaning,
  ])
  return [
    ...table(['VIEW', 'READ', 'MOVED', 'MERGED', 'KEPT ASIDE'], numbers),
    ...(decided.length === 0 ? [] : ['', ...table(['RULE', 'ROWS', 'FOR EXAMPLE', 'MEANING'], decided)]),
  ]
}

function sayCheck(terminal: Terminal, { parts, differences }: Check): void {
  const cells = parts.map(({ name, compared, differing }) => [name, String(compared), String(differing)])
  for (const line of table(['CHECK', 'COMPARED', 'DIFFERENT'], cells)) terminal.say(line)
  for (const { examples } of parts) for (const example of examples) terminal.say(`different: ${example}`)
  terminal.say(
    differences === 0
      ? 'check: old and new are the same'
      : `check: ${differences} ${differences === 1 ? 'difference' : 'differences'}`,
  )
}

const withScope = <T>(config: Config, work: (scope: ImportScope) => Promise<T>): Promise<T> =>
  withKeyedDatabase(config, async (database) => {
    const [{ assertSchemaFits, blobStoresOf }, { transformations }] = await Promise.all([
      import('@manager/manager/storage'),
      import('@manager/manager/rules'),
    ])
    await assertSchemaFits(database.pools.requests)
    const blobStores = blobStoresOf(config, database, silentLog)
    const templates = transformations.create({ config })
    try {
      return await work({ config, database, blobStores, problemOfTemplate: templates.api.problemOf })
    } finally {
      await templates.close?.()
      await blobStores.close()
    }
  })

const barWidth = 30
const barEveryMs = 100

function progressBar(terminal: Terminal, what: string): (done: Progress) => void {
  let drawnAt = 0
  return ({ read, of }) => {
    if (performance.now() - drawnAt < barEveryMs && read < of) return
    drawnAt = performance.now()
    const filled = of === 0 ? barWidth : Math.floor((barWidth * read) / of)
    terminal.progress(`\r[${'#'.repeat(filled).padEnd(barWidth)}] ${read} of ${of} rows ${what}`)
  }
}
