// Thousands of websockets, held by processes of their own.
import { type ChildProcess, fork } from 'node:child_process'
import type { Pool } from 'pg'
import type { CrowdAnswer, CrowdOrder } from './socket-crowd-client.ts'
import { type Seat, seatHeaders, socketPath } from './sockets.ts'

const file = new URL('./socket-crowd-client.ts', import.meta.url).pathname

/** The handshake of a seat. */
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

/** Opens a socket for each seat, in two processes; resolves when all have been greeted. */
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
    /** How long it took until all were open. */
    openMs: performance.now() - startedAt,
    /** Sends something to everyone, and returns after how many milliseconds it arrived on each socket, in order. */
    arrivalsOf: async (send: () => unknown): Promise<number[]> => {
      await askAll({ watch: true })
      const all = children.map(nextAnswer)
      const sentAt = Number(process.hrtime.bigint()) / 1e6
      await send()
      const answers = await Promise.all(all)
      const times = answers.flatMap((answer) => ('arrivals' in answer ? answer.arrivals : []))
      return times.map((time) => time - sentAt).toSorted((a, b) => a - b)
    },
    /** The first so many of each process stop reading. */
    pause: (count: number) => askAll({ pause: count }),
    /** How many are open, and how many frames that hold this text have come since it was asked first. */
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
    const ended = (): void => reject(new Error('a process of the crowd has ended'))
    child.once('exit', ended)
    child.once('message', (message) => {
      child.off('exit', ended)
      resolve(message as CrowdAnswer)
    })
  })

function ask(child: ChildProcess, order: CrowdOrder): Promise<CrowdAnswer> {
  const answer = nextAnswer(child)
  child.send(order)
  return answer
}

/** So many people in a tenant. */
export async function seedCrowd(
  sql: Pool,
  place: { id: string; tenantId: string; applicationId: string },
  count: number,
): Promise<Seat[]> {
  const { rows } = await sql.query<{ id: string }>(
    `with made as (
       insert into users (id, external_name, external_username) select gen_random_uuid(), 'p' || i, 'p' || i || gen_random_uuid()
       from generate_series(1, $3::int) i returning id)
     insert into user2tenants (id, project_id, tenant_id, user_id, role_name)
     select gen_random_uuid(), $1, $2, id, 'member' from made returning user_id as id`,
    [place.id, place.tenantId, count],
  )
  await sql.query('analyze')
  return rows.map(({ id }) => ({ userId: id, tenantId: place.tenantId, applicationId: place.applicationId }))
}
