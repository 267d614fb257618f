// What a failure of the database means to the person who starts the service or runs a command: one sentence that says
// what to do. Callers of the API never read it (db-errors.ts).
import { Client } from 'pg'
import { isUnreachable } from './db-errors.ts'

type Target = { host: string; port: number; user: string | undefined; database: string | undefined }
type Sentence = (target: Target) => string

const at = ({ host, port }: Target): string => (host.startsWith('/') ? host : `${host}:${port}`)
const refused = (target: Target): string => `the database at ${at(target)} refuses the role "${target.user}"`

const sentences: Record<string, Sentence> = {
  '28P01': (target) =>
    `${refused(target)}: the role or its password is wrong; correct database.url (SVC_DATABASE_URL)`,
  '28000': (target) =>
    `${refused(target)}: it does not exist, may not log in, or pg_hba.conf does not admit it from here; correct database.url (SVC_DATABASE_URL), or create the role`,
  '3D000': (target) =>
    `the server at ${at(target)} has no database "${target.database}"; create it, or correct database.url (SVC_DATABASE_URL)`,
  '42501': (target) =>
    `${refused(target)}: it lacks a privilege; migrate as the owner of the database, and let SVC_DATABASE_SERVICE_ROLE name the role of the service: \`npm run manager -- migrate up\` then grants it what it needs`,
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
  // A client that never connects reads the URL as the others do; the password stays where it is.
  const { host, port, user, database } = new Client({ connectionString: url })
  const target = { host, port, user, database }
  if (isUnreachable(error))
    return `no database answers at ${at(target)} (${code === '' ? 'timeout' : code}); check that PostgreSQL runs there, that the network lets this machine through, and database.url (SVC_DATABASE_URL)`
  return sentences[code]?.(target) ?? null
}
