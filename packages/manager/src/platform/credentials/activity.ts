// When principals were last active: noted as callers are admitted, and written for many of them together. A process writes of
// one principal once an hour at most.
import type { Run } from '../postgres/prepared.ts'
import type { Statement } from '../postgres/statements.ts'
import type { Logger } from '../log/log.ts'

export type Activity = {
  noteUser(id: string): void
  noteMachineUser(id: string): void
  /** Writes what is still to be written. */
  close(): Promise<void>
}
type Notes = { note(id: string): void; write(): Promise<void>; forget(): void }

const writeEveryMs = 60_000
const forgetEveryMs = 3_600_000
// About 10 MB. Who is one too many is noted again within the hour, or at the next call.
const maxNoted = 100_000
const rowsAtOnce = 5_000

// By the database's clock, a minute late at most. Ids of no row, such as a user nobody has seen, are dropped; in one order, so
// that two processes never wait for each other crosswise.
const statementOf = (table: string, column: string, principals: string): Statement => ({
  kind: 'idempotent',
  text: `
  insert into ${table} (${column}, last_active_at)
  select p.id, now() from unnest($1::uuid[]) as noted (id) join ${principals} p on p.id = noted.id order by p.id
  on conflict (${column}) do update set last_active_at = excluded.last_active_at
  where ${table}.last_active_at < excluded.last_active_at`,
})
const statements = {
  users: statementOf('user_activity', 'user_id', 'users'),
  machineUsers: statementOf('machine_user_activity', 'machine_user_id', 'machine_users'),
}

/** Notes cost a lookup in memory; a process that is killed loses a minute of them. */
export function createActivity({ run, log }: { run: Run; log: Logger }): Activity {
  const writeOf = (statement: Statement) => async (ids: readonly string[]) =>
    void (await run(statement, [ids]))
  const users = createNotes(writeOf(statements.users), log)
  const machineUsers = createNotes(writeOf(statements.machineUsers), log)
  const write = async (): Promise<void> => {
    await users.write()
    await machineUsers.write()
  }
  let writing = Promise.resolve()
  const writer = setInterval(() => {
    writing = writing.then(write)
  }, writeEveryMs)
  const forgetter = setInterval(() => {
    users.forget()
    machineUsers.forget()
  }, forgetEveryMs)
  writer.unref()
  forgetter.unref()
  return {
    noteUser: (id) => users.note(id),
    noteMachineUser: (id) => machineUsers.note(id),
    close: async () => {
      clearInterval(writer)
      clearInterval(forgetter)
      await writing
      await write()
    },
  }
}

/** The notes of one kind of principal. What cannot be written is tried again. */
function createNotes(run: (ids: readonly string[]) => Promise<void>, log: Logger): Notes {
  const noted = new Set<string>()
  let waiting = new Set<string>()
  return {
    note: (id) => {
      if (noted.has(id) || waiting.size >= maxNoted) return
      if (noted.size >= maxNoted) noted.clear()
      noted.add(id)
      waiting.add(id)
    },
    forget: () => noted.clear(),
    write: async () => {
      const batch = [...waiting]
      waiting = new Set()
      for (let first = 0; first < batch.length; first += rowsAtOnce)
        try {
          await run(batch.slice(first, first + rowsAtOnce))
        } catch (error) {
          log.warn({ err: error, principals: batch.length - first }, 'activity could not be written')
          waiting = new Set([...batch.slice(first), ...waiting].slice(0, maxNoted))
          return
        }
    },
  }
}
