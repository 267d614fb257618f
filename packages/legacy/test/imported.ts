// Imports an old installation with the command, and starts a service on the result.
import { readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { Client } from 'pg'
import { type TestApp, startTestApp } from '../../manager/test/kit/app.ts'
import { testEnv } from '@manager/harness/test-env.ts'
import { type TestDatabase, createScratchDatabase } from '../../manager/test/kit/databases.ts'
import type { CommandResult } from '@manager/harness/process.ts'
import { runLegacy } from './run-legacy.ts'
import { type Upstream, startUpstream } from '../../manager/test/kit/upstream.ts'
import { type Expected, expectImport } from './expected.ts'
import { storeInstall } from './old-database.ts'
import type { Id, OldInstall } from './old-rows.ts'

type LedgerRow = {
  view: string
  old_id: Id
  outcome: 'moved' | 'merged' | 'kept_aside'
  new_id: string | null
  rules: string[]
  detail: unknown
}
/** The outcome for each row, by view and old id. */
export type Ledger = Map<string, Map<Id, LedgerRow>>
export type Imported = {
  install: OldInstall
  expected: Expected
  ledger: Ledger
  service: TestApp
  upstream: Upstream
  from: string
  close(): Promise<void>
}

/** Returns the arguments of an import from this database. */
export const importArguments = (
  from: string,
  types: OldInstall['types'] = {},
  more: string[] = [],
): string[] => [
  'import',
  '--from',
  from,
  ...Object.entries(types).flatMap(([old, environment]) => ['--type', `${old}=${environment}`]),
  ...more,
]

export const runImport = (
  database: Pick<TestDatabase, 'url'>,
  from: string,
  types?: OldInstall['types'],
  more?: string[],
): Promise<CommandResult> => runLegacy(importArguments(from, types, more), testEnv(database.url))

let reports = 0
/** Runs an import and returns its outcome with the report. */
export async function runReported(
  database: Pick<TestDatabase, 'url'>,
  from: string,
  types?: OldInstall['types'],
) {
  const file = `${tmpdir()}/legacy-report-${process.pid}-${reports++}`
  const result = await runImport(database, from, types, ['--report', file])
  if (result.code !== 0) return { ...result, report: '' }
  const report = readFileSync(file, 'utf8')
  rmSync(file)
  return { ...result, report }
}

export async function readLedger(url: string): Promise<Ledger> {
  const client = new Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<LedgerRow>(
    'select view, old_id, outcome, new_id, rules, detail from legacy_rows order by view, old_id',
  )
  await client.end()
  const byView = Map.groupBy(rows, ({ view }) => view)
  return new Map([...byView].map(([view, own]) => [view, new Map(own.map((row) => [row.old_id, row]))]))
}

/**
 * Imports into a new database and starts a service on it. `make` receives the URL that endpoints may forward
 * to.
 */
export async function importInstall(make: (upstream: string) => OldInstall): Promise<Imported> {
  const upstream = await startUpstream()
  const install = make(upstream.url)
  const [old, database] = await Promise.all([storeInstall(install), createScratchDatabase()])
  const result = await runImport(database, old.url, install.types)
  if (result.code !== 0)
    throw new Error(`the import ended with ${result.code}: ${result.stderr}${result.stdout}`)
  const [service, ledger] = [await startTestApp({ database }), await readLedger(database.url)]
  const wasTaken = (view: string, id: Id): boolean => ledger.get(view)?.get(id)?.outcome === 'moved'
  return {
    install,
    expected: expectImport(install, wasTaken),
    ledger,
    service,
    upstream,
    from: old.url,
    close: async () => {
      await upstream.close()
      await service.close()
      await Promise.all([old.drop(), database.drop()])
    },
  }
}

/** Returns the id of the row that represents an old row, or null. */
export const newIdOf = ({ ledger }: Pick<Imported, 'ledger'>, view: string, oldId: Id): string | null =>
  ledger.get(view)?.get(oldId)?.new_id ?? null

/** The new application and tenant of a clone. */
export type ImportedClone = {
  cloneId: Id
  applicationId: string
  tenantId: string
  oldTenantId: Id
  enabled: boolean
}

/** Returns the new application and tenant of each imported clone. */
export async function readClones(imported: Imported): Promise<Map<Id, ImportedClone>> {
  const { rows } = await imported.service.sql.query<{
    id: string
    tenant_id: string
    application_id: string
    enabled: boolean
  }>('select id, tenant_id, application_id, enabled from tenant2applications')
  const clones = new Map<Id, ImportedClone>()
  for (const { id: cloneId, tenantId: oldTenantId } of imported.expected.clones) {
    const newId = newIdOf(imported, 'applications', cloneId)
    const tenantId = newIdOf(imported, 'tenants', oldTenantId)
    const row = rows.find(
      (own) => own.tenant_id === tenantId && (own.id === newId || own.application_id === newId),
    )
    if (row !== undefined && tenantId !== null)
      clones.set(cloneId, {
        cloneId,
        applicationId: row.application_id,
        tenantId,
        oldTenantId,
        enabled: row.enabled,
      })
  }
  return clones
}
