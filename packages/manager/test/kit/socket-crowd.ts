// Opens thousands of WebSockets in separate processes.
import { type ChildProcess, fork } from 'node:child_process'
import type { Pool } from 'pg'
import type { CrowdAnswer, CrowdOrder } from './socket-crowd-client.ts'
import { type Seat, seatHeaders, socketPath } from './sockets.ts'

const file = new URL('./socket-crowd-client.ts', import.meta.url).pathname

/** Returns the handshake request for a user in a tenant. */
const requestOf = (seat: Seat): string => {
  const headers = {
    host: 'manager.example',
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    ...seatHeaders(seat),
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `GET ${socketPath(seat.applicationId)} HTTP/1.1\r\n${lines.join('')}\r\n`
}

/**
 * Opens a socket for each user, in two processes. Resolves when every socket has received the `ready` text.
 */
export async function openCrowd(url: string, seats: readonly Seat[], ready = '"hello"') {
  const children = [0, 1].map(() => fork(file, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] }))
  const askAll = async (order: CrowdOrder): Promise<CrowdAnswer[]> =>
    Promise.all(children.map((child) => ask(child, order)))
  const half = Math.ceil(seats.length / 2)
  const startedAt = performance.now()
  await Promise.all(
    children.map((child, index) => {
      const requests = seats.slice(index * half, (index + 1) * half).map(requestOf)
      return ask(child, { open: { port: Number(new URL(url).port), requests, ready } })
    }),
  )
  return {
    /** Time in milliseconds until all sockets were open. */
    openMs: performance.now() - startedAt,
    /** Calls `send` and returns the sorted arrival times on all sockets in milliseconds. */
    arrivalsOf: async (send: () => unknown): Promise<number[]> => {
      await askAll({ watch: true })
      const all = children.map(nextAnswer)
      const sentAt = Number(process.hrtime.bigint()) / 1e6
      await send()
      const answers = await Promise.all(all)
      const times = answers.flatMap((answer) => ('arrivals' in answer ? answer.arrivals : []))
      return times.map((time) => time - sentAt).toSorted((a, b) => a - b)
    },
    /** Stops reading from the first `count` sockets of each process. */
    pause: (count: number) => askAll({ pause: count }),
    /** Counts the open sockets, and the frames with this text since the first call with the same text. */
    count: async (text: string): Promise<{ open: number; counted: number }> => {
      const answers = (await askAll({ count: text })) as { open: number; counted: number }[]
      const sum = (name: 'open' | 'counted'): number => answers.reduce((total, one) => total + one[name], 0)
      return { open: sum('open'), counted: sum('counted') }
    },
    close: (): void => {
      for (const child of children) child.kill('SIGKILL')
    },
  }
}

const nextAnswer = (child: ChildProcess): Promise<CrowdAnswer> =>
  new Promise((resolve, reject) => {
    const onExit = (): void => reject(new Error('a crowd process exited'))
    child.once('exit', onExit)
    child.once('message', (message) => {
      child.off('exit', onExit)
      resolve(message as CrowdAnswer)
    })
  })

function ask(child: ChildProcess, order: CrowdOrder): Promise<CrowdAnswer> {
  const answer = nextAnswer(child)
  child.send(order)
  return answer
}

/** Creates `count` users in a tenant. */
export async function seedCrowd(
  sql: Pool,
  project: { id: string; tenantId: string; applicationId: string },
  count: number,
): Promise<Seat[]> {
  const { rows } = await sql.query<{ id: string }>(
    `with made as (
       insert into users (id, external_name, external_username) select gen_random_uuid(), 'p' || i, 'p' || i || gen_random_uuid()
       from generate_series(1, $3::int) i returning id)
     insert into user2tenants (id, project_id, tenant_id, user_id, role_name)
     select gen_random_uuid(), $1, $2, id, 'member' from made returning user_id as id`,
    [project.id, project.tenantId, count],
  )
  await sql.query('analyze')
  return rows.map(({ id }) => ({
    userId: id,
    tenantId: project.tenantId,
    applicationId: project.applicationId,
  }))
}
