// Reads the identity and the access of a caller. The identity and the access version are read on every request. The
// access is cached and read again only if its version has changed.
import { LRUCache } from 'lru-cache'
import { createCoalesced } from '../../platform/postgres/coalesce.ts'
import type { Database } from '../../platform/postgres/database.ts'
import {
  type AccessStatements,
  type Versioned,
  type Wanted,
  readAccess,
  readRows,
} from './proxy-auth.store.ts'

// The total number of cached tenants, about 150 bytes each.
const maxTenantsRemembered = 200_000
// The maximum age of a cached entry. Changes that do not fire a trigger, such as a restored table or TRUNCATE, do not
// change the version.
const maxAgeMs = 60_000

/**
 * Returns a function that reads one pair. `versioned` lists the columns, besides the tenants, that depend on the
 * version.
 */
export function createAccessRead<Row extends Versioned>(
  database: Pick<Database, 'run'>,
  statements: AccessStatements,
  versioned: readonly (keyof Row)[],
): (wanted: Wanted) => Promise<Row | null> {
  const memory = new LRUCache<string, Versioned>({
    maxSize: maxTenantsRemembered,
    sizeCalculation: ({ tenants }) => tenants.length + 1,
    ttl: maxAgeMs,
  })
  const readShort = createCoalesced<Wanted, Row>({
    keyOf: nameOf,
    run: (wanted) => readRows<Row>(database.run, statements.short, wanted),
  })
  const readLong = createCoalesced<Wanted, Row>({
    keyOf: nameOf,
    run: (wanted) => readAccess<Row>(database.run, statements, wanted),
  })
  return async (wanted) => {
    const name = nameOf(wanted)
    const known = memory.get(name)
    if (known !== undefined) {
      const row = await readShort(wanted)
      if (row === null || row.version === known.version) return row && { ...row, ...known }
    }
    const row = await readLong(wanted)
    if (row === null) return null
    const kept = Object.fromEntries(versioned.map((column) => [column, row[column]]))
    memory.set(name, { ...kept, version: row.version, tenants: row.tenants })
    return row
  }
}

const nameOf = ({ key, applicationId }: Wanted): string =>
  `${typeof key === 'string' ? key : key.toString('base64')} ${applicationId}`
