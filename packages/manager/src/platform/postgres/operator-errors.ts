// What a failure of the database means to the person who starts the service or runs a command: one sentence that says
// what to do. Callers of the API never read it (db-errors.ts).
import { type DatabaseAddress, databaseAddress } from '../engine-addresses.ts'
import { isUnreachable } from './db-errors.ts'

const refused = ({ place, user }: DatabaseAddress): string =>
  `the database at ${place} refuses the role "${user}"`

const sentences: Record<string, (address: DatabaseAddress) => string> = {
  '28P01': (address) =>
    `${refused(address)}: the role or its password is wrong; correct database.url (SVC_DATABASE_URL)`,
  '28000': (address) =>
    `${refused(address)}: it does not exist, may not log in, or pg_hba.conf does not admit it from here; correct database.url (SVC_DATABASE_URL), or create the role`,
  '3D000': ({ place, name }) =>
    `the server at ${place} has no database "${name}"; create it, or correct database.url (SVC_DATABASE_URL)`,
  '42501': (address) =>
    `${refused(address)}: it lacks a privilege; migrate as the owner of the database, and let SVC_DATABASE_SERVICE_ROLE name the role of the service: \`npm run manager -- migrate up\` then grants it what it needs`,
}

/** Runs the work on the database of this URL; failures that an operator can mend are told in one sentence. */
export async function explainingFailures<T>(url: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const text = explain(error, url)
    throw text === null ? error : new Error(text, { cause: error })
  }
}

function explain(error: unknown, url: string): string | null {
  const { code = '' } = error as { code?: string }
  const address = databaseAddress(url)
  if (isUnreachable(error))
    return `no database answers at ${address.place} (${code === '' ? 'timeout' : code}); check that PostgreSQL runs there, that the network lets this machine through, and database.url (SVC_DATABASE_URL)`
  return sentences[code]?.(address) ?? null
}
