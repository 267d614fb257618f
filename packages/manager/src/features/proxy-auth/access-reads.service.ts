// Reads who a caller is and what they may do. Who they are is read at every request; what they may do is cached
// with its version, and read again when the version, which is read at every request too, has changed.
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

// Tenants in all lists together, about 150 bytes each.
const maxTenantsRemembered = 200_000
// What fires no trigger, such as a restored table or a TRUNCATE, changes no version.
const maxAgeMs = 60_000

/** Returns a function that reads one pair; `versioned` are the columns that depend on the version, tenants apart. */
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
