// These tests change access during admission. The next check must correct access that was read before the
// change.
import { afterEach, expect, test, vi } from 'vitest'
import { createLog } from '../../platform/log/log.ts'
import type { LiveSocket } from '../../platform/sockets/live-socket.ts'
import { lineCollector } from '../../../test/kit/app.ts'
import type { Access, Admission } from './admission.store.ts'
import { createRevocationService } from './revocation.service.ts'
import { type Member, createRooms } from './rooms.service.ts'

afterEach(() => void vi.useRealTimers())

const access: Access = { projectId: 'p', hasAccess: true, role: 'member', isAdministratorOnly: false }
const admissionAt = (version: string): Admission => ({ ...access, unread: false, version })

/** Creates a service whose reads block until the test resolves them, oldest first. */
function start() {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
  const rooms = createRooms({ onTenantJoined: () => undefined, onTenantLeft: () => undefined })
  let version = 'v1'
  const reads: { count: number; settle: PromiseWithResolvers<Access[]> }[] = []
  const service = createRevocationService({
    rooms,
    readVersion: () => Promise.resolve(version),
    database: {
      run: (async (_statement: unknown, [tenants]: [string[]?]) => {
        // The read of recent deactivations has no values.
        if (tenants === undefined) return []
        const settle = Promise.withResolvers<Access[]>()
        reads.push({ count: tenants.length, settle })
        return (await settle.promise).map((row, index) => ({ ...row, position: index + 1 }))
      }) as never,
    },
    log: createLog('info', lineCollector([])),
    fullCheckIntervalMs: 3_600_000,
  })
  const enter = (tenantId: string, userId: string) => {
    const ended: number[] = []
    const end = (code: number) => ended.push(code)
    const socket = { end, onEnded: null } as unknown as LiveSocket
    const member = rooms.enter({ socket, tenantId, applicationId: 'a', userId }) as Member
    return { member, ended }
  }
  const admit = (member: Member, row: Admission) => {
    rooms.setProject(member.room.tenant, row.projectId)
    member.role = row.role
    service.watch(member, row)
  }
  /** Resolves the next read with the same row for every requested user. */
  const answer = async (row: Access | Error) => {
    await vi.waitFor(() => expect(reads).not.toHaveLength(0))
    const read = reads.shift()
    if (row instanceof Error) read?.settle.reject(row)
    else read?.settle.resolve(Array.from({ length: read.count }, () => row))
    await new Promise((resolve) => setImmediate(resolve))
    return read?.count
  }
  const look = () => vi.advanceTimersByTimeAsync(2_000)
  return {
    enter,
    admit,
    answer,
    look,
    reads,
    setVersion: (to: string) => (version = to),
    close: service.close,
  }
}

test('a socket of a tenant that is just met, admitted before the change and told after it', async () => {
  const { enter, admit, answer, look, setVersion, close } = start()
  const first = enter('known', 'one')
  admit(first.member, admissionAt('v1'))
  const late = enter('just met', 'two')
  setVersion('v2')
  await look()
  // The check of the project is running, and the admission of the second socket has read the old version.
  admit(late.member, admissionAt('v1'))
  expect(await answer(access)).toBe(1)
  await look()
  expect(await answer({ ...access, hasAccess: false })).toBe(1)
  expect([first.ended, late.ended]).toEqual([[], [4500]])
  close()
})

test('what could not be read again is read at the next look', async () => {
  const { enter, admit, answer, look, setVersion, close } = start()
  const { member, ended } = enter('tenant', 'one')
  admit(member, admissionAt('v1'))
  setVersion('v2')
  await look()
  await answer(new Error('the database is away'))
  await look()
  await answer({ ...access, hasAccess: false })
  expect(ended).toEqual([4500])
  close()
})
