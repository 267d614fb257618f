// Explains database errors to operators who start the service or run a command, in one sentence that says what to do.
// API callers get the messages of db-errors.ts instead.
import { type DatabaseAddress, parseDatabaseAddress } from '../engine-addresses.ts'
import { isUnreachable } from './db-errors.ts'

const describeRefusal = ({ server, user }: DatabaseAddress): string =>
  `the database at ${server} refuses the role "${user}"`

const messagesByCode: Record<string, (address: DatabaseAddress) => string> = {
  '28P01': (address) =>
    `${describeRefusal(address)}: the role or its password is wrong; correct database.url (SVC_DATABASE_URL)`,
  '28000': (address) =>
    `${describeRefusal(address)}: it does not exist, may not log in, or pg_hba.conf does not allow it from this host; correct database.url (SVC_DATABASE_URL), or create the role`,
  '3D000': ({ server, name }) =>
    `the server at ${server} has no database "${name}"; create it, or correct database.url (SVC_DATABASE_URL)`,
  '42501': (address) =>
    `${describeRefusal(address)}: it lacks a privilege; migrate as the owner of the database with SVC_DATABASE_SERVICE_ROLE set to the role of the service: \`npm run manager -- migrate up\` then grants the missing privileges`,
}

/** Runs work on the database of this URL. An error that an operator can fix is replaced by a one-sentence message. */
export async function withOperatorErrors<T>(url: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const text = explain(error, url)
    throw text === null ? error : new Error(text, { cause: error })
  }
}

function explain(error: unknown, url: string): string | null {
  const { code = '' } = error as { code?: string }
  const address = parseDatabaseAddress(url)
  if (isUnreachable(error))
    return `cannot reach the database at ${address.server} (${code === '' ? 'timeout' : code}); check that PostgreSQL is running, that the network allows the connection, and that database.url (SVC_DATABASE_URL) is correct`
  return messagesByCode[code]?.(address) ?? null
}
