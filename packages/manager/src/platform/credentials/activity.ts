// Records the last activity of principals in memory when callers are admitted, and writes it in batches. A process
// writes each principal at most once an hour.
import type { Run } from '../postgres/prepared.ts'
import type { Statement } from '../postgres/statements.ts'
import type { Logger } from '../log/log.ts'

/** Records when users and machine users were last active. */
export type Activity = {
  recordUser(id: string): void
  recordMachineUser(id: string): void
  /** Writes the remaining records. */
  close(): Promise<void>
}
type Recorder = { record(id: string): void; write(): Promise<void>; reset(): void }

const writeEveryMs = 60_000
const resetEveryMs = 3_600_000
// The limit is about 10 MB. A principal beyond the limit is recorded later, within the hour or at its next call.
const maxRecorded = 100_000
const rowsPerStatement = 5_000

// Times come from the database clock and are at most one minute late. Ids without a row, such as unknown users, are
// dropped. Rows are written in id order, so that two processes cannot deadlock.
const createStatement = (table: string, column: string, principals: string): Statement => ({
  kind: 'idempotent',
  text: `
  insert into ${table} (${column}, last_active_at)
  select p.id, now() from unnest($1::uuid[]) as recorded (id) join ${principals} p on p.id = recorded.id order by p.id
  on conflict (${column}) do update set last_active_at = excluded.last_active_at
  where ${table}.last_active_at < excluded.last_active_at`,
})
const statements = {
  users: createStatement('user_activity', 'user_id', 'users'),
  machineUsers: createStatement('machine_user_activity', 'machine_user_id', 'machine_users'),
}

/** Creates the recorder. A record costs a lookup in memory; a killed process loses up to one minute of records. */
export function createActivity({ run, log }: { run: Run; log: Logger }): Activity {
  const createWriter = (statement: Statement) => async (ids: readonly string[]) =>
    void (await run(statement, [ids]))
  const users = createRecorder(createWriter(statements.users), log)
  const machineUsers = createRecorder(createWriter(statements.machineUsers), log)
  const write = async (): Promise<void> => {
    await users.write()
    await machineUsers.write()
  }
  let pendingWrite = Promise.resolve()
  const writer = setInterval(() => {
    pendingWrite = pendingWrite.then(write)
  }, writeEveryMs)
  const resetter = setInterval(() => {
    users.reset()
    machineUsers.reset()
  }, resetEveryMs)
  writer.unref()
  resetter.unref()
  return {
    recordUser: (id) => users.record(id),
    recordMachineUser: (id) => machineUsers.record(id),
    close: async () => {
      clearInterval(writer)
      clearInterval(resetter)
      await pendingWrite
      await write()
    },
  }
}

/** Creates the recorder for one kind of principal. Failed writes are retried. */
function createRecorder(run: (ids: readonly string[]) => Promise<void>, log: Logger): Recorder {
  const recordedIds = new Set<string>()
  let waitingIds = new Set<string>()
  return {
    record: (id) => {
      if (recordedIds.has(id) || waitingIds.size >= maxRecorded) return
      if (recordedIds.size >= maxRecorded) recordedIds.clear()
      recordedIds.add(id)
      waitingIds.add(id)
    },
    reset: () => recordedIds.clear(),
    write: async () => {
      const batch = [...waitingIds]
      waitingIds = new Set()
      for (let offset = 0; offset < batch.length; offset += rowsPerStatement)
        try {
          await run(batch.slice(offset, offset + rowsPerStatement))
        } catch (error) {
          log.warn({ err: error, principals: batch.length - offset }, 'cannot write principal activity')
          waitingIds = new Set([...batch.slice(offset), ...waitingIds].slice(0, maxRecorded))
          return
        }
    },
  }
}
