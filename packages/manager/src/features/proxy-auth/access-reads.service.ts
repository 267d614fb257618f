// Reads who a caller is and what he may do. Who he is is read at every request; what he may do is remembered together
// with its version, and read again when the version, which is read at every request too, has moved.
import { LRUCache } from 'lru-cache'
import { createBatched } from '../../platform/db/batched.ts'
import type { Database } from '../../platform/db/database.ts'
import {
  type AccessStatements,
  type Versioned,
  type Wanted,
  readAccess,
  readRows,
} from './proxy-auth.store.ts'

// Tenants in all lists together, about 150 bytes each.
const maxTenantsRemembered = 200_000
// What fires no trigger, as a restored table or a TRUNCATE, moves no version.
const maxAgeMs = 60_000

/** A function that reads one pair; `parts` are the columns that depend on the version, tenants apart. */
export function createAccessRead<Row extends Versioned>(
  database: Pick<Database, 'read'>,
  statements: AccessStatements,
  parts: readonly (keyof Row)[],
): (wanted: Wanted) => Promise<Row | null> {
  const memory = new LRUCache<string, Versioned>({
    maxSize: maxTenantsRemembered,
    sizeCalculation: ({ tenants }) => tenants.length + 1,
    ttl: maxAgeMs,
  })
  const readShort = createBatched<Wanted, Row>({
    keyOf: nameOf,
    run: (wanted) => readRows<Row>(database.read, statements.short, wanted),
  })
  const readLong = createBatched<Wanted, Row>({
    keyOf: nameOf,
    run: (wanted) => readAccess<Row>(database.read, statements, wanted),
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
    const kept = Object.fromEntries(parts.map((part) => [part, row[part]]))
    memory.set(name, { ...kept, version: row.version, tenants: row.tenants })
    return row
  }
}

const nameOf = ({ key, applicationId }: Wanted): string =>
  `${typeof key === 'string' ? key : key.toString('base64')} ${applicationId}`
