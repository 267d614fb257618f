// Reads the identity and the access of a caller. The identity and the access version are read on every request. The
// access is cached and read again only if its version has changed.
import { LRUCache } from 'lru-cache'
import { createCoalescer } from '../../platform/postgres/coalesce.ts'
import type { Database } from '../../platform/postgres/database.ts'
import {
  type AccessStatements,
  type VersionedAccess,
  type AccessLookup,
  readAccess,
  readRows,
} from './proxy-auth.store.ts'

// The total number of cached tenants, about 150 bytes each.
const maxCachedTenants = 200_000
// The maximum age of a cached entry. Changes that do not fire a trigger, such as a restored table or TRUNCATE, do not
// change the version.
const maxAgeMs = 60_000

/**
 * Returns a function that reads the row of one key and application. `versionedColumns` lists the columns,
 * besides the tenants, that depend on the version.
 */
export function createAccessReader<Row extends VersionedAccess>(
  database: Pick<Database, 'run'>,
  statements: AccessStatements,
  versionedColumns: readonly (keyof Row)[],
): (accessKey: AccessLookup) => Promise<Row | null> {
  const memory = new LRUCache<string, VersionedAccess>({
    maxSize: maxCachedTenants,
    sizeCalculation: ({ tenants }) => tenants.length + 1,
    ttl: maxAgeMs,
  })
  const readIdentity = createCoalescer<AccessLookup, Row>({
    getKey: formatKey,
    run: (accessKeys) => readRows<Row>(database.run, statements.short, accessKeys),
  })
  const readIdentityAndAccess = createCoalescer<AccessLookup, Row>({
    getKey: formatKey,
    run: (accessKeys) => readAccess<Row>(database.run, statements, accessKeys),
  })
  return async (accessKey) => {
    const cacheKey = formatKey(accessKey)
    const cachedEntry = memory.get(cacheKey)
    if (cachedEntry !== undefined) {
      const row = await readIdentity(accessKey)
      if (row === null || row.version === cachedEntry.version) return row && { ...row, ...cachedEntry }
    }
    const row = await readIdentityAndAccess(accessKey)
    if (row === null) return null
    const versionedValues = Object.fromEntries(versionedColumns.map((column) => [column, row[column]]))
    memory.set(cacheKey, { ...versionedValues, version: row.version, tenants: row.tenants })
    return row
  }
}

const formatKey = ({ key, applicationId }: AccessLookup): string =>
  `${typeof key === 'string' ? key : key.toString('base64')} ${applicationId}`
